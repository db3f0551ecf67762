import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { deviceNames } from "../../../src/device/open.js";
import { loadKoffi } from "../../../src/device/ffi.js";
import { hipApi } from "../../../src/device/hip/hip-api.js";
import { hipVersion } from "../../../src/device/hip/hiprtc.js";
import { DECLARATIONS, nameIn } from "../../../src/device/cuda/calls.js";

const koffi = await loadKoffi();

test("a folder without HIP is refused with the remedy", { skip: koffi ? false : "koffi is not installed" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-no-hip-"));
  process.env.ISOFORM_HIP = folder;
  writeFileSync(join(folder, "libamdhip64.so.6"), "no library");
  await assert.rejects(deviceNames("hip"), {
    name: "DeviceError",
    message:
      /no HIP library found \(libamdhip64\.so\) \(install AMD's driver and ROCm's package hip-runtime-amd, or name its folder in ISOFORM_HIP\)/,
  });
  rmSync(folder, { recursive: true });
});

test("versions are written in words", () => assert.equal(hipVersion(50_221_153), "5.2.21153"));

test("every call of the driver has a counterpart in HIP, or a reason why not", () => {
  assert.deepEqual(Object.keys(hipApi.calls), Object.keys(DECLARATIONS));
  for (const call of Object.values(hipApi.calls)) if (typeof call === "string") assert.match(call, /\bhip[A-Z]\w+/);
});

test("the library of HIP over CUDA has every call of the driver", () => {
  const list = readFileSync(new URL("../../../../bench/hip-on-cuda/calls.h", import.meta.url), "utf8");
  const held = [...list.matchAll(/^(?:SAME|CALL)\((\w+)/gm)].map(([, name]) => name);
  const called = Object.values(hipApi.calls).flatMap((call) => (typeof call === "string" ? nameIn(call) : []));
  assert.deepEqual(
    called.filter((name) => !held.includes(name)),
    [],
  );
});
