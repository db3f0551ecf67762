import { createHash } from "node:crypto";
import { Solver } from "../../../../apps/gsr/solver.js";
import { Heat, DEFAULTS as HEAT } from "../../../../apps/heat/heat.js";
import { cavity } from "../../../../apps/lbm/cavity.js";
import { Simulation } from "../../../../apps/lbm/simulation.js";
import { Life, DEFAULTS as LIFE } from "../../../../apps/life/life.js";
import { makePoisson, DEFAULTS as POISSON } from "../../../../apps/poisson/poisson.js";
import { devices, type DeviceSet } from "../../../../src/set/index.js";
import { carryByStandIn } from "./stand-in.js";
import { OCC_LEVELS, type GridSettings } from "../../../../src/skeleton/index.js";

/*
 * Runs applications on the devices that the first word names, and prints, by rank 0, a digest of all values of each. The words after it name cases; without
 * them all run.
 */

type Case = (set: DeviceSet, settings: GridSettings) => Promise<readonly ArrayLike<number>[]>;

const CASES: Readonly<Record<string, Case>> = {
  async heat(set, { grid, ...settings }) {
    const heat = new Heat(set, { ...HEAT, ...settings, layout: "soa", grid: grid as "dense", size: 40 });
    await heat.run(8);
    const { discrete, continuous } = await heat.deviation();
    return [await heat.u.download(), [discrete, continuous, await heat.u.get([3, 20])]];
  },
  async ring(set, { grid, ...settings }) {
    const heat = new Heat(set, { ...HEAT, ...settings, layout: "aos", grid: grid as "dense", size: 40, periodic: true });
    await heat.run(8);
    return [await heat.u.download()];
  },
  async life(set, { grid, ...settings }) {
    const life = new Life(set, { ...LIFE, ...settings, layout: "soa", grid: grid as "dense" }, "glider-gun");
    await life.run(12);
    return [await life.now.download(), [await life.population()]];
  },
  async poisson(set, settings) {
    const poisson = await makePoisson(set, { ...POISSON, ...settings, size: settings.grid === "bricks" ? 32 : 15, preconditioner: "none" });
    const { residual, iterations } = await poisson.solve({ tolerance: 1e-8, iterations: 12, every: 3 });
    const { greatest, mean } = await poisson.errors();
    return [await poisson.x.download(), [residual, iterations, greatest, mean]];
  },
  async multigrid(set, settings) {
    const poisson = await makePoisson(set, { ...POISSON, ...settings, grid: "dense", size: 16, preconditioner: "multigrid", levels: 1 });
    const { residual, iterations } = await poisson.solve({ tolerance: 1e-8, iterations: 4, every: 2 });
    return [await poisson.x.download(), [residual, iterations]];
  },
  async gsr(set, { precision }) {
    const solver = await Solver.create(set, { gib: 0.002, form: "fused", norm: "merged", precision });
    const { rnorm, arnorm } = await solver.solve({ iterations: 6 });
    return [await solver.solution(), await solver.standardErrors(), [rnorm, arnorm, (await solver.residual()).norm]];
  },
  async lbm(set, settings) {
    const simulation = await Simulation.create(set, cavity({ reynolds: 100, size: 30 }), settings);
    await simulation.run(8);
    const { mass, change } = await simulation.measure();
    const { density, velocity } = simulation;
    return [await velocity.download(), await density.download(), [mass, change]];
  },
};

const [spec, level, ...wanted] = process.argv.slice(2);
const set = await devices(spec, { patience: Number(process.env.PATIENCE ?? 60) });
const standIn = process.env.STAND_IN ? carryByStandIn(set) : undefined;
const occ = OCC_LEVELS.find((each) => each === level) ?? "standard";
for (const name of wanted.length > 0 ? wanted : Object.keys(CASES)) {
  const [application, grid = "dense"] = name.split("/");
  const values = await CASES[application](set, { grid: grid as "dense", layout: "soa", occ, precision: "strict" });
  const digest = createHash("sha256");
  for (const list of values) digest.update(Float64Array.from(list));
  if (!set.ranks || set.ranks.rank === 0) console.log(`${name}: ${digest.digest("hex").slice(0, 16)}`);
}
if (standIn && standIn.exchanges === 0) throw new Error("the stand-in carried nothing");
await set.close();
