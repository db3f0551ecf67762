import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ElementType } from "../../src/ir/types.js";
import {
  f32,
  f64,
  i32,
  kernel,
  open,
  range,
  span,
  vec2,
  vec2i,
  vec3,
  vec3f,
  vec4,
  view,
  type Kernel,
  type Vec3,
  type ViewToken,
} from "isoform";
import { optimised } from "./lowered.js";

const y = view(f64);
const v = view(vec3);

/** Runs a kernel on devices of this machine, with the given contents of each view; all leave the same bits, which it gives. */
async function everywhere(
  k: unknown,
  contents: Readonly<Record<string, number[][]>>,
  n: number,
): Promise<Record<string, readonly number[]>> {
  const found: Record<string, readonly number[]>[] = [];
  for (const name of ["js", "wasm", "js-debug"]) {
    const device = await open(name);
    const { params } = k as Kernel<Record<string, ViewToken>>;
    const types: Partial<Record<ElementType, typeof f64 | typeof f32 | typeof i32>> = { f64, f32, i32 };
    const views = Object.fromEntries(
      Object.entries(contents).map(([name, rows]) => {
        const { element, rank } = params[name];
        return [name, device.array(types[element]!, rank === 1 ? [rows.length] : [rows.length, rows[0].length])];
      }),
    );
    for (const [name, rows] of Object.entries(contents)) device.queue.write(views[name], rows.flat());
    await device.run(k as Kernel, views, range(n), { precision: "strict" });
    found.push(
      Object.fromEntries(
        await Promise.all(Object.keys(views).map(async (name) => [name, [...(await device.queue.read(views[name]))]] as const)),
      ),
    );
    await device.close();
  }
  for (const each of found) assert.deepEqual(each, found[0]);
  return found[0];
}
const ROWS = [
  [1, 2, 3],
  [-0.5, 4, 0.1],
  [3, -7, 1e-3],
];
const zeros = () => ROWS.map(() => [0]);

