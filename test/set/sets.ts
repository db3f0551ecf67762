import { describe, it } from "node:test";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { tested } from "../devices.js";

/** PoCL shows the processor twice then, so that there are two OpenCL devices. */
process.env.POCL_DEVICES ??= "pthread pthread";

/** Sets of every kind that a machine may have. */
const SPECS = [
  "js*2",
  "wasm",
  "wasm*3",
  "native*2",
  "js,wasm,js-debug",
  "opencl*3",
  "opencl:0,opencl:1",
  "cuda:0",
  "cuda:0*2",
  "cuda:0,cuda:1",
  "cuda:0,wasm",
];

/** Calls `tests` for every kind of set; where the machine lacks a device, a test is skipped by the set's name, with the reason. */
export async function eachSet(tests: (name: string, open: () => Promise<DeviceSet>) => void): Promise<void> {
  for (const spec of SPECS.filter(tested)) {
    const missing = await devices(spec).then(
      async (set) => void (await set.close()),
      (error: Error) => error.message,
    );
    if (missing === undefined) tests(spec, () => devices(spec));
    else describe(spec, () => it("is there", { skip: missing }, () => {}));
  }
}
