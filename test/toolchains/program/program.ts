import {
  argmin,
  bool,
  compileKernel,
  f16,
  f64,
  i16,
  i32,
  i8,
  kernel,
  list,
  type KernelError,
  open,
  range,
  reducer,
  span,
  sum,
  table,
  vec3,
  type Vec3,
  array,
  complex,
  type Device,
  mat3,
  quat,
  scatter,
  stored,
  struct,
  structArraysFrom,
  teamKernel,
  teams,
  u32,
  view,
} from "isoform";
import { dense } from "isoform/grid";
import { stream } from "isoform/patterns";
import { deposit, particles } from "isoform/particles";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { C, COUNT, isFast, weights } from "./constants.js";
import * as helpers from "./helpers.js";
import { cubed, fall as drop, STEP, steps, twice } from "./helpers.js";

/* Kernels, containers and species that capture things of all kinds, from here and from other modules. */

const LONG = 1.2345678901234567;
const moves = table(i32, [
  [1, 0],
  [-1, 2],
]);
const lattice = { speed: 0.75, moves, shift: (x: number): number => x + LONG };
const Real = Float64Array;
const { hypot } = Math;

const wave = (x: number): number => offset(C * x) + LONG;
function offset(x: number): number {
  if (x > 10) return x - 10;
  return later(x);
}

const all = kernel(
  "all",
  { y: view(f64), n: view(i32), half: 0.5, on: true, total: sum(f64) },
  ({ y, n, half, on, total }, i) => {
    const length = 1 << (COUNT - 1);
    const a = new Real(length);
    for (let k = 0; k < COUNT; k++) a[k] = weights[k] * k;
    let s = 0;
    for (let k = 0; k < a.length; k++) s += a[k];
    y[i] = (on && isFast ? half : 1) * wave(i) + drop(i) + cubed(i) + s + hypot(3, 4);
    y[i] += helpers.cubed(i) + lattice.shift(lattice.speed) * LONG;
    n[i] = lattice.moves[1][1] * i + moves[i & 1][0];
    total.add(C * i);
    // Nobody reads it: minifiers leave what it was given.
    // oxlint-disable-next-line no-unused-vars
    const unread = y[i] * 2;
  },
  () => [
    Real,
    COUNT,
    weights,
    isFast,
    wave,
    offset,
    C,
    LONG,
    later,
    drop,
    cubed,
    hypot,
    helpers.cubed,
    lattice.shift,
    lattice.speed,
    lattice.moves,
    moves,
  ],
);

// The list is asked later.
const later = (x: number): number => x * x * 0.125;

const team = teamKernel(
  "team",
  { y: view(f64) },
  ({ y }, team) => {
    const t = team.scratch(f64, 4);
    team.range(4, (j) => {
      t[j] = wave(j);
    });
    y[team.index] = team.sum(4, (j) => t[j] * LONG);
  },
  () => [f64, wave, offset, C, LONG, later],
);

const Pair = struct("Pair", { low: f64, high: f64 });
/** A value with its place, and records that fold as a whole. */
const extrema = kernel(
  "extrema",
  {
    y: view(f64),
    best: argmin(f64),
    pairs: reducer(Pair, { low: 0, high: -1 }, (a, b) => ({ low: a.low + b.low, high: a.high < b.high ? b.high : a.high * 1 })),
  },
  ({ y, best, pairs }, i) => {
    best.min(Math.abs(y[i] - LONG), i);
    pairs.merge({ low: y[i], high: +i });
  },
  () => [LONG],
);

/** Statements that tools rewrite. */
const statements = kernel(
  "statements",
  { y: view(f64), n: view(i32) },
  ({ y, n }, i) => {
    let s = { low: i * LONG, high: 1, found: false };
    for (const [k, w] of weights.entries()) s = { ...s, low: s.low + w * k };
    for (const k of span(0, 7, 2)) {
      switch ((n[i] + k) & 7) {
        case 0:
        case 5:
          if (s.low > 1) {
            s = { ...s, high: s.high * 2 };
            break;
          }
          s = { low: s.high, high: s.low, found: true };
          break;
        case COUNT:
          s = s.found ? { ...s, high: -s.high } : { low: k, high: s.low + 0.5, found: true };
          break;
        case 7:
          continue;
        default:
          s = { ...s, low: Math.hypot(s.low, 3, k), found: Number.isInteger(s.low) };
      }
      s = { ...s, low: s.low + 0.125 };
    }
    rows: for (const row of moves)
      for (const move of row) {
        if (move === n[i]) continue rows;
        s = { ...s, high: s.high + move };
      }
    const { low, high, found } = s;
    y[i] = Number.isNaN(low) ? -1 : low + 100 * high + (found ? 1e4 : 0);
  },
  () => [LONG, weights, span, COUNT, moves],
);

const bend = (v: Vec3, axis: Vec3, s: number): Vec3 => (s < 0 ? v : v.add(v.cross(axis).scale(s)).normalize());