describe("vectors", () => {
  it("have the methods of their type, in a fixed order of operations", async () => {
    const bend = (a: Vec3, axis: Vec3, s: number): Vec3 => (s < 0 ? a : a.add(a.cross(axis).scale(s)).normalize());
    const k = kernel(
      "methods",
      { x: v, v, y },
      ({ x, v, y }, i) => {
        const w = bend(v[i].add(vec3(0, -9.81, i)), vec3(0, 0, 1), v[i].x);
        x[i] = x[i]
          .add(w.scale(0.1))
          .mul(w.neg())
          .min(vec3(1, 2, 3))
          .max(w.sub(v[i]).abs());
        x[i].z += 1;
        y[i] = w.dot(x[i]) + w.length() + w.distance(v[i]) + w.at(i) + w.with(i, 3).at(2);
        v[i] = w;
      },
      () => [vec3, bend],
    );
    const { x, y: sums } = await everywhere(k, { x: ROWS, v: ROWS, y: zeros() }, 3);
    ROWS.forEach((row, i) => {
      const old = vec3(row[0], row[1], row[2]);
      const w = bend(old.add(vec3(0, -9.81, i)), vec3(0, 0, 1), old.x);
      const at = old
        .add(w.scale(0.1))
        .mul(w.neg())
        .min(vec3(1, 2, 3))
        .max(w.sub(old).abs());
      assert.deepEqual(x.slice(3 * i, 3 * i + 3), [at.x, at.y, at.z + 1]);
      const moved = at.with(2, at.z + 1);
      assert.equal(sums[i], w.dot(moved) + w.length() + w.distance(old) + w.at(i) + w.with(i, 3).at(2));
    });
  });

  it("are what code by hand is", () => {
    const written = kernel("push", { x: v, v }, ({ x, v }, i) => {
      const w = v[i].scale(0.5);
      x[i] = x[i].add(w);
    });
    const hand = kernel("push", { x: view(f64, 2), v: view(f64, 2) }, ({ x, v }, i) => {
      const wx = v[i][0] * 0.5,
        wy = v[i][1] * 0.5,
        wz = v[i][2] * 0.5;
      const px = x[i][0] + wx,
        py = x[i][1] + wy,
        pz = x[i][2] + wz;
      x[i][0] = px;
      x[i][1] = py;
      x[i][2] = pz;
    });
    /** Locals by the order in which they come. */
    const plain = (text: string): string => {
      const names = [...new Set(Array.from(text.matchAll(/let (\w+)/g), (found) => found[1]))];
      return text.replace(/\b[a-zA-Z]\w*\b/g, (word) => (names.includes(word) ? `t${names.indexOf(word)}` : word));
    };
    assert.equal(plain(optimised(written)), plain(optimised(hand)));
  });

  it("are settled before the first store, and copied where they get a name", async () => {
    const k = kernel(
      "swaps",
      { x: v, y },
      ({ x, y }, i) => {
        const before = x[i];
        x[i] = vec3(x[i].z, x[i].x, x[i].y);
        const pair = { a: before, b: x[i] };
        let q = pair.a;
        for (const k of span(0, 2)) q = k === i ? q.add(pair.b) : vec3(q.y, q.x, q.z);
        let later;
        if (q.x > 1) later = q;
        else later = q.neg();
        x[i].x = before.x;
        x[i] = (x[i].y = i + 5) > 4 ? x[i] : before;
        const { z } = later;
        y[i] = before.x + 10 * z + 100 * x[i].y + 1000 * later.x;
      },
      () => [vec3, span],
    );
    const { y: sums } = await everywhere(
      k,
      {
        x: [
          [1, 2, 3],
          [-4, 5, 6],
          [7, -8, 9],
        ],
        y: zeros(),
      },
      3,
    );
    assert.deepEqual(sums, [1 + 50 + 500 + 3000, -4 + 110 + 600 + 11000, 7 + 90 + 700 + 7000]);
  });

  it("go into functions, and come out of each of their returns", async () => {
    const k = kernel(
      "functions",
      { x: v, y },
      ({ x, y }, i) => {
        const reflected = (a: Vec3, wall: number): Vec3 => {
          a = a.sub(vec3(0, wall, 0));
          if (a.y > 3) return a.neg();
          for (const k of span(0, 3)) if (a.at(k) < -5) return vec3(k, k, k);
          return a;
        };
        const split = (a: Vec3) => ({ flat: a.with(2, 0), height: a.z });
        const { flat, height } = split(reflected(x[i], 1));
        const back = split(flat.add(x[i]));
        x[i] = flat;
        y[i] = height + 10 * back.flat.length() + back.height;
      },
      () => [vec3, span],
    );
    const { x } = await everywhere(k, { x: [...ROWS, [2, 9, 1]], y: [...zeros(), [0]] }, 4);
    assert.deepEqual(x, [1, 1, 0, -0.5, 3, 0, 1, 1, 0, -2, -8, 0]);
  });

  it("hold f32 and i32, two and four components", async () => {
    const single = kernel(
      "single",
      { x: view(vec3f), y },
      ({ x, y }, i) => {
        x[i] = x[i].normalize().add(vec3f(0.1, 0, Math.fround(+i / 3)));
        y[i] = x[i].dot(x[i]);
      },
      () => [vec3f],
    );
    const { x, y: sums } = await everywhere(single, { x: ROWS, y: zeros() }, 3);
    ROWS.forEach(([a, b, c], i) => {
      const w = vec3f(a, b, c)
        .normalize()
        .add(vec3f(0.1, 0, Math.fround(+i / 3)));
      assert.deepEqual([x.slice(3 * i, 3 * i + 3), sums[i]], [[w.x, w.y, w.z], w.dot(w)]);
    });
    const whole = kernel(
      "whole",
      { n: view(vec2i), y, q: view(vec4) },
      ({ n, y, q }, i) => {
        n[i] = n[i].mul(vec2i(3, -1)).sub(vec2i(i, 1)).max(vec2i(-2, -2));
        y[i] = n[i].cross(vec2i(1, 2)) + vec2(1, 2).cross(vec2(i, 0.5)) + vec4(1, 2, 3, 4).dot(q[i]);
      },
      () => [vec2i, vec2, vec4],
    );
    const found = await everywhere(
      whole,
      {
        n: [
          [1, 2],
          [3, 4],
          [-5, 6],
        ],
        y: zeros(),
        q: [
          [1, 1, 1, 1],
          [0, 1, 0, 0],
          [0, 0, 0, 0.5],
        ],
      },
      3,
    );
    assert.deepEqual(found.n, [3, -2, 8, -2, -2, -2]);
    assert.deepEqual(found.y, [6 + 2 + 0.5 + 10, 16 + 2 + 0.5 - 2 + 2, -4 + 2 + 0.5 - 4 + 2]);
  });

  it("of i32 wrap, as the plain functions say", async () => {
    const k = kernel("wraps", { n: view(vec2i) }, ({ n }, i) => {
      n[i] = n[i].add(n[i]).mul(n[i]).neg();
    });
    const { n } = await everywhere(k, { n: [[2147483647, -2147483648]] }, 1);
    const a = vec2i(2147483647, -2147483648);
    const b = a.add(a).mul(a).neg();
    assert.deepEqual(n, [b.x, b.y]);
  });

  it("are checked when called as plain functions", () => {
    assert.throws(() => vec3(1, 2, 3).at(3), /at is given 3 as the place of a component, and a vec3 has 3/);
    assert.throws(() => ((vec2(1, 2) as { x: number }).x = 3), TypeError);
    assert.throws(() => view(vec3, 7 as 1), /has 7 axes of vec3; use at most 6/);
  });

  it("need arrays of as many components", async () => {
    const device = await open("js");
    const k = kernel("k", { x: v }, ({ x }, i) => {
      x[i] = x[i].neg();
    });
    await assert.rejects(
      async () => device.run(k, { x: device.array(f64, [4, 4]) }, range(4)),
      /x is view\(vec3\).* shape \[4,4\].* 3 components along the last axis/,
    );
    await device.close();
  });
});
