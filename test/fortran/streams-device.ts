/* Runs cases of STREAmS-2's kernels on a device. */
import type { FortranCode } from "../../src/fortran/index.js";
import { f64, i32, type Device, type View } from "../../src/index.js";
import type { Case } from "./streams-cases.js";

/** Another order of sums, and functions of another library, differ by less. */
export const NEAR = 1e-13;

/** The name among the GPU's routines of one of the CPU's. */
export function gpuName(routines: readonly string[], entry: string): string {
  const name = entry.replace(/_subroutine(?=_\d+$|$)/, "_cuf").replace(/_cpu$/, "_gpu");
  return routines.includes(name) ? name : entry;
}

/** All arguments of the case after its routine has run. */
export async function ranOnDevice(code: FortranCode, device: Device, { entry, args }: Case): Promise<(Float64Array | Int32Array)[]> {
  const routine = code.routine(gpuName(code.routines, entry));
  const given: Record<string, number | View> = {};
  args.forEach(({ bounds, data }, n) => {
    const shape = bounds?.map(([low, high]) => high - low + 1).reverse();
    given[routine.arguments[n]] = shape ? device.from(data instanceof Int32Array ? i32 : f64, data, shape) : data[0];
  });
  const results = await routine.run(device, given);
  return Promise.all(
    args.map(async ({ data }, n) => {
      const name = routine.arguments[n];
      const value = given[name];
      if (typeof value === "number")
        return data instanceof Int32Array ? Int32Array.of(Number(results[name] ?? value)) : Float64Array.of(Number(results[name] ?? value));
      const read = await device.queue.read(value);
      value.free();
      return read as Float64Array | Int32Array;
    }),
  );
}
