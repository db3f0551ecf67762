import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, fixed, i32, kernel, open, range, span, table, view } from "isoform";
import { agrees, doubles, integers, optimised } from "./lowered.js";
import { grid } from "../random/memory.js";

const x = view(f64),
  y = view(f64),
  n = view(i32);
const memory = () => ({ x: doubles(0.5, 2, -3, 4, 7), y: doubles(0, 0, 0, 0, 0), n: integers(0, 1, 2, 3, -1) });
const KIND = 3;

it("switch of integers over constants", () => {
  const kernels = [
    kernel(
      "groups",
      { x, y, n },
      ({ x, y, n }, i) => {
        switch (n[i]) {
          case 0:
            y[i] = 1;
            break;
          case 1:
          case -1: {
            const v = x[i] * 2;
            y[i] = v;
            break;
          }
          default:
            y[i] = 10;
            break;
          case KIND:
            y[i] = 20;
        }
      },
      () => [KIND],
    ),
    kernel("leaves", { x, y, n }, ({ x, y, n }, i) => {
      let s = 0;
      switch ((n[i] + 1) >>> 0) {
        case 1:
        case 2:
          if (x[i] > 1) {
            if (x[i] < 3) break;
            s += 1;
          }
          s += 10;
          break;
        case 4:
          if (x[i] > 3) {
            s += 7;
            if (x[i] > 100) break;
          } else break;
          s += 3;
          if (s > 1) break;
          s = 1000;
          break;
        case 0:
          return;
      }
      y[i] = s + 0.5;
    }),
    kernel("loops", { x, y, n }, ({ x, y, n }, i) => {
      all: for (let k = 0; k < 6; k++) {
        switch (k) {
          case 1:
            if (x[i] > 2) continue;
            y[i] += 1;
            break;
          case 2:
            for (let j = 0; j < 3; j++) {
              if (j === n[i]) break;
              y[i] += 10;
            }
            break;
          case 4:
            if (n[i] === 2) break all;
            y[i] += 100;
            continue all;
          default:
            switch (n[i]) {
              case 3:
                break;
              default:
                y[i] += 0.25;
            }
        }
        y[i] += 1000;
      }
    }),
    kernel("function", { x, y, n }, ({ x, y, n }, i) => {
      const value = (kind: number): number => {
        let a = 1;
        switch (kind) {
          case 0:
            return x[i];
          case 1:
            a = 2;
            if (x[i] > 1) return a + x[i];
            break;
          default:
            return -1;
        }
        return a;
      };
      const always = (kind: number): number => {
        switch (kind) {
          case 2:
          case 3:
            return 4;
          default:
            return 5;
        }
      };
      y[i] = value(n[i]) + 100 * always(n[i]);
    }),
    kernel("alone", { y, n }, ({ y, n }, i) => {
      switch (n[i]++) {
        default: {
          let k = 1;
          k += n[i];
          y[i] = k;
          if (k > 2) break;
          y[i] += 0.5;
        }
      }
      switch (n[i]) {
      }
    }),
  ];
  for (const k of kernels) assert.notDeepEqual([...agrees(k, memory(), 5).y.data], [0, 0, 0, 0, 0], k.name);
  const one = kernel("one", { y, order: fixed(i32) }, ({ y, order }, i) => {
    switch (order) {
      case 2:
        y[i] = 2;
        break;
      default:
        y[i] = 0;
    }
  });
  assert.equal(optimised(one, { order: 2 }), "y[i] = 2.0");
});

