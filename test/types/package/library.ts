import {
  assign,
  bool,
  compileKernel,
  f32,
  f64,
  fixed,
  helper,
  i32,
  kernel,
  max,
  min,
  mulhi,
  open,
  range,
  reducer,
  scatter,
  sum,
  table,
  teamKernel,
  teams,
  u32,
  u8,
  view,
} from "isoform";
import { bricks, dense, dot, face, sparse } from "isoform/grid";
import { deposit, particles } from "isoform/particles";
import { scan } from "isoform/patterns";
import { devices } from "isoform/set";
import { every, skeleton, swap } from "isoform/skeleton";

/* What a package may export without writing a type: its declarations must be able to name all of it. Compiled, and never run. */

export const wave = helper(
  (x: number) => weights[0] * x,
  () => [weights],
);
export const weights = table(f64, [0.5, 0.25]);
export const params = {
  a: f64,
  b: f32,
  c: u32,
  d: bool,
  n: fixed(i32),
  x: view(f64),
  bytes: view(u8),
  z: view(f32, 3, { disjoint: true }),
  h: scatter(f64),
  g: scatter(i32, 2, "max"),
  s: sum(f64),
  m: min(i32),
  k: max(f32),
  product: reducer(f64, 1, (a, b) => a * b),
  t: table(i32, [
    [1, 2],
    [3, 4],
  ]),
  half: 0.5,
  on: true,
  wave,
  mulhi,
  Real: Float32Array,
};
export const elements = kernel("elements", params, ({ x, a }, i) => {
  x[i] = a;
});
export const inPlace = kernel("inPlace", { a: f64, y: view(f64), s: sum(f64), h: scatter(f64), n: fixed(i32) }, ({ y, a }, i) => {
  y[i] = a;
});
export const rows = teamKernel("rows", { y: view(f64), s: sum(f64), t: table(f64, [1, 2]) }, ({ y }, team) => {
  y[team.index] = team.sum(2, (j) => j);
});
export const compiled = compileKernel(elements, { n: 1 });
export const [elementsOf, league] = [range(3), teams(3, { lanes: 4 })];

export const device = await open("js");
export const [array, list] = [device.array(f64, [3, 4]), device.from(f64, [1, 2])];
export const results = await device.run(rows, { y: list }, teams(2));
export const launch = device.prepare(rows, { y: list }, teams(2));
export const prefix = scan(device, { input: list, output: device.array(f64, 2), op: "sum" });

export const set = await devices([device]);
export const box = dense(set, [4, 4], { periodic: [true, false], ghosts: 1 });
export const holes = sparse(set, [4, 4], () => true);
export const bricked = bricks(set, [4, 4], () => true);
export const [u, v] = [box.field("u", f64), box.field("v", f64)];
export const mean = box.field("mean", f64, { axes: ["y"], cardinality: 5 });
export const total = box.scalar("total", f64);
export const tokens = { into: sum(total), given: assign(total), deposited: deposit(u) };
export const side = box.container(
  "side",
  { u, rate: 0.25 },
  ({ u, rate }, c) => {
    u[c] = rate;
  },
  undefined,
  { on: face("ymin") },
);
export const halve = box.scalarStep("halve", { t: assign(total) }, ({ t }) => {
  t.set(0.5);
});
export const ions = particles(box, "ions", { speed: f64, charge: f32 });
export const { columns } = ions;
export const push = ions.container("push", { x: columns.x, speed: columns.speed }, ({ x, speed }, p) => {
  x[p][0] += speed[p];
});
export const program = skeleton(set, "program", [side, every(10, [dot(u, v, total)]), halve, swap(u, v)]);
