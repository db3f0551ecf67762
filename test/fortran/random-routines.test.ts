/* Random routines with clauses or launches, whole, on devices and as ports: they leave what gfortran's leave, with -fopenacc and -fopenmp. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { open, type Device } from "../../src/index.js";
import { oneDevice } from "../devices.js";
import { compareEmittedC, compareLaunches, compareRoutines } from "./compare-routines.js";
import { needsGfortran } from "./gfortran.js";
import { byGfortran, byIsoform, differenceOf, randomLaunches, randomRoutines, type Outcome, type Routines } from "./whole-routines.js";

const DEVICES = oneDevice("all") === "all" ? ["js", "wasm", "native"] : [oneDevice("all")];
const PORTS = ["cpu", "openmp", "openmp-target", "hip"] as const;
const MANY = 24;
/** On devices whose compilers take long. */
const FEW = 3;
/** Programs in which a fault has to show. */
const SEEDS = 8;

/** Changes of a source as a front end would see it that takes no notice of something; each shows in some routine. */
const FAULTS: Record<string, (text: string) => string> = {
  "clauses that copy": (text) => text.replace(/\b(copy|pcopy|present_or_copy|copyout|pcopyout)\([a-z]+\)/g, ""),
  "clauses that map": (text) => text.replace(/\bmap\([a-z,: ]+\)/g, ""),
  "defaults of a map": (text) => text.replaceAll("defaultmap(tofrom: scalar)", ""),
  "scalars that OpenMP shares": (text) => text.replace(/(!\$omp parallel)( do)?/g, "$1$2 default(firstprivate)"),
  lastprivate: (text) => text.replaceAll("lastprivate(", "private("),
  private: (text) => text.replace(/(\w*)private\([a-z]+\)/g, (clause, kind) => (kind === "" ? "" : clause)),
  "scalars that constructs have for themselves": (text) => text.replace(/!\$acc (end )?parallel(?! loop)/g, "!$acc $1data"),
  "scalars that kernels give back": (text) => text.replaceAll("!$acc kernels loop", "!$acc parallel loop"),
  "conditions of assignments": (text) => text.replace(/if \(i == \d+\) /g, ""),
};

describe("random routines", needsGfortran, () => {
  const devices: Device[] = [];
  const quick: Device[] = [];
  before(async () => {
    devices.push(...(await Promise.all(DEVICES.map((name) => open(name)))));
    for (const device of devices) device.precision = "strict";
    quick.push(...devices.filter(({ backend }) => backend === "js" || backend === "wasm"));
  });
  after(() => Promise.all(devices.map((device) => device.close())));
  const slow = (): Device[] => devices.filter((device) => !quick.includes(device));

  it(`${MANY} with clauses leave what gfortran's do`, async () => {
    const counts = await compareRoutines(randomRoutines(1, MANY), quick, PORTS);
    assert.ok(counts.get("hip")! >= MANY / 4, `${counts.get("hip")} routines are ported to HIP`);
    await compareRoutines(randomRoutines(2, FEW), slow(), []);
  });

  it(`${MANY} with launches of kernels leave what calls for each thread do`, async () => {
    const counts = await compareLaunches(1, MANY, quick, PORTS);
    for (const port of PORTS) assert.ok(counts.get(port)! > 0, port);
    await compareLaunches(2, FEW, slow(), []);
  });

  it("run with their loops in C", async () => {
    const { cuda, plain } = randomLaunches(3, FEW);
    await compareEmittedC(randomRoutines(3, MANY / 2), quick[0] ?? devices[0]);
    await compareEmittedC(cuda, quick[0] ?? devices[0], plain);
  });

  it("show launches that are taken for long enough", async () => {
    const { cuda, plain } = randomLaunches(1, MANY);
    const text = cuda.text.replace(/<<<[^>]*>>>/g, "<<<(n + 7)/8, 8>>>").replace(/dim3\(.*, \d+, 1\)$/gm, "dim3(8, 8, 1)");
    assert.notEqual(await faultIn(cuda, byGfortran(plain), text), undefined);
  });

  for (const [name, change] of Object.entries(FAULTS))
    it(`show ${name} that are not heeded`, async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const routines = randomRoutines(seed, MANY);
        const text = change(routines.text);
        if (text !== routines.text && (await faultIn(routines, byGfortran(routines), text))) return;
      }
      assert.fail("all routines leave what they should");
    });

  /** The first difference of routines whose text is changed; those that are refused then do not count. */
  async function faultIn(routines: Routines, expected: readonly Outcome[], text: string): Promise<string | undefined> {
    const code = fortran(text, { file: "changed.CUF", partial: true });
    for (const [at, name] of routines.names.entries()) {
      const found = await byIsoform(code, routines, name, quick[0] ?? devices[0]).catch(() => undefined);
      const difference = found && differenceOf(expected[at], found, routines);
      if (difference !== undefined) return `${name}: ${difference}`;
    }
    return undefined;
  }
});
