import assert from "node:assert/strict";
import { it } from "node:test";
import { deviceNames } from "../../../src/device/open.js";
import { ownDevices } from "../../../src/set/mpi/own-devices.js";

/** PoCL shows the processor twice then, so that there are two OpenCL devices. */
process.env.POCL_DEVICES = "pthread pthread";
const twice = await deviceNames("opencl").then(
  ({ length }) => length >= 2,
  () => false,
);

it("devices that there is one of are the same for all ranks", async () => {
  for (const spec of ["wasm", "wasm*3,js", "native", "cuda:0", "opencl:1*2", "cuda:*", "unknown"])
    assert.equal(await ownDevices(spec, { rank: 3, count: 4 }), spec);
});

it("a word without a number is a device of the rank's own", { skip: twice ? false : "there are not two OpenCL devices" }, async () => {
  assert.equal(await ownDevices("opencl", { rank: 1, count: 2 }), "opencl:1");
  assert.equal(await ownDevices("opencl*2,wasm", { rank: 0, count: 2 }), "opencl:0*2,wasm");
  await assert.rejects(
    ownDevices("opencl", { rank: 0, count: 99 }),
    /device "opencl": \d+ for the 99 ranks of \S+ \(start one rank for each, or name the one that ranks share: mpi:opencl:0\)/,
  );
});
