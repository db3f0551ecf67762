import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { devices } from "../../../src/set/index.js";
import { versionText } from "../../../src/set/nccl/calls.js";
import { isNcclOff, ncclFiles } from "../../../src/set/nccl/library.js";
import { whyNotNccl } from "../../../src/set/nccl/ranks.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-nccl-"));
after(() => rmSync(folder, { recursive: true }));

/** Puts an empty library where a Python package has it. */
function packageIn(packages: string): string {
  const lib = join(packages, "nvidia/nccl/lib");
  mkdirSync(lib, { recursive: true });
  writeFileSync(join(lib, "libnccl.so.2"), "");
  return join(lib, "libnccl.so.2");
}

it("NCCL is looked for in Python's packages, those of the active environment first", () => {
  const [path, active, interpreter] = ["path", "venv/lib/python3.12/site-packages", "python/lib/python3.11/site-packages"].map((name) =>
    packageIn(join(folder, name)),
  );
  mkdirSync(join(folder, "python/bin"));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "python/bin/python3"), "");
  symlinkSync(join(folder, "python/bin/python3"), join(folder, "bin/python3"));
  const found = (env: NodeJS.ProcessEnv): string[] => ncclFiles(env).filter((file) => file.startsWith(folder));
  assert.deepEqual(found({ PYTHONPATH: join(folder, "path"), VIRTUAL_ENV: join(folder, "venv"), PATH: join(folder, "bin") }), [
    path,
    active,
    interpreter,
  ]);
  assert.deepEqual(found({}), []);
});

it("ISOFORM_NCCL names the only place, as a file or a folder, or switches NCCL off", () => {
  const there = packageIn(join(folder, "named"));
  for (const told of [there, join(folder, "named/nvidia/nccl/lib"), join(folder, "named/nvidia/nccl"), join(folder, "named")])
    assert.deepEqual(ncclFiles({ ISOFORM_NCCL: told, PYTHONPATH: join(folder, "path") }), [there]);
  assert.deepEqual(ncclFiles({ ISOFORM_NCCL: join(folder, "nothing") }), []);
  assert.ok(isNcclOff({ ISOFORM_NCCL: "off" }));
  assert.ok(!isNcclOff({}));
});

it("versions are those of NCCL's numbers", () => {
  assert.equal(versionText(22809), "2.28.9");
  assert.equal(versionText(2708), "2.7.8");
});

it("ranks decide together whether NCCL carries their messages", () => {
  const facts = { version: "2.28.9" };
  assert.equal(whyNotNccl([0, 1].map((n) => ({ ...facts, gpu: `node 0:${n}:0` }))), undefined);
  assert.equal(whyNotNccl([0, 1, 0].map((n) => ({ ...facts, gpu: `node 0:${n}:0` }))), "ranks 0 and 2 share a GPU");
  assert.equal(
    whyNotNccl([
      { ...facts, gpu: "a" },
      { version: "2.27.3", gpu: "b" },
    ]),
    "rank 0 has NCCL 2.28.9, and rank 1 2.27.3",
  );
  assert.equal(whyNotNccl([{ ...facts, gpu: "a" }, { problem: "no NCCL" }]), "rank 1: no NCCL");
});

it("a link has a name that is known", async () => {
  await assert.rejects(devices("js", { link: "ucx" as "nccl" }), /link "ucx": name "nccl" or "mpi"/);
});