it("for-of goes over numbers, tables, arrays and rows", () => {
  const weights = table(f64, [0.25, 0.5, 0.125]);
  const offsets = table(i32, [
    [1, 0],
    [0, 2],
  ]);
  const kernels = [
    kernel(
      "spans",
      { x, y },
      ({ x, y }, i) => {
        for (const k of span(0, 4)) y[i] += k * x[i];
        for (const k of span(7, i, -3)) {
          if (k === 4) continue;
          y[i] += k;
        }
        for (let k of span(i, 9, 4)) {
          k += 1;
          if (k > 7) break;
          y[i] += 100 * k;
        }
        let stop = 3;
        for (const k of span(0, stop)) {
          stop = 5;
          y[i] += k * 1e4;
        }
      },
      () => [span],
    ),
    kernel(
      "tables",
      { y, offsets },
      ({ y, offsets }, i) => {
        for (const w of weights) y[i] += w;
        for (const [k, w] of weights.entries()) y[i] += 10 * k * w;
        outer: for (const row of offsets)
          for (const c of row) {
            if (c === i) continue outer;
            y[i] += 100 * c;
          }
        for (const [k, row] of offsets.entries()) y[i] += k + row[0] + row[1];
      },
      () => [weights],
    ),
    kernel(
      "arrays",
      { x, y },
      ({ x, y }, i) => {
        const a = new Float64Array(3);
        for (const k of span(0, 3)) a[k] = x[i] + k;
        for (const [k, v] of a.entries()) {
          a[2] = 50;
          y[i] += v * (k + 1);
        }
        for (let v of a) {
          v *= 2;
          y[i] += v;
        }
      },
      () => [span],
    ),
    kernel("views", { x, y, n }, ({ x, y, n }, i) => {
      for (const v of x) y[i] += v;
      for (const [k, v] of n.entries()) if (v > k) y[i] += 10 * v;
    }),
  ];
  for (const k of kernels) assert.notDeepEqual([...agrees(k, memory(), 5).y.data], [0, 0, 0, 0, 0], k.name);
  const rows = kernel("rows", { u: view(f64, 2), y }, ({ u, y }, i) => {
    for (const v of u[i]) y[i] += v;
  });
  assert.deepEqual([...agrees(rows, { u: grid("f64", [2, 3], [1, 2, 3, 4, 5, 6]), y: doubles(0, 0) }, 2).y.data], [6, 15]);
  const hand = kernel("hand", { x, y }, ({ x, y }, i) => {
    for (let k = 0; k < x.length; k++) y[i] += x[k];
  });
  const written = kernel(
    "hand",
    { x, y },
    ({ x, y }, i) => {
      for (const k of span(0, x.length)) y[i] += x[k];
    },
    () => [span],
  );
  assert.equal(optimised(written), optimised(hand));
  assert.deepEqual([...span(0, 3)], [0, 1, 2]);
  assert.deepEqual([...span(5, 0, -2)], [5, 3, 1]);
  assert.throws(() => span(0, 3, 0), /step 0/);
  assert.deepEqual([...weights], [0.25, 0.5, 0.125]);
  assert.deepEqual([...offsets.entries()][1], [1, [0, 2]]);
});

it("objects that variables hold", () => {
  const kernels = [
    kernel("swaps", { x, y }, ({ x, y }, i) => {
      let s = { a: x[i], b: 2 };
      const first = s;
      s = { a: s.b, b: s.a };
      if (x[i] > 1) s = { ...s, b: s.b + 10 };
      const { a, b } = s;
      y[i] = a + 100 * b + 1e4 * first.a + 1e6 * first.b;
    }),
    kernel("nested", { x, y }, ({ x, y }, i) => {
      let s = { p: { u: 0, v: 1 }, t: true };
      const before = s.p;
      for (let k = 0; k < 4; k++) s = { ...s, p: { ...s.p, u: s.p.u + x[i] }, t: !s.t };
      s = s.t ? s : { p: before, t: true };
      y[i] = s.p.u + s.p.v + before.u;
    }),
    kernel("later", { x, y }, ({ x, y }, i) => {
      let best;
      if (x[i] > 1) best = { value: x[i], place: i };
      else best = { value: -1, place: 7 };
      let q = 0,
        r = 0;
      ({ value: q, place: r } = best);
      y[i] = q + 100 * r;
    }),
    kernel("functions", { x, y }, ({ x, y }, i) => {
      const step = (s: { u: number; v: number }, h: number) => {
        s = { ...s, u: s.u + h * s.v };
        return { u: s.u, v: s.v - h };
      };
      let s = { u: x[i], v: 1 };
      for (let k = 0; k < 3; k++) s = step(s, 0.5);
      const t = x[i] > 2 ? { u: 1, v: s.v } : step(s, 2);
      y[i] = s.u + 10 * t.u + 100 * t.v;
    }),
    kernel("types", { x, y, n }, ({ x, y, n }, i) => {
      let s = { count: 0, total: 0, done: false };
      for (let k = 0; k < 5; k++) s = { count: s.count + n[k], total: s.total + x[k], done: s.count > 2 };
      y[i] = s.done ? s.total : s.count;
      const set = () => {
        s = { count: 1, total: 2, done: false };
        return 3;
      };
      const [a, b] = [s, set()];
      y[i] += 10 * a.total + b;
    }),
  ];
  for (const k of kernels) assert.notDeepEqual([...agrees(k, memory(), 5).y.data], [0, 0, 0, 0, 0], k.name);
});

