import { open } from "../../src/index.js";
import { needsGfortran } from "../fortran/gfortran.js";
import { compareModules } from "../fortran/visible-values.js";
import { compareLaunches, compareRoutines } from "../fortran/compare-routines.js";
import { randomRoutines } from "../fortran/whole-routines.js";
import { oneOf, picks } from "./mutate.js";
import type { Counts, Subject } from "./subject.js";

const ROUTINES = 12;

/** Random routines of Fortran: with clauses, or launches of kernels, whole, on devices and as a port; and with names of random modules. They leave what gfortran's leave. */
export const fortranRoutines: Subject = {
  name: "fortran-routines",
  weight: 5,
  missing: () => Promise.resolve(typeof needsGfortran.skip === "string" ? needsGfortran.skip : undefined),
  async open() {
    const devices = await Promise.all(["js", "wasm"].map((name) => open(name)));
    for (const device of devices) device.precision = "strict";
    return {
      async trial(seed): Promise<Counts> {
        const pick = picks(seed);
        const target = oneOf(pick, ["cpu", "openmp", "openmp-target", "hip"] as const);
        if (pick(4) === 0) {
          await compareModules(seed, ROUTINES, target);
          return { "fortran routines of random modules": ROUTINES };
        }
        if (pick(4) === 0) {
          await compareLaunches(seed, ROUTINES, devices, [target]);
          return { "fortran routines with launches": ROUTINES };
        }
        await compareRoutines(randomRoutines(seed, ROUTINES), devices, [target]);
        return { "fortran routines": ROUTINES };
      },
      async close() {
        await Promise.all(devices.map((device) => device.close()));
      },
    };
  },
};
