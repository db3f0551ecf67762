import type { BaseGrid } from "../../../src/domain/base-grid.js";
import type { Container } from "../../../src/domain/index.js";
import { deposit, particles, type SpeciesOptions } from "../../../src/domain/particles/index.js";
import { f64, i32, sum } from "../../../src/kernel/declare/params.js";
import { noise } from "../sets.js";
import { offsetsOf, type PlainBox, type PlainParticle } from "./plain-box.js";

/*
 * Steps that use everything: particles are pushed by a field around them, and give fields what they carry. Each exists twice, as containers and
 * as plain loops, which give the same bits in strict mode.
 */

/** Columns of particles on the host. */
export type HostParticles = Record<"x" | "v" | "w" | "id", ArrayLike<number>>;

/** Particles in random places, with random speeds of less than `speed` cells a step; their weights add up without rounding. */
export function cloud(count: number, box: PlainBox, speed = 0.9): PlainParticle[] {
  const found: PlainParticle[] = [];
  const axes = box.extents.map((_, a) => a);
  for (let n = 0; found.length < count; n++) {
    const x = axes.map((a) => (0.5 + noise(n, a, 1) / 2) * box.extents[a]);
    const v = [0, 1, 2].map((a) => speed * noise(n, a, 2));
    if (box.number(x.map(Math.floor)) !== undefined) found.push({ id: found.length, x, v, w: (1 + (n % 8)) / 8 });
  }
  return found;
}

export const hostOf = (list: readonly PlainParticle[]): HostParticles => ({
  x: list.flatMap(({ x }) => x),
  v: list.flatMap(({ v }) => v),
  w: list.map(({ w }) => w),
  id: list.map(({ id }) => id),
});

export const COLUMNS = { v: [f64, 3], w: f64, id: i32 } as const;

/** The force on particles, with no pattern. */
const force = (x: number, y: number, z: number, k: number): number => noise(x, y, z, k) / 8;

/** Weights of the two cells about a place that is `d` past the first one's corner. */
const near = (d: number, n: number): number => (n === 0 ? 1 - d : d);
/** Weights of four cells: a bump over two cells to each side. */
const bump = (d: number): number => {
  const t = Math.abs(d);
  return t < 1 ? 1 - t * t * (1.5 - 0.5 * t) : t < 2 ? 0.25 * (2 - t) * (2 - t) : 0;
};

export interface Plasma {
  readonly steps: readonly Container[];
  /** Fields and particles as they are at the start. */
  start(list: readonly PlainParticle[]): void;
  /** The particles' columns, the fields and the sum. */
  results(): Promise<number[][]>;
}

/** In three dimensions: a push by the mean of a field over a cell's corners, its charge, and the sum of the weights. */
export function cubes(any: BaseGrid, options: SpeciesOptions = {}): Plasma {
  const grid = any as BaseGrid<3>;
  const [e, rho, total] = [grid.field("e", f64, { cardinality: 3 }), grid.field("rho", f64), grid.scalar("total", f64)];
  const ions = particles(grid, "ions", COLUMNS, options);
  const { x, v, w } = ions.columns;
  const push = ions.container("push", { x, v, e, near, dt: 0.75 }, ({ x, v, e, near, dt }, p, c) => {
    const [a, b, d] = [x[p][0] - c.x, x[p][1] - c.y, x[p][2] - c.z];
    for (let m = 0; m < 3; m++) {
      let here = 0;
      for (let k = 0; k < 2; k++)
        for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) here += near(a, i) * near(b, j) * near(d, k) * e.at(c, i, j, k)[m];
      v[p][m] += dt * here;
    }
    for (let m = 0; m < 3; m++) x[p][m] += dt * v[p][m];
  });
  const clear = grid.container("clear", { rho }, ({ rho }, c) => void (rho[c] = 0));
  const give = ions.container("give", { x, w, near, rho: deposit(rho), total: sum(total) }, ({ x, w, near, rho, total }, p, c) => {
    const [a, b, d] = [x[p][0] - c.x, x[p][1] - c.y, x[p][2] - c.z];
    total.add(w[p]);
    for (let k = 0; k < 2; k++)
      for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) rho.add(c, i, j, k, w[p] * near(a, i) * near(b, j) * near(d, k));
  });
  return {
    steps: [push, clear, give].flat(),
    start: (list) => {
      e.fill(force);
      ions.load(hostOf(list));
    },
    results: async () => resultsOf(await ions.download(), [await rho.download()], await total.get()),
  };
}

