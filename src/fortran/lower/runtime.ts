import { constant } from "../../ir/expressions.js";
import type { Expr, Location } from "../../ir/types.js";
import type { FortranLowering } from "./lowering.js";
import { Unlowerable } from "./values.js";

/* OpenMP's functions: statements of the host run on one thread, and know no other device; clocks stand still. */

const NUMBERS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(["threads", "procs", "teams"].map((what) => [`omp_get_num_${what}`, 1])),
  ...Object.fromEntries(["threads", "teams"].map((what) => [`omp_get_max_${what}`, 1])),
  ...Object.fromEntries(
    ["thread_num", "team_num", "device_num", "num_devices", "initial_device", "default_device", "level"].map((what) => [
      `omp_get_${what}`,
      0,
    ]),
  ),
};
const TRUTHS: Readonly<Record<string, boolean>> = { omp_in_parallel: false, omp_is_initial_device: true };
const TIMES: readonly string[] = ["omp_get_wtime", "omp_get_wtick"];

/** Result of an OpenMP function; undefined for other names. @throws Unlowerable in parallel loops */
export function toldByOpenMP(name: string, at: Location, cx: FortranLowering): Expr | undefined {
  const found = TIMES.includes(name)
    ? constant("f64", 0)
    : Object.hasOwn(NUMBERS, name)
      ? constant("i32", NUMBERS[name])
      : Object.hasOwn(TRUTHS, name)
        ? constant("bool", TRUTHS[name])
        : undefined;
  if (found && cx.parallel)
    throw new Unlowerable(at, name, "which thread runs an iteration depends on the device", "use the loop's variable");
  return found;
}

/** Whether statements use the result of a function of OpenMP's. */
export const isToldByOpenMP = (name: string): boolean =>
  Object.hasOwn(NUMBERS, name) || Object.hasOwn(TRUTHS, name) || TIMES.includes(name);
