/* Random routines with clauses, whole, on devices and as ports to Fortran: what they leave is what gfortran leaves, with -fopenacc and -fopenmp. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../src/index.js";
import { oneDevice } from "../devices.js";
import { needsGfortran } from "./gfortran.js";
import { compareRoutines } from "./compare-routines.js";
import { randomRoutines } from "./whole-routines.js";

const DEVICES = oneDevice("all") === "all" ? ["js", "wasm", "native"] : [oneDevice("all")];
const MANY = 24;
/** On devices whose compilers take long. */
const FEW = 3;

test(`${MANY} random routines leave what gfortran's do`, needsGfortran, async () => {
  const devices = await Promise.all(DEVICES.map((name) => open(name)));
  for (const device of devices) device.precision = "strict";
  try {
    const quick = devices.filter(({ backend }) => backend === "js" || backend === "wasm");
    const counts = await compareRoutines(randomRoutines(1, MANY), quick, ["cpu", "openmp", "openmp-target", "hip"]);
    assert.ok(counts.get("hip")! >= MANY / 4, `${counts.get("hip")} routines are ported to HIP`);
    await compareRoutines(
      randomRoutines(2, FEW),
      devices.filter((device) => !quick.includes(device)),
      [],
    );
  } finally {
    await Promise.all(devices.map((device) => device.close()));
  }
});
