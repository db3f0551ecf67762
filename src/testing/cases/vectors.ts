import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { complex, complexf } from "../../kernel/declare/complex.js";
import { mat3, mat3f, type Mat3 } from "../../kernel/declare/matrices.js";
import { f32, f64, i32, scatter, sum, view } from "../../kernel/declare/params.js";
import { array } from "../../kernel/declare/private-arrays.js";
import { quat, quatf, type Quat } from "../../kernel/declare/quaternions.js";
import { vec2i, vec3, vec3f, type Vec3 } from "../../kernel/declare/vectors.js";
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

const ofDoubles = kernel(
  "ofDoubles",
  { g: vec3, m: view(mat3), q: view(quat), z: view(complex), x: view(vec3), total: sum(vec3), bins: scatter(vec3) },
  ({ g, m, q, z, x, total, bins }, i) => {
    const kept = array(vec3, 2);
    kept[i % 2] = m[i].mul(x[i]).add(g);
    kept[1 - (i % 2)] = q[i].rotate(x[i]);
    x[i] = kept[0].add(kept[1]).add(m[i].transpose().row(i % 3));
    x[i].y += z[i].mul(complex(0, 2)).re;
    total.add(x[i]);
    bins.add(i % 4, x[i]);
    m[i] = m[i].inverse().add(m[i]);
  },
  () => [array, complex, vec3],
);
const ofSingles = kernel(
  "ofSingles",
  { g: vec3f, m: view(mat3f), q: view(quatf), z: view(complexf), x: view(vec3f), total: sum(vec3f), bins: scatter(vec3f) },
  ({ g, m, q, z, x, total, bins }, i) => {
    const kept = array(vec3f, 2);
    kept[i % 2] = m[i].mul(x[i]).add(g);
    kept[1 - (i % 2)] = q[i].rotate(x[i]);
    x[i] = kept[0].add(kept[1]).add(m[i].transpose().row(i % 3));
    x[i].y += z[i].mul(complexf(0, 2)).re;
    total.add(x[i]);
    bins.add(i % 4, x[i]);
    m[i] = m[i].inverse().add(m[i]);
  },
  () => [array, complexf, vec3f],
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
  ...reals(
    162,
    "matrices, quaternions, complex numbers; vectors as scalars, sums, scatter targets and private arrays",
    async (device, real) => {
      const double = real.type === "f64";
      const types = (double ? { m: mat3, q: quat, z: complex, x: vec3 } : { m: mat3f, q: quatf, z: complexf, x: vec3f }) as {
        m: typeof mat3;
        q: typeof quat;
        z: typeof complex;
        x: typeof vec3;
      };
      // Shears, whose determinant is 1, and turns of a quarter or a half, so that everything is exact.
      const shear = (i: number): Mat3 => mat3([1, i % 3, 2], [0, 1, (i % 5) - 2], [0, 0, 1]);
      const turn = (i: number): Quat => (i % 2 === 0 ? quat(0, 0, 1, 0) : quat(0.5, 0.5, 0.5, 0.5));
      const place = (i: number): Vec3 => vec3(start(i, 0), start(i, 1), start(i, 2));
      const all = Array.from({ length: COUNT }, (_, i) => i);
      const numbers = (values: readonly object[]): number[] => values.flatMap((value) => Object.values(value) as number[]);
      const m = device.from(types.m, numbers(all.map(shear)));
      const q = device.from(types.q, numbers(all.map(turn)));
      const z = device.from(
        types.z,
        make(2 * COUNT, (k) => (k % 7) - 3),
      );
      const x = device.from(types.x, numbers(all.map(place)));
      const bins = device.array(types.x, 4);
      const run = (double ? ofDoubles : ofSingles) as typeof ofDoubles;
      const { total } = await device.run(run, { g: types.x(1, -2, 3), m, q, z, x, bins }, range(COUNT));
      const moved = all.map((i) => {
        const im = ((2 * i + 1) % 7) - 3;
        const sum = shear(i)
          .mul(place(i))
          .add(vec3(1, -2, 3))
          .add(turn(i).rotate(place(i)));
        return sum.add(shear(i).column(i % 3)).add(vec3(0, -2 * im, 0));
      });
      expectSame(await device.queue.read(x), numbers(moved), "x");
      expectSame(await device.queue.read(m), numbers(all.map((i) => shear(i).inverse().add(shear(i)))), "m");
      const nothing = vec3(0, 0, 0);
      const folded = (of: readonly Vec3[]): Vec3 => of.reduce((a, b) => a.add(b), nothing);
      expectSame(numbers([total]), numbers([folded(moved)]), "total");
      expectSame(await device.queue.read(bins), numbers([0, 1, 2, 3].map((k) => folded(moved.filter((_, i) => i % 4 === k)))), "bins");
    },
  ),
];
