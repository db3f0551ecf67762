import { createHash } from "node:crypto";
import { devices, type DeviceSet } from "isoform/set";
import { f64, kernel, open, range, sum, view } from "isoform";
import { bricks, dense, sparse, type Grid } from "isoform/grid";
import { gradient, tape, type SkeletonGradient } from "isoform/gradient";
import { skeleton, swap } from "isoform/skeleton";
import { boxFlow } from "../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../apps/navier-stokes/config/config.js";
import { Simulation } from "../apps/navier-stokes/simulation/simulation.js";
import { parseArgs } from "./command-line.js";

/*
 * Gradients of tapes and of skeletons, checked; prints JSON, and ends with 1 where something is wrong:
 *   node dist/bench/gradient-flows.js tape [--device wasm]
 *   node dist/bench/gradient-flows.js grids [--devices js,wasm*2,wasm*3,wasm*4] [--seed 1]
 *   node dist/bench/gradient-flows.js ns [--devices js,wasm*2] [--steps 10] [--size 12] [--snapshots 5,20,100] [--seed 1]
 */

const { values: options, positionals } = parseArgs({
  options: {
    device: { type: "string", default: "wasm" },
    devices: { type: "string", default: "js,wasm*2,wasm*3,wasm*4" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "10" },
    size: { type: "string", default: "12" },
    snapshots: { type: "string", default: "5" },
  },
  allowPositionals: true,
});
const seed = Number(options.seed);

/** One row of the report. */
interface Row extends Readonly<Record<string, unknown>> {
  readonly right: boolean;
}

const digest = (values: Iterable<number>): string =>
  createHash("sha256")
    .update(new Uint8Array(Float64Array.from(values).buffer))
    .digest("hex");

/** Copies that a tape makes, and a write past it. */
async function tapeRows(): Promise<Row[]> {
  const device = await open(options.device);
  const n = 32;
  const square = kernel("square", { a: f64, x: view(f64) }, ({ a, x }, i) => {
    x[i] = a * x[i] * x[i];
  });
  const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
    y[i] += a * x[i];
  });
  const squares = kernel("squares", { y: view(f64), s: sum(f64) }, ({ y, s }, i) => s.add(y[i] * y[i]));
  const data = Float64Array.from({ length: n }, (_, q) => 0.5 + 0.3 * Math.sin(seed * q));
  const rows: Row[] = [];
  for (const [name, copies] of [
    ["x = a x x", 5],
    ["y += a x", 0],
  ] as const) {
    const t = tape(device);
    const [x, y] = [device.from(f64, data), device.array(f64, n)];
    for (let k = 0; k < 5; k++)
      if (copies > 0) await t.run(square, { a: 0.9, x }, range(n));
      else await t.run(axpy, { a: 0.9, x, y }, range(n));
    rows.push({ case: `five launches of ${name}`, copies: t.copies, right: t.copies === copies });
    t.free();
  }
  const t = tape(device);
  const x = device.from(f64, data);
  const { s } = await t.run(squares, { y: x }, range(n));
  device.queue.write(x, data);
  const message = await t.backward(s).then(
    () => "",
    (error: Error) => error.message,
  );
  rows.push({ case: "a write past the tape", message, right: message.includes('needs "y" as it was, but it was written since') });
  await device.close();
  return rows;
}

const extents = [14, 12, 16];
const inside = (x: number, y: number, z: number): boolean => (x - 7) ** 2 + (y - 6) ** 2 + (z - 8) ** 2 < 40;

const GRIDS: Readonly<Record<string, (set: DeviceSet) => Grid<3>>> = {
  dense: (set) => dense(set, extents) as unknown as Grid<3>,
  periodic: (set) => dense(set, extents, { periodic: [true, false, true] }) as unknown as Grid<3>,
  masked: (set) => dense(set, extents, { active: inside }) as unknown as Grid<3>,
  sparse: (set) => sparse(set, extents, inside) as unknown as Grid<3>,
  bricks: (set) => bricks(set, extents, inside, { brick: [4, 4, 4] }) as unknown as Grid<3>,
};

