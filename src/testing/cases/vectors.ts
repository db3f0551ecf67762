import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, view } from "../../kernel/declare/params.js";
import { vec2i, vec3, vec3f } from "../../kernel/declare/vectors.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { make } from "../values.js";

const turnDouble = kernel(
  "turnDouble",
  { a: f64, x: view(vec3), v: view(vec3), y: view(f64, 2) },
  ({ a, x, v, y }, i) => {
    const w = v[i].add(x[i].cross(v[i]).scale(a));
    x[i] = w.with(1, x[i].dot(v[i]));
    x[i].z += 1;
    y[i][0] = w.length();
    y[i][1] = w.at(i % 3);
  },
  () => [vec3],
);
const turnSingle = kernel(
  "turnSingle",
  { a: f32, x: view(vec3f), v: view(vec3f), y: view(f32, 2) },
  ({ a, x, v, y }, i) => {
    const w = v[i].add(x[i].cross(v[i]).scale(a));
    x[i] = w.with(1, x[i].dot(v[i]));
    x[i].z += 1;
    y[i][0] = w.length();
    y[i][1] = w.at(i % 3);
  },
  () => [vec3f],
);
const wrapping = kernel(
  "wrapping",
  { x: view(vec2i), s: view(i32) },
  ({ x, s }, i) => {
    s[i] = x[i].cross(x[i].with(0, i));
    x[i] = x[i].add(vec2i(2147483647, -i)).neg();
  },
  () => [vec2i],
);

/** Components that are whole and small, so that each operation is exact in f32. */
const start = (i: number, axis: number): number => ((5 * i + 3 * axis) % 11) - 4;
const COUNT = 100;

export const vectors: readonly ConformanceCase[] = [
  ...reals(160, "vectors: methods, elements of views and single components", async (device, real, r) => {
    const [x, v] = [0, 7].map((by) =>
      device.from(
        real as typeof f64,
        make(3 * COUNT, (k) => start(Math.floor(k / 3) + by, k % 3)),
        [COUNT, 3],
      ),
    );
    const y = device.array(real, [COUNT, 2]);
    const turn = (real.type === "f64" ? turnDouble : turnSingle) as typeof turnDouble;
    await device.run(turn, { a: 2, x, v, y: y as View<"f64", 2> }, range(COUNT));
    const turned = (i: number) => {
      const [p, q] = [0, 7].map((by) => [0, 1, 2].map((axis) => start(i + by, axis)));
      const cross = [0, 1, 2].map((axis) => p[(axis + 1) % 3] * q[(axis + 2) % 3] - p[(axis + 2) % 3] * q[(axis + 1) % 3]);
      const w = q.map((one, axis) => one + 2 * cross[axis]);
      return { w, dot: p[0] * q[0] + p[1] * q[1] + p[2] * q[2] };
    };
    const placed = make(3 * COUNT, (k) => {
      const { w, dot } = turned(Math.floor(k / 3));
      return [w[0], dot, w[2] + 1][k % 3];
    });
    const measured = make(2 * COUNT, (k) => {
      const { w } = turned(k >> 1);
      return k % 2 === 0 ? r(Math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])) : w[(k >> 1) % 3];
    });
    expectSame(await device.queue.read(x), placed, "x");
    expectSame(await device.queue.read(y), measured, "y");
  }),
  conformanceCase(161, "vectors of i32, which wrap", async (device) => {
    const component = (k: number): number => 1000 * k - 40_000;
    const [x, s] = [device.from(i32, make(2 * COUNT, component), [COUNT, 2]), device.array(i32, COUNT)];
    await device.run(wrapping, { x, s }, range(COUNT));
    const moved = make(2 * COUNT, (k) => -((component(k) + (k % 2 === 0 ? 2147483647 : -(k >> 1))) | 0) | 0);
    const crossed = make(COUNT, (i) => (component(2 * i) * component(2 * i + 1) - component(2 * i + 1) * i) | 0);
    expectSame(await device.queue.read(x), moved, "x");
    expectSame(await device.queue.read(s), crossed, "s");
  }),
];