/** Vectors, whose methods minifiers keep by name. */
const vectors = kernel(
  "vectors",
  { x: view(vec3), y: view(f64) },
  ({ x, y }, i) => {
    const w = bend(x[i].add(vec3(LONG, i, 1)), vec3(0, 0, 1), y[i]);
    x[i] = x[i].add(w.scale(0.125));
    x[i].z += 1;
    let far = w;
    for (const k of span(0, 3)) if (x[i].at(k) > far.length()) far = far.with(k, LONG);
    y[i] = far.dot(x[i]) + w.distance(x[i]);
  },
  () => [vec3, bend, LONG, span],
);

const Step = struct("Step", { place: vec3, turn: quat, time: f64 });

/** Types of other values of several numbers, as captures, parameters and results. */
const values = kernel(
  "values",
  { g: vec3, m: view(mat3), steps: view(Step), z: view(complex), total: sum(vec3), h: scatter(vec3) },
  ({ g, m, steps, z, total, h }, i) => {
    const kept = array(vec3, 2);
    const { place, turn, time } = steps[i];
    kept[0] = m[i].inverse().mul(turn.normalize().rotate(place));
    kept[1] = kept[0].add(g.scale(time));
    steps[i] = Step({ place: kept[1], turn: turn.conj(), time: time + LONG });
    steps[i].place.z += kept[0].xy.length();
    m[i] = mat3(kept[0], kept[1], [0, 1, time]);
    z[i] = z[i].mul(complex(LONG, i)).div(complex(1, 2));
    total.add(kept[1]);
    h.add(i & 1, kept[0]);
  },
  () => [array, vec3, mat3, complex, Step, LONG],
);

/** Kernels of one text that differ in what they capture. */
function scaled(factor: number, list: readonly number[]) {
  const t = table(f64, list);
  const scale = (x: number): number => factor * x + t[0];
  return kernel(
    "scaled",
    { y: view(f64) },
    ({ y }, i) => {
      y[i] = scale(t[1] + i);
    },
    () => [scale, factor, t],
  );
}

/** Where a mistake is said to be: in this file, at the name that nobody knows. */
export function placeOfMistake(): string {
  const wrong = kernel("wrong", { y: view(f64) }, ({ y }, i) => {
    // Comments and types are gone from what runs.
    const first: number = y[i];
    y[i] = unheardOf(first as number);
  });
  try {
    compileKernel(wrong);
    return "nowhere";
  } catch (error) {
    const { file, line, column } = (error as KernelError).location;
    return `${file.split("/").at(-1)}:${line}:${column}`;
  }
}
declare function unheardOf(x: number): number;

/** What needs nothing of another module but what is listed by name, or lists for itself. */
async function valuesOn(device: Device): Promise<unknown[]> {
  const numbers = (n: number): number[] => Array.from({ length: n }, (_, k) => ((7 * k + 3) % 11) / 4 - 1);
  const [m, z, h] = [device.from(mat3, numbers(18)), device.from(complex, numbers(4)), device.array(vec3, 2)];
  const [a, b] = [numbers(7), numbers(9)];
  const step = (time: number) => Step({ place: vec3(a[0], a[1], time), turn: quat(b[3], b[4], b[5], 1), time });
  const steps = structArraysFrom(device, Step, [step(0.5), step(2)]);
  const { total } = await device.run(values, { g: vec3(0, 0, -9.81), m, steps, z, h }, range(2), { precision: "strict" });
  const views = [m, z, h, steps.place, steps.turn, steps.time];
  return [total, ...(await Promise.all(views.map(async (each) => [...(await device.queue.read(each))])))];
}

/** Storage types, which kernels read and write as numbers and truth values. */
const kept = kernel(
  "kept",
  { on: view(bool), x: view(f16), n: view(stored(i16, { scale: 2 ** -8 })), b: view(i8) },
  ({ on, x, n, b }, i) => {
    if (on[i]) x[i] = x[i] / 3;
    n[i] = Math.fround(x[i] * (LONG > 0 ? 1 : 2));
    b[i] = b[i] * 3;
    on[i] = !on[i] && x[i] > 1;
  },
  () => [LONG],
);

async function keptOn(device: Device): Promise<unknown[]> {
  const [on, x] = [device.from(bool, [true, false, false]), device.from(f16, [1, 2, 0.1])];
  const [n, b] = [device.array(i16, 3), device.from(i8, [1, -50, 100])];
  await device.run(kept, { on, x, n, b }, range(3), { precision: "strict" });
  return Promise.all([on, x, n, b].map(async (each) => [...(await device.queue.read(each))]));
}

/** A helper of the library that returns an object with functions, whose names minifiers keep. */
const drawn = kernel(
  "drawn",
  { seed: u32, y: view(f64) },
  ({ seed, y }, i) => {
    const { uniform: next, below } = stream(seed, i);
    const other = stream(seed, i, 1);
    y[i] = LONG * next() + below(10) + (next() < 0.5 ? other.uniform() : +other.below(3));
  },
  () => [stream, LONG],
);

