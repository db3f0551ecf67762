import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f64 } from "isoform";
import { dense } from "isoform/grid";
import { deposit, particles } from "isoform/particles";
import { median } from "isoform/portability";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";
import { copyBandwidth, tasksOf } from "./floors.js";

/*
 * A step of particles on a grid, by one skeleton: the push with trilinear interpolation of three components of a field, the sort by cell, the
 * deposition of charge by the same weights. Each with the time that its bytes take at the copy bandwidth of the same device.
 *   node dist/bench/particles.js [--device cuda:0] [--cells 64] [--each 64] [--steps 20] [--rounds 5] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "native" },
    cells: { type: "string", default: "32" },
    each: { type: "string", default: "16" },
    steps: { type: "string", default: "20" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
const [cells, each, steps, rounds] = [options.cells, options.each, options.steps, options.rounds].map(Number);

/** Bytes of a particle that have to move: positions and velocities there and back; everything there and back; positions and weights. */
const FLOORS: Readonly<Record<string, number>> = { push: 96, sort: 112, deposit: 32 };
/** Of a cell in a step: so every sixth particle or so changes its cell. */
const [FASTEST, DT] = [0.5, 0.2];

const set = await devices(options.device);
const grid = dense(set, [cells, cells, cells], { periodic: true });
const count = cells ** 3 * each;
const charge = grid.field("charge", f64);
const force = grid.field("force", f64, { cardinality: 3 });
force.fill((x, y, z, k) => 0.01 * Math.sin(x + y + z + k));
const members = set.members.length;
const ions = particles(
  grid,
  "ions",
  { v: [f64, 3], w: f64 },
  { capacity: Math.ceil((count / members) * 1.1), exchange: Math.ceil(count / 20) },
);
const uniform = (values: number, from: number, to: number): Float64Array => {
  let state = 1;
  return Float64Array.from({ length: values }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from + ((to - from) * state) / 2 ** 32;
  });
};
ions.load({ x: uniform(3 * count, 0, cells), v: uniform(3 * count, -FASTEST, FASTEST), w: new Float64Array(count).fill(1) });

const { x, v, w } = ions.columns;
const push = ions.container("push", { x, v, force, dt: DT }, ({ x, v, force, dt }, p, c) => {
  const [a, b, d] = [x[p][0] - c.x, x[p][1] - c.y, x[p][2] - c.z];
  for (let m = 0; m < 3; m++) {
    let f = 0;
    for (let k = 0; k < 2; k++)
      for (let j = 0; j < 2; j++)
        for (let i = 0; i < 2; i++) f += force.at(c, i, j, k)[m] * (i === 0 ? 1 - a : a) * (j === 0 ? 1 - b : b) * (k === 0 ? 1 - d : d);
    v[p][m] = v[p][m] + dt * f;
  }
  for (let m = 0; m < 3; m++) x[p][m] = x[p][m] + dt * v[p][m];
});
const clear = grid.container("clear", { charge }, ({ charge }, c) => {
  charge[c] = 0;
});
const gather = ions.container("deposit", { x, w, charge: deposit(charge) }, ({ x, w, charge }, p, c) => {
  const [a, b, d] = [x[p][0] - c.x, x[p][1] - c.y, x[p][2] - c.z];
  for (let k = 0; k < 2; k++)
    for (let j = 0; j < 2; j++)
      for (let i = 0; i < 2; i++) charge.add(c, i, j, k, w[p] * (i === 0 ? 1 - a : a) * (j === 0 ? 1 - b : b) * (k === 0 ? 1 - d : d));
});
const step = skeleton(set, "particles", [push, clear, gather], { precision: "fast" });

await step.run(2);
const bandwidth = await copyBandwidth(set);
const seconds: number[] = [];
const tasks = new Map<string, number[]>();
for (let round = 0; round < rounds; round++) {
  seconds.push((await step.run(steps)).seconds / steps);
  await step.run(1, { trace: true });
  for (const [name, time] of await tasksOf(step, members)) tasks.set(name, [...(tasks.get(name) ?? []), time]);
}
const total = (await charge.download()).reduce((a, b) => a + b, 0);
if (Math.abs(total / count - 1) > 1e-12) throw new Error(`the charge is ${total} of ${count}`);

const rows = [...tasks].map(([name, times]) => {
  const floor = ((FLOORS[name.split(" ")[0]] ?? 0) * count) / bandwidth;
  return { name, milliseconds: 1e3 * median(times), floor: 1e3 * floor, ofFloor: floor / median(times) };
});
const result = {
  particles: count,
  cells: [cells, cells, cells],
  nanoseconds: (1e9 * median(seconds)) / count,
  milliseconds: 1e3 * median(seconds),
  rows,
};
console.log(`${count} particles in ${cells}^3 cells: ${result.nanoseconds.toPrecision(3)} ns a particle and step`);
for (const { name, milliseconds, ofFloor } of rows)
  console.log(
    `${name.padEnd(24)} ${milliseconds.toFixed(3)} ms${ofFloor > 0 ? `, ${(100 * ofFloor).toFixed(0)} % of what its bytes allow` : ""}`,
  );
if (options.json) {
  const host = { device: set.locals[0].device.label, members, copy: bandwidth, node: process.version };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify({ command: commandLine("dist/bench/particles.js"), host, result }, undefined, 1) + "\n");
}
step.free();
grid.free();
await set.close();
