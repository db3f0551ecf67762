import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { backend as native } from "../../src/device/native/native.js";
import { backend as opencl } from "../../src/device/opencl/backend.js";

const reasonOf = async (backend: typeof native): Promise<string | undefined> => (await backend.probe()).missing?.reason;

/** Trials, and why there are none. */
const CASES: Readonly<Record<string, readonly [trials: number, skip: string | undefined]>> = {
  native: [200, await reasonOf(native)],
  opencl: [32, await reasonOf(opencl)],
};

for (const [backend, [trials, skip]] of Object.entries(CASES))
  test(`${trials} launches from damaged caches on ${backend}: none wrong, none ended by a signal`, { skip: skip ?? false }, () => {
    const child = fileURLToPath(new URL("./damaged-launches.js", import.meta.url));
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [child, backend, String(trials)], { encoding: "utf8" });
    assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: "" });
    assert.deepEqual(JSON.parse(stdout), { trials, wrong: [] });
  });
