import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  array,
  fixed,
  reducer,
  struct,
  structArrays,
  table,
  complex,
  f64,
  kernel,
  LaunchError,
  mat2,
  mat3,
  mat3f,
  mat4,
  max,
  min,
  open,
  quat,
  range,
  scatter,
  span,
  sum,
  vec2,
  vec2i,
  vec3,
  vec4,
  view,
  type Device,
  type Mat3,
  type Quat,
  type Vec3,
} from "isoform";
import { dense } from "isoform/grid";
import { hooks } from "isoform/hooks";
import { devices } from "isoform/set";
import { optimised } from "./lowered.js";

/** Runs on devices of this machine, in strict mode; all give the same, which it returns. */
async function everywhere<T>(run: (device: Device) => Promise<T>): Promise<T> {
  const found: T[] = [];
  for (const name of ["js", "wasm", "js-debug"]) {
    const device = await open(name);
    found.push(await run(device));
    await device.close();
  }
  for (const each of found) assert.deepEqual(each, found[0]);
  return found[0];
}

/** Some numbers between -1 and 1. */
const numbers = (n: number, seed = 0): number[] => Array.from({ length: n }, (_, k) => (Math.sin(12.9898 * k + seed) * 43758.5453) % 1);
const near = (a: number, b: number, most = 1e-14): void => assert.ok(Math.abs(a - b) <= most * (1 + Math.abs(b)), `${a} is not ${b}`);
const unit = (m: Mat3): boolean => [0, 1, 2].every((r) => [0, 1, 2].every((c) => Math.abs(m.at(r, c) - (r === c ? 1 : 0)) < 1e-12));

