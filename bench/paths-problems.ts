import { f32, f64, kernel, range, view, type Device, type Kernel } from "isoform";
import { makeGrid } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { Solver, type FormName } from "../apps/gsr/solver.js";
import { lbmProblem } from "./grid-problems.js";

/* What bench/paths.ts measures on each code path. */

/** Seconds of one run of a quantity, by its name. */
export type PathSample = Readonly<Record<string, number>>;

/** A problem on one device, ready to be measured. */
export interface Ready {
  /** Bytes that a quantity reads and writes once, by the compiler's count. */
  readonly bytes: PathSample;
  sample(): Promise<PathSample>;
  /** Some of the results, on which all paths must agree. */
  results(): Promise<number[]>;
  free(): Promise<void> | void;
}

export interface PathProblem {
  readonly name: string;
  readonly type: "f64" | "f32";
  /** How far results of two paths may lie apart, relative to the largest. */
  readonly tolerance: number;
  prepare(device: Device): Promise<Ready>;
}

/** Runs of a kernel or an iteration in one sample. */
const RUNS = 20;

/** Iterations of the solver after which results are compared: LSQR amplifies round-off from one iteration to the next. */
const COMPARED = 3;

const TRIADS: Record<"f64" | "f32", Kernel> = {
  f64: kernel("triad", { s: f64, a: view(f64), b: view(f64), c: view(f64) }, ({ s, a, b, c }, i) => {
    a[i] = b[i] + s * c[i];
  }),
  f32: kernel("triad", { s: f32, a: view(f32), b: view(f32), c: view(f32) }, ({ s, a, b, c }, i) => {
    a[i] = b[i] + s * c[i];
  }),
};

const FILLS: Record<"f64" | "f32", Kernel> = {
  f64: kernel("fill", { x: view(f64), step: f64 }, ({ x, step }, i) => {
    x[i] = step * (i % 1013);
  }),
  f32: kernel("fill", { x: view(f32), step: f32 }, ({ x, step }, i) => {
    x[i] = step * (i % 1013);
  }),
};

/** a = b + s c over arrays of `elements`. Times are the device's. */
export const triad = (type: "f64" | "f32", elements: number): PathProblem => ({
  name: `triad, ${elements} elements`,
  type,
  tolerance: type === "f64" ? 1e-12 : 1e-6,

  async prepare(device) {
    const token = type === "f64" ? f64 : f32;
    const [a, b, c] = ["a", "b", "c"].map(() => device.array(token, elements));
    await device.run(FILLS[type], { x: b, step: 0.25 }, range(elements));
    await device.run(FILLS[type], { x: c, step: 0.5 }, range(elements));
    const launch = device.prepare(TRIADS[type], { s: 0.4, a, b, c }, range(elements));
    return {
      bytes: { triad: launch.cost.bytes },
      async sample() {
        const start = device.queue.record();
        for (let n = 0; n < RUNS; n++) device.queue.submit(launch);
        return { triad: (await device.queue.record().since(start)) / RUNS };
      },
      results: async () => Array.from(await device.queue.read(a.slice([elements - 1000, elements]))),
      free() {
        launch.free();
        for (const array of [a, b, c]) array.free();
      },
    };
  },
});

/** The D3Q19 step of bench/grid.ts on a dense box of `size`^3 cells, run by a skeleton. Times are the device's. */
export const latticeBoltzmann = (type: "f64" | "f32", size: number): PathProblem => ({
  name: `lbm ${size}^3`,
  type,
  tolerance: type === "f64" ? 1e-12 : 1e-5,

  async prepare(device) {
    const set = await devices(device);
    const grid = makeGrid(set, [size, size, size]);
    const { steps, result } = await lbmProblem(grid, type);
    const plan = skeleton(set, "lbm", steps, { unroll: 2 });
    const cells = [0, 1, 2, 3, 4].map((n) => [(n * 7) % size, (n * 5) % size, Math.floor((n * (size - 1)) / 4)]);
    return {
      bytes: { step: 2 * 19 * (type === "f64" ? 8 : 4) * size ** 3 },
      sample: async () => ({ step: (await plan.run(RUNS)).seconds / RUNS }),
      results: () => Promise.all(cells.flatMap((cell) => [0, 6, 18].map((q) => result.get(cell, q)))),
      async free() {
        plan.free();
        grid.free();
        await set.close();
      },
    };
  },
});

/** The Gaia solver: its iteration by the wall clock, then each of its kernels some times in a row by the device's. */
export const gaia = (form: FormName, gib: number): PathProblem => ({
  name: `gsr ${gib} GiB, ${form} form`,
  type: "f64",
  tolerance: 1e-8,

  async prepare(device) {
    const solver = await Solver.create(device, { gib, form });
    const bytes: Record<string, number> = { iteration: 0 };
    for (const { name, launch } of solver.steps) {
      bytes[name] = (bytes[name] ?? 0) + launch.cost.bytes;
      bytes.iteration += launch.cost.bytes;
    }
    return {
      bytes,
      async sample() {
        const { secondsPerIteration } = await solver.solve({ iterations: RUNS });
        const seconds: Record<string, number> = { iteration: secondsPerIteration };
        for (const { name, launch } of solver.steps) {
          const start = device.queue.record();
          for (let n = 0; n < RUNS; n++) device.queue.submit(launch);
          seconds[name] = (seconds[name] ?? 0) + (await device.queue.record().since(start)) / RUNS;
        }
        return seconds;
      },
      async results() {
        await solver.solve({ iterations: COMPARED });
        return Array.from(await solver.solution()).slice(0, 1000);
      },
      free: () => solver.free(),
    };
  },
});