/** Twenty steps of a nonlinear diffusion of two components. */
async function gridRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [kind, make] of Object.entries(GRIDS)) {
    const digests = new Set<string>();
    let difference = Infinity;
    for (const [n, names] of options.devices.split(",").entries()) {
      const set = await devices(names);
      const grid = make(set);
      const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { cardinality: 2 }));
      const loss = grid.scalar("loss", f64);
      const step = grid.container("step", { u, v }, ({ u, v }, c) => {
        const [a, b] = [u[c][0], u[c][1]];
        let s = 0;
        let r = 0;
        for (let d = -1; d < 2; d += 2) {
          const [x, y, z] = [u.at(c, d, 0, 0)[0], u.at(c, 0, d, 0)[0], u.at(c, 0, 0, d)[0]];
          s += (1 + (a + x) * (a + x)) * (x - a) + (1 + (a + y) * (a + y)) * (y - a) + (1 + (a + z) * (a + z)) * (z - a);
          r += u.at(c, 0, 0, d)[1] * z;
        }
        v[c][0] = a + 0.02 * s;
        v[c][1] = b + (0.01 * r) / (1 + a * a);
      });
      const lossOf = grid.container("loss", { u, loss: sum(loss) }, ({ u, loss }, c) =>
        loss.add(0.5 * (u[c][0] * u[c][0] + u[c][1] * u[c][0])),
      );
      const flow = skeleton(set, "flow", [step, swap(u, v), lossOf], { precision: "strict", occ: "two-way" });
      const start = (x: number, y: number, z: number, k: number): number =>
        Math.sin(0.7 * seed * x + k) * Math.cos(0.4 * y) + 0.2 * Math.sin(z);
      const along = (x: number, y: number, z: number, k: number): number => Math.cos(1.3 * x - 0.2 * y * z + k);
      const grad = gradient(flow, { of: loss, wrt: [u], snapshots: 3 + n });
      u.fill(start);
      await grad.run(20);
      const g = await grad.of(u).download();
      digests.add(digest(g));
      const at = async (e: number): Promise<number> => {
        u.fill((...q) => start(...q) + e * along(...q));
        await flow.run(20);
        return loss.get();
      };
      if (n === 0) {
        let [derivative, place] = [0, 0];
        for (let z = 0; z < extents[2]; z++)
          for (let y = 0; y < extents[1]; y++)
            for (let x = 0; x < extents[0]; x++)
              for (let k = 0; k < 2; k++, place++) if (grid.activity.isFull || inside(x, y, z)) derivative += g[place] * along(x, y, z, k);
        difference = Math.abs(((await at(1e-5)) - (await at(-1e-5))) / 2e-5 - derivative) / Math.abs(derivative);
      }
      await set.close();
    }
    rows.push({ case: kind, digests: [...digests], difference, right: digests.size === 1 && difference <= 1e-7 });
  }
  return rows;
}

/** A viscous Taylor-Green vortex by the application's own skeleton. */
async function flowRows(): Promise<Row[]> {
  const [steps, size] = [Number(options.steps), Number(options.size)];
  const rows: Row[] = [];
  const digests = new Set<string>();
  for (const names of options.devices.split(","))
    for (const snapshots of options.snapshots.split(",").map(Number)) {
      const set = await devices(names);
      const config = configOf("box", { flow: "taylor-green", nx: size, ny: size, nz: size, viscous: "conservative", dt: 0.02, re: 100 });
      const { skeleton: flow, fields } = await Simulation.create(set, boxFlow(config), { precision: "strict" });
      const { w } = fields;
      const weight = (x: number, y: number, z: number, k: number): number => Math.cos(0.9 * seed * (x + size * (y + size * z)) + 7 * k);
      const start = Float64Array.from(await w.download());
      const grad: SkeletonGradient = gradient(flow, { of: [[w, weight]], wrt: [w], snapshots });
      const begin = performance.now();
      const { extra } = await grad.run(steps);
      const seconds = (performance.now() - begin) / 1000;
      const g = Float64Array.from(await grad.of(w).download());
      digests.add(digest(g));
      const isFirst = rows.length === 0;
      const difference = isFirst ? await differenceOf(g, start) : undefined;
      rows.push({
        case: names,
        snapshots,
        extra,
        seconds,
        difference,
        digest: digest(g),
        right: difference === undefined || difference <= 1e-11,
      });
      await set.close();

      /** Central differences along one direction beside the gradient, relative to the sum of magnitudes. */
      async function differenceOf(g: Float64Array, from: Float64Array): Promise<number> {
        const along = from.map((_, q) => 0.01 * Math.sin(1.7 * q + 0.3));
        const at = async (e: number): Promise<number> => {
          w.upload(from.map((value, q) => value + e * along[q]));
          flow.iteration = 0;
          await flow.run(steps);
          const end = await w.download();
          let [total, place] = [0, 0];
          for (let z = 0; z < size; z++)
            for (let y = 0; y < size; y++)
              for (let x = 0; x < size; x++) for (let k = 0; k < w.cardinality; k++, place++) total += end[place] * weight(x, y, z, k);
          return total;
        };
        const [derivative, magnitude] = g.reduce(([d, m], value, q) => [d + value * along[q], m + Math.abs(value * along[q])], [0, 0]);
        let best = Infinity;
        for (const e of [1e-3, 1e-4, 1e-5])
          best = Math.min(best, Math.abs(((await at(e)) - (await at(-e))) / (2 * e) - derivative) / magnitude);
        return best;
      }
    }
  rows.push({ case: "one set of bits", digests: digests.size, right: digests.size === 1 });
  return rows;
}

const [command] = positionals;
const COMMANDS: Readonly<Record<string, () => Promise<Row[]>>> = { tape: tapeRows, grids: gridRows, ns: flowRows };
if (!Object.hasOwn(COMMANDS, command ?? ""))
  throw new Error(`there is no command "${command}"; take one of ${Object.keys(COMMANDS).join(", ")}`);
const rows = await COMMANDS[command]();
console.log(JSON.stringify(rows, undefined, 1));
if (rows.some(({ right }) => !right)) process.exitCode = 1;
