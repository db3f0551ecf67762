import { devices } from "isoform/set";
import { GRID_KINDS } from "isoform/grid";
import { Elasticity } from "./elasticity.js";
import { PRECONDITIONERS } from "./kernels.js";
import { cube, patch, tension } from "./solid.js";

/*
 * Makes the tables of README.md: node dist/apps/elasticity/validation.js [devices]
 */

const set = await devices(process.argv[2] ?? "native");
const pressure = 0.01;
const material = { young: 1, poisson: 0.3 };
const row = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);
const head = (...titles: readonly string[]): void => {
  row(...titles);
  row(...titles.map(() => "---"));
};

head("nodes", "Poisson's ratio", "patch test", "tension");
for (const size of [9, 17, 33])
  for (const poisson of [0, 0.3, 0.45]) {
    const options = { size, material: { young: 1, poisson }, pressure };
    const deviations = [];
    for (const solid of [patch(options), tension(options)]) {
      const elasticity = await Elasticity.create(set, solid);
      await elasticity.solve({ tolerance: 1e-14 });
      deviations.push((await elasticity.deviation())!.toExponential(1));
      elasticity.free();
    }
    row(`${size}^3`, poisson, ...deviations);
  }

console.log();
head("nodes", "middle of the top", "change", "corner of the top", "change", "iterations", "with Jacobi", "force held");
let before: number[] | undefined;
for (const size of [9, 17, 33, 65]) {
  const counts: number[] = [];
  let [tops, held]: [number[], number] = [[], 0];
  for (const preconditioner of PRECONDITIONERS) {
    const elasticity = await Elasticity.create(set, cube({ size, material, pressure }), { preconditioner });
    counts.push((await elasticity.solve({ every: 1 })).iterations);
    const { displacement } = elasticity.fields;
    const last = size - 1;
    tops = await Promise.all([last / 2, last].map((at) => displacement.get([at, at, last], 2)));
    held = (await elasticity.forceBalance()).held[2];
    elasticity.free();
  }
  const places = tops.flatMap((value, n) => [(value / pressure).toFixed(5), before ? ((value - before[n]) / pressure).toFixed(5) : ""]);
  row(`${size}^3`, ...places, ...counts, (held / pressure).toFixed(9));
  before = tops;
}

console.log();
head("fill", "nodes", "iterations", ...GRID_KINDS.map((kind) => `${kind}, ms an iteration`), "same bits");
const ROUNDS = 5;
for (const fill of [0.2, 0.4, 0.6, 0.8, 1]) {
  const solid = cube({ size: 48, fill, material, pressure });
  const solvers = await Promise.all(GRID_KINDS.map((grid) => Elasticity.create(set, solid, { grid, precision: "strict" })));
  const solutions = [];
  for (const solver of solvers) solutions.push(await solver.solve());
  const found = await Promise.all(solvers.map(({ fields }) => fields.displacement.download()));
  const same = found.every((values) => values.every((value, n) => Object.is(value, found[0][n])));
  const fastest = solvers.map(() => Infinity);
  for (let n = 0; n < ROUNDS; n++)
    for (const [k, { skeleton }] of solvers.entries()) fastest[k] = Math.min(fastest[k], (await skeleton.run(10)).seconds / 10);
  row(fill, solvers[0].grid.cells, solutions[0].iterations, ...fastest.map((seconds) => (1e3 * seconds).toFixed(2)), same ? "yes" : "no");
  for (const solver of solvers) solver.free();
}
await set.close();