/** The same as plain loops. */
export function plainCubes(box: PlainBox, all: readonly PlainParticle[], turns: number): number[][] {
  const corners = offsetsOf(3, 0, 1);
  const weight = (x: readonly number[], cell: readonly number[], offset: readonly number[]): number =>
    near(x[0] - cell[0], offset[0]) * near(x[1] - cell[1], offset[1]) * near(x[2] - cell[2], offset[2]);
  const at = (cell: readonly number[], offset: readonly number[], k: number): number => {
    const number = box.number(cell.map((c, a) => c + offset[a]));
    if (number === undefined) return 0;
    const [x, y, z] = box.cell(number);
    return force(x, y, z, k);
  };
  let list = box.sorted(all);
  let charge: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    for (const { x, v } of list) {
      const cell = x.map(Math.floor);
      const kick = [0, 1, 2].map((k) => corners.reduce((sum, offset) => sum + weight(x, cell, offset) * at(cell, offset, k), 0));
      for (const a of [0, 1, 2]) v[a] += 0.75 * kick[a];
      for (const a of [0, 1, 2]) x[a] += 0.75 * v[a];
    }
    list = box.sorted(list);
    charge = box.deposit(
      list,
      corners,
      ({ x, w }, cell, [i, j, k]) => w * near(x[0] - cell[0], i) * near(x[1] - cell[1], j) * near(x[2] - cell[2], k),
    );
  }
  return resultsOf(
    hostOf(list),
    [charge],
    list.reduce((sum, { w }) => sum + w, 0),
  );
}

/** In two dimensions: particles that drift, and give density and a current of three components to 16 cells. */
export function squares(any: BaseGrid, options: SpeciesOptions = {}): Plasma {
  const grid = any as BaseGrid<2>;
  const [rho, current, total] = [grid.field("rho", f64), grid.field("current", f64, { cardinality: 3 }), grid.scalar("total", f64)];
  const ions = particles(grid, "ions", COLUMNS, options);
  const { x, v, w } = ions.columns;
  const drift = ions.container("drift", { x, v }, ({ x, v }, p) => {
    for (let a = 0; a < 2; a++) x[p][a] += v[p][a];
  });
  const clear = grid.container("clear", { rho, current }, ({ rho, current }, c) => {
    rho[c] = 0;
    for (let k = 0; k < 3; k++) current[c][k] = 0;
  });
  const give = ions.container(
    "give",
    { x, v, w, bump, rho: deposit(rho), current: deposit(current), total: sum(total) },
    ({ x, v, w, bump, rho, current, total }, p, c) => {
      const [a, b] = [x[p][0] - c.x, x[p][1] - c.y];
      for (let j = -1; j <= 2; j++)
        for (let i = -1; i <= 2; i++) {
          const weight = w[p] * bump(a - i) * bump(b - j);
          rho.add(c, i, j, weight);
          for (let k = 0; k < 3; k++) current.add(c, i, j, k, weight * v[p][k]);
        }
      total.add(w[p]);
    },
  );
  return {
    steps: [drift, clear, give].flat(),
    start: (list) => ions.load(hostOf(list)),
    results: async () => resultsOf(await ions.download(), [await rho.download(), await current.download()], await total.get()),
  };
}

/** The same as plain loops. */
export function plainSquares(box: PlainBox, all: readonly PlainParticle[], turns: number): number[][] {
  const around = offsetsOf(2, -1, 2);
  let list = box.sorted(all);
  for (let turn = 0; turn < turns; turn++) {
    for (const { x, v } of list) for (const a of [0, 1]) x[a] += v[a];
    list = box.sorted(list);
  }
  const weight = ({ x, w }: PlainParticle, cell: readonly number[], [i, j]: readonly number[]): number =>
    w * bump(x[0] - cell[0] - i) * bump(x[1] - cell[1] - j);
  const rho = box.deposit(list, around, weight);
  const current = [0, 1, 2].map((k) => box.deposit(list, around, (particle, ...at) => weight(particle, ...at) * particle.v[k]));
  const total = list.reduce((sum, { w }) => sum + w, 0);
  return resultsOf(hostOf(list), [rho, rho.flatMap((_, n) => current.map((values) => values[n]))], total);
}

/** Lists that compare. */
const resultsOf = ({ x, v, w, id }: HostParticles, fields: readonly ArrayLike<number>[], total: number): number[][] => [
  ...[id, x, v, w, ...fields].map((values) => Array.from(values)),
  [total],
];
