import assert from "node:assert/strict";
import { test } from "node:test";
import type { BackendReport } from "../../src/device/device.js";
import { isoform } from "./isoform.js";

test("the doctor lists every backend with devices and capabilities, or with reason and remedy", () => {
  const { status, stdout, stderr } = isoform(["doctor", "--json"]);
  assert.equal(status, 0, stderr);
  const reports = JSON.parse(stdout) as BackendReport[];
  assert.deepEqual(
    reports.map((r) => r.backend),
    ["js", "js-debug", "wasm", "native", "cuda", "hip", "webgpu", "opencl"],
  );
  for (const { backend, devices, missing } of reports) {
    assert.ok(devices.length > 0 || (missing && missing.reason !== "" && missing.remedy !== ""), backend);
    for (const { name, capabilities } of devices) {
      // JSON has no infinity: where nobody tells how much memory there is, it has null.
      const memory = capabilities.memory ?? Infinity;
      assert.ok(name.split(":")[0] === backend && memory > 0 && capabilities.parallelism >= 1, name);
    }
  }
});

test("the doctor's text names each device and what is missing", () => {
  const { stdout, stderr } = isoform(["doctor"], undefined, {
    VK_ICD_FILENAMES: "/nonexistent",
    ISOFORM_NVCXX: "no-such-compiler",
    ISOFORM_ACPP: "no-such-compiler",
    ISOFORM_KOKKOS: "/nonexistent",
  });
  assert.equal(stderr, "");
  assert.match(stdout, /^js {2}\(/m);
  assert.match(stdout, /^ {2}wasm: /m);
  assert.match(stdout, /^HDF5\n {2}(files are written|missing: )/m);
  assert.match(stdout, /^MPI\n {2}(no launcher: |launcher )/m);
  assert.match(stdout, /^Compilers for assess --ports\n {2}cc(: |\n)/m);
  for (const variable of ["ISOFORM_NVCXX", "ISOFORM_ACPP", "ISOFORM_KOKKOS"]) assert.match(stdout, new RegExp(variable));
  assert.match(stdout, /^NCCL\n {2}(missing: |\S+: NCCL \d)/m);
  for (const [, reason, remedy] of stdout.matchAll(/missing: (.*)\n\s+remedy: (.*)/g)) assert.ok(reason && remedy);
});