describe("values of several numbers", () => {
  it("are parameters of launches, results of reductions, targets of scatters and elements of private arrays", async () => {
    const push = kernel(
      "push",
      {
        g: vec3,
        m: mat2,
        x: view(vec3),
        total: sum(vec3),
        least: min(vec3),
        greatest: max(vec2),
        bins: scatter(vec3),
        least2: scatter(vec2i, 2, "min"),
      },
      ({ g, m, x, total, least, greatest, bins, least2 }, i) => {
        const trail = array(vec3, 3);
        for (const k of span(0, 3)) trail[k] = x[i].scale(k + 1);
        trail[1].y += 10;
        trail[0] = trail[2].add(trail[1]);
        let w = g;
        for (const t of trail) w = w.add(t);
        x[i] = w;
        total.add(w);
        least.min(w);
        greatest.max(m.mul(w.xy));
        bins.add(i % 2, w);
        least2.min(i % 2, 0, vec2i(i, -i));
      },
      () => [array, span, vec3, vec2i],
    );
    const given = numbers(15);
    const found = await everywhere(async (device) => {
      const [x, bins] = [device.from(vec3, given), device.array(vec3, 2)];
      const least2 = device.from(vec2i, Array<number>(4).fill(100), [2, 1]);
      assert.deepEqual(
        [x.shape, bins.shape, least2.shape],
        [
          [5, 3],
          [2, 3],
          [2, 1, 2],
        ],
      );
      const args = { g: vec3(1, 2, 3), m: mat2(0, 1, 1, 0), x, bins, least2, total: vec3(100, 0, 0) };
      const results = await device.run(push, args, range(5), { precision: "strict" });
      return [results, ...(await Promise.all([x, bins, least2].map(async (each) => [...(await device.queue.read(each))])))] as const;
    });
    const [{ total, least, greatest }, x, bins, least2] = found;
    const rows = Array.from({ length: 5 }, (_, i) => vec3(x[3 * i], x[3 * i + 1], x[3 * i + 2]));
    for (const [i, row] of rows.entries()) {
      const own = vec3(given[3 * i], given[3 * i + 1], given[3 * i + 2]);
      near(
        row.distance(
          vec3(1, 2, 3)
            .add(own.scale(10))
            .add(vec3(0, 20, 0)),
        ),
        0,
      );
    }
    near(total.sub(rows.reduce((a, b) => a.add(b), vec3(100, 0, 0))).length(), 0, 1e-12);
    assert.deepEqual(
      least,
      rows.reduce((a, b) => a.min(b)),
    );
    assert.deepEqual(
      greatest,
      rows.map(({ x, y }) => vec2(y, x)).reduce((a, b) => a.max(b)),
    );
    near(bins[0], rows[0].x + rows[2].x + rows[4].x);
    assert.deepEqual(least2, [0, -4, 1, -3]);
  });

  it("keep their laws: inverses, rotations, products of complex numbers", async () => {
    const laws = kernel(
      "laws",
      { m: view(mat3), m4: view(mat4), q: view(quat), z: view(complex), v: view(vec3), y: view(f64, 2) },
      ({ m, m4, q, z, v, y }, i) => {
        const inverse = m4[i]
          .inverse()
          .mul(m4[i])
          .sub(mat4([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], vec4(0, 0, 0, 1)));
        for (const r of span(0, 4)) y[i][0] += inverse.row(r).dot(inverse.row(r));
        const turn = q[i].normalize();
        y[i][1] = turn.rotate(v[i]).distance(turn.matrix().mul(v[i]));
        y[i][2] = m[i].mul(m[i].transpose()).determinant() - m[i].determinant() * m[i].determinant();
        const w = z[i].div(z[i].conj());
        y[i][3] = w.abs() - 1;
        y[i][4] = w.arg() - 2 * z[i].arg();
        y[i][5] = m[i].with(1, 2, 7).at(1, 2) + m[i].trace() - m[i].column(0).x;
        m[i] = m[i].inverse();
        m[i].m00 += 1;
      },
      () => [mat4, vec4, span],
    );
    const n = 6;
    const [y, m] = await everywhere(async (device) => {
      const views = {
        m: device.from(mat3, numbers(9 * n, 1)),
        m4: device.from(mat4, numbers(16 * n, 2)),
        q: device.from(quat, numbers(4 * n, 3)),
        // With angles below a quarter turn, so that twice the angle is one.
        z: device.from(
          complex,
          numbers(n, 4).map((im) => complex(2, im)),
        ),
        v: device.from(vec3, numbers(3 * n, 5)),
        y: device.array(f64, [n, 6]),
      };
      await device.run(laws, views, range(n), { precision: "strict" });
      return [[...(await device.queue.read(views.y))], [...(await device.queue.read(views.m))]];
    });
    for (let i = 0; i < n; i++) {
      const [given, own] = [numbers(9 * n, 1).slice(9 * i, 9 * i + 9), m.slice(9 * i, 9 * i + 9)];
      own[0] -= 1;
      const of = (list: number[]): Mat3 => mat3(list.slice(0, 3) as never, list.slice(3, 6) as never, list.slice(6) as never);
      assert.ok(unit(of(given).mul(of(own))), `inverse ${i}`);
      for (const k of [0, 1, 2, 3, 4]) near(y[6 * i + k], 0, 1e-10);
      near(y[6 * i + 5], 7 + given[4] + given[8]);
    }
  });

  it("have inverses within a few roundings", () => {
    let worst = 0;
    for (let seed = 0; seed < 2000; seed++) {
      const m = mat4(...(numbers(16, seed * 1.7) as Parameters<typeof mat4>));
      const inverse = m.inverse();
      const off = inverse.mul(m);
      const largest = Math.max(...[0, 1, 2, 3].flatMap((r) => [0, 1, 2, 3].map((c) => Math.abs(inverse.at(r, c)))));
      for (const r of [0, 1, 2, 3])
        for (const c of [0, 1, 2, 3]) worst = Math.max(worst, Math.abs(off.at(r, c) - (r === c ? 1 : 0)) / (largest * largest + 1));
    }
    assert.ok(worst < 2e-15, `${worst}`);
  });

  it("cost the code that their components would cost", () => {
    const text = (k: unknown): string => optimised(k as never);
    const values = kernel("k", { g: vec3, x: view(vec3) }, ({ g, x }, i) => {
      x[i] = x[i].add(g.scale(2));
    });
    const byHand = kernel("k", { g_x: f64, g_y: f64, g_z: f64, x: view(f64, 2) }, ({ g_x, g_y, g_z, x }, i) => {
      const part_x = x[i][0] + g_x * 2;
      const part_y = x[i][1] + g_y * 2;
      const part_z = x[i][2] + g_z * 2;
      x[i][0] = part_x;
      x[i][1] = part_y;
      x[i][2] = part_z;
    });
    assert.equal(text(values), text(byHand));
  });

  it("are told apart by plain functions, too", () => {
    const [v, q] = [vec3(1, 2, 3), quat(0, 0, 0, 1)];
    const refused: [() => unknown, RegExp][] = [
      [() => v.add(vec2(1, 2) as unknown as Vec3), /add takes a vec3, and is given vec2; give vec3\(x, y, z\)/],
      [() => v.scale(v as unknown as number), /scale takes a number, and is given vec3/],
      [() => v.at(3), /at is given 3 as the place of a component, and a vec3 has 3/],
      [() => mat3f(...([1] as never)), /mat3f has 9 components, and is given 1/],
      [() => (vec3 as unknown as (a: unknown) => unknown)("x"), /vec3 takes numbers, and is given a string/],
      [() => vec3(vec2i(1, 2) as never, 1), /vec3 takes numbers, and is given vec2i/],
      [() => mat3(v, v, v).mul(q as unknown as Vec3), /mul takes a mat3/],
      [() => array(vec3, 2)[2], /index 2 is outside an array of 2 vec3/],
    ];
    for (const [run, message] of refused) assert.throws(run, (e) => e instanceof LaunchError && message.test(e.message), String(message));
    assert.equal(String(q.rotate(v)), "vec3(1, 2, 3)");
    assert.throws(() => ((v as { x: number }).x = 1), TypeError);
  });

  it("are refused as arguments of another type, with names that the author knows", async () => {
    const device = await open("js");
    const k = kernel("k", { g: vec3, x: view(mat2), p: sum(vec3), h: scatter(vec3) }, ({ g, x, p, h }, i) => {
      p.add(g);
      h.add(i, g.scale(x[i].trace()));
    });
    const good = { g: vec3(0, 0, 0), x: device.array(mat2, 1), h: device.array(vec3, 1) };
    const refused: [object, RegExp][] = [
      [{ ...good, g: 3 }, /kernel "k": g is a vec3, and is given 3; give vec3\(x, y, z\)/],
      [{ x: good.x, h: good.h }, /g is a vec3, and is given nothing/],
      [{ ...good, g: vec2(1, 2) }, /g is a vec3, and is given vec2/],
      [{ ...good, g_x: 1 }, /no parameter "g_x"; it takes g, x, p, h/],
      [{ ...good, q: 1 }, /no parameter "q"; it takes g, x, p, h/],
      [
        { ...good, x: device.array(f64, [1, 4]) },
        /x is view\(mat2\), and is given a view of shape \[1,4\]; give one of rank 3 with 2 x 2 components along the last axes: device\.array\(mat2, n\)/,
      ],
      [{ ...good, x: device.array(f64, [1, 2, 3]) }, /x is view\(mat2\), .* shape \[1,2,3\]/],
      [{ ...good, h: device.array(f64, [1, 4]) }, /h is scatter\(vec3\)/],
      [{ ...good, p: 1 }, /p is a reduction of vec3, and is given 1; give a vec3, a view of 3 elements, or nothing/],
      [{ ...good, p: device.array(f64, 2) }, /p is a reduction of vec3, and is given a view of shape \[2\]/],
    ];
    for (const [args, message] of refused) await assert.rejects(() => device.run(k, args as never, range(1)), message, String(message));
    const into = device.array(f64, 3);
    await device.run(k, { ...good, g: vec3(1, 2, 3), p: into }, range(1));
    assert.deepEqual([...(await device.queue.read(into))], [1, 2, 3]);
    const launch = device.prepare(k, good, range(1));
    launch.submit({ g: vec3(5, 6, 7) });
    assert.deepEqual(await device.queue.results(launch), { p: vec3(5, 6, 7) } as unknown);
    assert.throws(() => device.from(vec3, [vec2(1, 2) as unknown as Vec3]), /value 0 is a vec3, and is given vec2/);
    assert.throws(() => device.from(vec3, [1, 2, 3, 4]), /4 values for a view of shape \[2,3\]/);
    await device.close();
  });

  it("are no numbers: what takes the type of one number refuses them", async () => {
    const device = await open("js");
    const number = vec3 as never;
    const Point = struct("Point", { at: vec3 });
    const grid = dense(await devices([device]), [4, 4]);
    const refused: [() => unknown, RegExp][] = [
      [() => reducer(number as never, 0 as never, (a: never) => a), /reducer\(\.\.\.\) .* is given a function for a type/],
      [() => fixed(number), /fixed\(\.\.\.\) .* is given a function for a type/],
      [() => table(number, [1]), /table\(\.\.\.\) .* is given a function for a type/],
      [() => sum(number, 3), /has components by itself; write sum\(vec3\)/],
      [() => view(vec3, 7), /has 7 axes of vec3; use at most 6/],
      [() => grid.field("u", number), /field "u" needs an element type/],
      [() => grid.scalar("s", number), /scalar "s" needs an element type/],
      [() => array(f64 as never, 3), /array takes a type of vectors, matrices and the like, and is given .*; write array\(vec3, 8\)/],
      [() => device.array(Point as never, 3), /an array of Point is an array for each field: write structArrays\(device, Point, n\)/],
      [() => structArrays(device, f64 as never, 3), /arrays of records are given .* for their type/],
    ];
    for (const [run, message] of refused) assert.throws(run, message, String(message));
    await device.close();
  });

  it("count as their bytes for tools that watch", async () => {
    const device = await open("js");
    const bytes: number[] = [];
    const stop = hooks.attach({ beginCopy: (copy) => void bytes.push(copy.bytes) });
    device.from(vec3, [vec3(1, 2, 3), vec3(4, 5, 6)]);
    device.from(vec3, [1, 2, 3]);
    stop();
    assert.deepEqual(bytes, [48, 24]);
    await device.close();
  });

  it("keep the names of their parts apart from other parameters", async () => {
    const device = await open("js");
    const k = kernel("k", { g: vec2, g_x: f64, g_x_: f64, y: view(f64) }, ({ g, g_x, g_x_, y }, i) => {
      y[i] = g.x + 10 * g.y + 100 * g_x + 1000 * g_x_;
    });
    const y = device.array(f64, 1);
    await device.run(k, { g: vec2(1, 2), g_x: 3, g_x_: 4, y }, range(1));
    assert.deepEqual([...(await device.queue.read(y))], [4321]);
    await device.close();
  });

  it("have results with types", () => {
    const turn: (q: Quat, v: Vec3) => Vec3 = (q, v) => q.rotate(v);
    assert.deepEqual(turn(quat(0, 0, Math.SQRT1_2, Math.SQRT1_2), vec3(1, 0, 0)).at(2), 0);
  });
});