/** Elements that append to lists. */
const appended = kernel(
  "appended",
  { y: view(f64), steps: list(Step, 2), places: list(i32) },
  ({ y, steps, places }, i) => {
    for (const k of span(0, 2)) if (y[i] > k) steps.push(Step({ place: vec3(y[i], k, LONG), turn: quat(0, 0, 0, 1), time: LONG * k }));
    if (y[i] < LONG) places.push(i + 1);
  },
  () => [Step, vec3, quat, LONG, span],
);

async function appendedOn(device: Device): Promise<unknown[]> {
  const [steps, places] = [device.list(Step, 20), device.list(i32, 10)];
  const y = device.from(f64, [0.5, 3, -1, 1.5, 2, 0.25, 9]);
  const lengths = await device.run(appended, { y, steps, places }, range(7), { precision: "strict" });
  const views = [steps.view.place, steps.view.turn, steps.view.time, places.view];
  return [lengths, ...(await Promise.all(views.map(async (each) => [...(await device.queue.read(each))])))];
}

/** Results of all kernels on a device, as plain values. */
export async function results(name: string): Promise<unknown> {
  const device = await open(name);
  const [y, n] = [device.array(f64, 4), device.array(i32, 4)];
  const read = async (): Promise<number[]> => [...(await device.queue.read(y))];
  const sums = await device.run(all, { y, n }, range(4));
  const found: unknown[] = [sums, await read(), [...(await device.queue.read(n))]];
  await device.run(team, { y }, teams(2));
  found.push(await read());
  await device.run(statements, { y, n }, range(4));
  found.push(await read());
  found.push(await device.run(extrema, { y }, range(4), { precision: "strict" }));
  await device.run(drawn, { seed: 4_000_000_000, y }, range(4));
  found.push(await read());
  const at = device.array(f64, [4, 3]);
  device.queue.write(at, [1, 2, 3, -4, 5, 0.5, 7, 8, 9, 0, 0, 1]);
  await device.run(vectors, { x: at, y }, range(4), { precision: "strict" });
  found.push(await read(), [...(await device.queue.read(at))]);
  found.push(...(await valuesOn(device)), ...(await keptOn(device)), ...(await appendedOn(device)));
  for (const k of [scaled(1, [2, 3]), scaled(10, [2, 3]), scaled(1, [20, 30])]) {
    await device.run(k, { y }, range(4));
    found.push(await read());
  }

  const grid = dense(await devices([device]), [4, 4], { periodic: true });
  const [u, v] = [grid.field("u", f64), grid.field("v", f64)];
  const total = grid.scalar("total", f64);
  const near = (field: typeof u): number => field.grid.cells;
  const ions = particles(grid, "ions", { speed: f64 });
  const { x, speed } = ions.columns;
  const fill = grid.container(
    "fill",
    { u, rate: 0.25 },
    ({ u, rate }, c) => {
      u[c] = wave(c.x) * rate + drop(c.y) + lattice.speed;
    },
    () => [wave, offset, C, LONG, later, drop, lattice.speed],
  );
  const smooth = grid.container(
    "smooth",
    { u, v, total: sum(total) },
    ({ u, v, total }, c) => {
      let s = 0;
      for (let k = 0; k < moves.length; k++) s += weights[k] * u.at(c, moves[k][0], 0);
      v[c] = s;
      total.add(s * LONG);
    },
    () => [moves, weights, LONG],
  );
  const push = ions.container(
    "push",
    { x, speed, v: deposit(v) },
    ({ x, speed, v }, p, c) => {
      x[p][0] += lattice.speed * speed[p];
      v.add(c, 0, 0, cubed(speed[p]));
    },
    () => [lattice.speed, cubed],
  );
  ions.load({ x: [0.5, 1.5, 2.5, 3.5], speed: [1, 0.5] });
  await skeleton(grid.set, "steps", [fill, smooth, push]).run(2);
  const { x: places } = await ions.download();
  found.push([...(await v.download())], await total.get(), [...places], near(u));
  await device.close();
  return found;
}

/** Functions of another module whose own names are looked up in the list of this one. */
export async function acrossModules(name: string): Promise<unknown> {
  const byName = kernel(
    "names",
    { y: view(f64) },
    ({ y }, i) => {
      y[i] = steps(i) + STEP;
    },
    () => [steps, twice, STEP],
  );
  const byMember = kernel(
    "members",
    { y: view(f64) },
    ({ y }, i) => {
      y[i] = helpers.steps(i);
    },
    () => [helpers.steps, helpers.twice, helpers.STEP],
  );
  const device = await open(name);
  const y = device.array(f64, 4);
  const found: unknown[] = [];
  for (const k of [byName, byMember]) {
    await device.run(k, { y }, range(4));
    found.push([...(await device.queue.read(y))]);
  }
  await device.close();
  return found;
}
