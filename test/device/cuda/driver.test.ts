import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { driverFailure } from "../../../src/device/cuda/driver.js";
import { theoreticalBandwidth } from "../../../src/device/cuda/gpu.js";
import { findNvrtc, versionInName } from "../../../src/device/cuda/library.js";
import { Nvrtc } from "../../../src/device/cuda/nvrtc.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-nvrtc-"));
test.after(() => rmSync(folder, { recursive: true }));

test("a failed call is named with the driver's words and what to do", () => {
  const { name, message } = driverFailure("cuMemAlloc_v2", 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory");
  assert.equal(name, "DeviceError");
  assert.match(message, /cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory \(free arrays/);
  assert.doesNotMatch(driverFailure("cuInit", 999, "CUDA_ERROR_UNKNOWN", "unknown error").message, /\(/);
  assert.match(
    driverFailure("cuEventQuery", 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal", "axpy").message,
    /illegal; the last kernel submitted was "axpy" \(a kernel accessed memory outside its arrays/,
  );
  assert.doesNotMatch(driverFailure("cuMemAlloc_v2", 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "axpy").message, /axpy/);
});

test("the bandwidth of a memory follows from its clock and width, and is unknown without them", () => {
  // An H100 SXM: 2619 MHz, 5120 bits.
  assert.equal(theoreticalBandwidth(2_619_000, 5120), 3.35232e12);
  assert.equal(theoreticalBandwidth(0, 5120), undefined);
});

test("the newest NVRTC of a folder comes first, and a wheel's folders are looked into", () => {
  const wheel = join(folder, "nvidia/cuda_nvrtc/lib");
  mkdirSync(wheel, { recursive: true });
  for (const name of ["libnvrtc.so.9.2", "libnvrtc.so.12.4.99", "libnvrtc-builtins.so.12.4", "libnvrtc.alt.so.12"])
    writeFileSync(join(wheel, name), "");
  symlinkSync("libnvrtc.so.12.4.99", join(wheel, "libnvrtc.so.12"));
  const { files, names } = findNvrtc({ ISOFORM_NVRTC: folder });
  assert.deepEqual(
    files.map((file) => file.slice(wheel.length + 1)),
    ["libnvrtc.so.12.4.99", "libnvrtc.so.12", "libnvrtc.so.9.2"],
  );
  assert.deepEqual(names, []);
  assert.equal(versionInName(join(wheel, "libnvrtc.so.12")), "12.4");
});

test("a missing NVRTC is refused with the remedy", async (context) => {
  try {
    await import("koffi");
  } catch {
    return context.skip("koffi is not installed");
  }
  await assert.rejects(Nvrtc.open({ files: [join(folder, "absent.so")], names: [] }), {
    name: "DeviceError",
    message: /libnvrtc was not found \(install the CUDA toolkit, or run "pip install/,
  });
});