it("Math.hypot of any number, and tests of numbers", () => {
  const edge = [NaN, Infinity, -Infinity, -0, 0.5, 3, 2 ** 53, -1e308];
  const tests = kernel("tests", { x, y, s: view(f32), n }, ({ x, y, s, n }, i) => {
    const bits = (v: number) => (Number.isNaN(v) ? 1 : 0) + (Number.isFinite(v) ? 2 : 0) + (Number.isInteger(v) ? 4 : 0);
    y[i] = bits(x[i]) + 10 * bits(s[i]) + 100 * bits(n[i]) + 1000 * bits(x[i] / 3) + (Number.isInteger(2.5) ? 1e6 : 0);
  });
  const found = agrees(
    tests,
    { x: doubles(...edge), y: doubles(...edge), s: grid("f32", [8], edge), n: integers(1, 2, 3, 4, 5, 6, 7, -8) },
    8,
  );
  assert.deepEqual(
    [...found.y.data].map((v) => v % 10),
    [1, 0, 0, 6, 2, 6, 6, 6],
  );
  const lengths = kernel("lengths", { x, y }, ({ x, y }, i) => {
    y[i] = Math.hypot(3, 4, 12) + Math.hypot() + Math.hypot(x[i]) + Math.hypot(x[i], x[i], x[i], x[i]);
  });
  const { y: sums } = agrees(lengths, { x: doubles(0, 1, -2, Infinity, NaN), y: doubles(0, 0, 0, 0, 0) }, 5);
  assert.deepEqual([...sums.data], [13, 16, 19, Infinity, NaN]);
});

it("functions may take functions", () => {
  const offsets = table(i32, [0, 1, 2]);
  const k = kernel(
    "each",
    { x, y },
    ({ x, y }, i) => {
      const each = (count: number, visit: (d: number) => void) => {
        for (let k = 0; k < count; k++) visit(offsets[k]);
      };
      let s = 0;
      each(3, (d) => {
        s += x[i + d];
      });
      y[i] = s;
    },
    () => [offsets],
  );
  assert.deepEqual([...agrees(k, memory(), 3).y.data], [-0.5, 3, 8, 0, 0]);
});

it("js-debug goes over views as the function is written, and watches what it reads", async () => {
  const device = await open("js-debug");
  const sums = kernel("sums", { u: view(f64, 2), x, y, weights: table(f64, [1, 10]) }, ({ u, x, y, weights }, i) => {
    for (const v of u[i]) y[i] += v;
    for (const [k, v] of x.entries()) y[i] += k * v;
    for (const [k, w] of weights.entries()) y[i] += k * w;
    for (const w of weights) y[i] += w;
  });
  const result = device.array(f64, 2);
  const given = { u: device.array(f64, [2, 2]), x: device.from(f64, [0.5, 2]), y: result };
  device.queue.write(given.u, [1, 2, 3, 4]);
  await device.run(sums, given, range(2));
  assert.deepEqual([...(await device.queue.read(result))], [26, 30]);
  const races = kernel("races", { y: view(f64, 1, { disjoint: true }) }, ({ y }, i) => {
    let s = 0;
    for (const v of y) s += v;
    y[i] = s;
  });
  await assert.rejects(device.run(races, { y: result }, range(2)), /y\[[01]\]/);
  await device.close();
});
