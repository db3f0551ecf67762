import { range, teams } from "../../device/policy.js";
import { kernel, teamKernel } from "../../kernel/kernel.js";
import { f32, f64, i32, max, scatter, sum, view } from "../../kernel/params.js";
import { foldChunk, strictFold } from "../strict-fold.js";
import { expectEqual, expectSame, make, noise, rung, type Rung } from "../rung.js";

const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const row = team.index;
  team.range(x[0].length, (j) => {
    y[row][j] = x[row][j] * 2 + row;
  });
});
const rowSums = teamKernel("rowSums", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const row = team.index;
  const total = team.sum(x[0].length, (j) => x[row][j]);
  const least = team.min(x[0].length, (j) => x[row][j]);
  const greatest = team.max(x[0].length, (j) => x[row][j]);
  team.single(() => {
    y[0][row] = total;
    y[1][row] = least;
    y[2][row] = greatest;
  });
});
const several = teamKernel("several", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const row = team.index;
  const r = team.reduce(x[0].length, { norm: "sum", low: "min", high: "max" }, (j, r) => {
    const v = x[row][j];
    r.norm.add(v * v);
    if (v > 0) r.low.min(v);
    r.high.max(v);
  });
  team.range(x[0].length, (j) => {
    y[row][j] = (x[row][j] - r.low) / (r.norm + r.high);
  });
});
const scratch = teamKernel("scratch", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const row = team.index;
  const held = team.scratch("f64", 64);
  team.range(64, (j) => {
    held[j] = x[row][j];
  });
  for (let pass = 0; pass < 3; pass++) {
    const shift = 1 << pass;
    team.range(64, (j) => {
      y[row][j] = held[(j + shift) % 64] + held[j];
    });
    team.range(64, (j) => {
      held[j] = y[row][j];
    });
  }
});
const totals = teamKernel("totals", { x: view(f64, 2), s: sum(f64), m: max(f64) }, ({ x, s, m }, team) => {
  const total = team.sum(x[0].length, (j) => x[team.index][j]);
  s.add(total);
  m.max(total);
});
const spread = teamKernel("spread", { at: view(i32, 2), x: view(f64, 2), h: scatter(f64) }, ({ at, x, h }, team) => {
  const row = team.index;
  team.range(x[0].length, (j) => {
    h.add(at[row][j], x[row][j]);
  });
});
const mixed = teamKernel("mixed", { at: view(i32, 2), x: view(f64, 2), h: scatter(f64) }, ({ at, x, h }, team) => {
  const row = team.index;
  h.add(at[row][0], 0.1);
  for (let turn = 0; turn < 2; turn++) {
    team.range(x[0].length, (j) => {
      if (x[row][j] > 0) h.add(at[row][j], x[row][j]);
      h.add(0, 0.7 * x[row][j]);
    });
  }
  const least = team.min(x[0].length, (j) => x[row][j]);
  if (row % 2 === 1)
    team.single(() => {
      h.add(1, least);
    });
  h.add(at[row][1], 0.3 * least);
});
const power = teamKernel("power", { a: view(f64, 3), y: view(f64, 2) }, ({ a, y }, team) => {
  const v = team.scratch("f64", 8);
  const w = team.scratch("f64", 8);
  team.range(8, (j) => {
    v[j] = 1;
  });
  let n = 0;
  let change = 1.0;
  while (change > 1e-3 && n < 10) {
    team.range(8, (j) => {
      let sum = 0;
      for (let k = 0; k < 8; k++) sum += a[team.index][j][k] * v[k];
      w[j] = sum;
    });
    const norm = Math.sqrt(team.sum(8, (j) => w[j] * w[j]));
    change = team.max(8, (j) => Math.abs(w[j] / norm - v[j]));
    team.range(8, (j) => {
      v[j] = w[j] / norm;
    });
    n++;
  }
  team.range(8, (j) => {
    y[team.index][j] = v[j];
  });
});
const shared = teamKernel("shared", { x: view(i32, 2), o: view(i32, 2), s: view(f32) }, ({ x, o, s }, team) => {
  const counts = team.scratch("i32", 16);
  const first = team.scratch("f32", 1);
  team.range(16, (j) => {
    counts[j] = 0;
  });
  team.single(() => {
    for (let j = 0; j < x[0].length; j++) counts[x[team.index][j]] = counts[x[team.index][j]] + 1;
    first[0] = Math.fround(x[team.index][0] * 0.1);
  });
  const most = team.max(16, (j) => counts[j]);
  team.range(16, (j) => {
    o[team.index][j] = counts[j] === most ? -counts[j] : counts[j];
  });
  s[team.index] = first[0];
});
const sizes = teamKernel("sizes", { y: view(i32) }, ({ y }, team) => {
  team.single(() => {
    y[team.index] = team.size > 0 ? 1 : 0;
  });
});
const after = kernel("after", { y: view(f64, 2), z: view(f64) }, ({ y, z }, i) => {
  z[i] = y[0][i] + y[2][i];
});

/** One partial a team, folded by the strict tree until one is left. */
const teamFold = (partials: number[]): number => (partials.length === 1 ? partials[0] : strictFold([partials], add, 0));
const add = (a: number, b: number): number => a + b;
const grid = (n: number, m: number): Float64Array[] => [...Array(n).keys()].map((i) => make(m, (j) => noise(i * m + j) - 0.4));
const flatten = (list: Float64Array[]): Float64Array =>
  make(list.length * list[0].length, (n) => list[Math.floor(n / list[0].length)][n % list[0].length]);

export const team: Rung[] = [
  rung(80, "members share out a range", async (device) => {
    for (const [n, m] of [
      [1, 1],
      [3, 70],
      [100, 33],
      [7, 1000],
    ]) {
      const xs = grid(n, m);
      const x = device.from(f64, flatten(xs), [n, m]),
        y = device.array(f64, [n, m]);
      await device.run(rows, { x, y }, teams(n));
      expectSame(await device.queue.read(y), flatten(xs.map((row, i) => row.map((v) => v * 2 + i))), `rows ${n} x ${m}`);
    }
    const y = device.array(i32, 50);
    await device.run(sizes, { y }, teams(50, { size: 4 }));
    expectSame(
      await device.queue.read(y),
      make(50, () => 1),
      "team sizes",
    );
  }),

  rung(81, "sums, least and greatest values of a team, by the strict tree", async (device) => {
    for (const m of [1, 7, 8, 9, 31, 64, 100, 1000]) {
      const xs = grid(20, m);
      const x = device.from(f64, flatten(xs), [20, m]),
        y = device.array(f64, [3, 20]),
        z = device.array(f64, 20);
      await device.run(rowSums, { x, y }, teams(20));
      const sums = xs.map((row) => foldChunk([...row], add, 0));
      expectSame(
        await device.queue.read(y),
        [...sums, ...xs.map((row) => Math.min(...row)), ...xs.map((row) => Math.max(...row))],
        `rows of ${m}`,
      );
      await device.run(after, { y, z }, range(20));
      expectSame(
        await device.queue.read(z),
        sums.map((s, i) => s + Math.max(...xs[i])),
        "a range kernel on a team's results",
      );
    }
  }),

  rung(82, "several results of a team in one pass, known to all members", async (device) => {
    const xs = grid(12, 45);
    const x = device.from(f64, flatten(xs), [12, 45]),
      y = device.array(f64, [12, 45]);
    await device.run(several, { x, y }, teams(12));
    expectSame(
      await device.queue.read(y),
      flatten(
        xs.map((row) => {
          const norm = foldChunk(
            [...row].map((v) => v * v),
            add,
            0,
          );
          const low = Math.min(...row.filter((v) => v > 0)),
            high = Math.max(...row);
          return row.map((v) => (v - low) / (norm + high));
        }),
      ),
      "normalised rows",
    );
  }),

  rung(83, "scratch memory, seen by all members after each step", async (device) => {
    const xs = grid(9, 64);
    const x = device.from(f64, flatten(xs), [9, 64]),
      y = device.array(f64, [9, 64]);
    await device.run(scratch, { x, y }, teams(9));
    expectSame(
      await device.queue.read(y),
      flatten(xs.map((row) => [0, 1, 2].reduce((held, pass) => held.map((v, j) => held[(j + (1 << pass)) % 64] + v), row))),
      "scratch",
    );
  }),

  rung(84, "loops of a team around its members' work", async (device) => {
    const matrices = grid(6, 64).map((m) => m.map((v, n) => (n % 9 === 0 ? 3 + v : v * 0.1)));
    const a = device.from(f64, flatten(matrices), [6, 8, 8]),
      y = device.array(f64, [6, 8]);
    await device.run(power, { a, y }, teams(6));
    expectSame(
      await device.queue.read(y),
      flatten(
        matrices.map((m) => {
          let v = make(8, () => 1);
          for (let n = 0, change = 1; change > 1e-3 && n < 10; n++) {
            const w = v.map((_, j) => v.reduce((sum, x, k) => sum + m[j * 8 + k] * x, 0));
            const norm = Math.sqrt(
              foldChunk(
                [...w].map((x) => x * x),
                add,
                0,
              ),
            );
            change = Math.max(...w.map((x, j) => Math.abs(x / norm - v[j])));
            v = w.map((x) => x / norm);
          }
          return v;
        }),
      ),
      "eigenvectors",
    );
  }),

  rung(85, "reductions over all teams", async (device) => {
    for (const n of [1, 5, 300, 1000]) {
      const xs = grid(n, 11);
      const x = device.from(f64, flatten(xs), [n, 11]);
      const sums = xs.map((row) => foldChunk([...row], add, 0));
      const result = await device.run(totals, { x }, teams(n));
      expectEqual(result.s, teamFold(sums.map((s) => 0 + s)), `total of ${n} teams`);
      expectEqual(result.m, Math.max(...sums), `greatest of ${n} teams`);
    }
    const none = await device.run(totals, { x: device.array(f64, [1, 3]) }, teams(0));
    expectSame([none.s, none.m], [0, -Infinity], "no teams");
  }),

  rung(86, "scatter from teams", async (device) => {
    const xs = grid(40, 50),
      ats = make(2000, (k) => Math.floor(noise(k) * 13));
    const x = device.from(f64, flatten(xs), [40, 50]),
      at = device.from(i32, ats, [40, 50]),
      h = device.array(f64, 13);
    const expected = new Float64Array(13);
    flatten(xs).forEach((v, k) => (expected[ats[k]] += v));
    await device.run(spread, { at, x, h }, teams(40));
    expectSame(await device.queue.read(h), expected, "spread in element order");

    const sums = new Float64Array(13);
    xs.forEach((row, t) => {
      const bin = (j: number) => ats[50 * t + j];
      sums[bin(0)] += 0.1;
      for (let turn = 0; turn < 2; turn++)
        row.forEach((v, j) => {
          if (v > 0) sums[bin(j)] += v;
          sums[0] += 0.7 * v;
        });
      if (t % 2 === 1) sums[1] += Math.min(...row);
      sums[bin(1)] += 0.3 * Math.min(...row);
    });
    const mixture = device.array(f64, 13);
    await device.run(mixed, { at, x, h: mixture }, teams(40), { precision: "strict" });
    expectSame(await device.queue.read(mixture), sums, "a team's own contributions and its members', in order");
  }),

  rung(87, "teams of any size give the same bits", async (device) => {
    const xs = grid(30, 77);
    const x = device.from(f64, flatten(xs), [30, 77]);
    const sums = xs.map((row) => foldChunk([...row], add, 0));
    for (const size of [1, 3, 32, 100, 256]) {
      const y = device.array(f64, [3, 30]);
      await device.run(rowSums, { x, y }, teams(30, { size }));
      expectSame(
        await device.queue.read(y),
        [...sums, ...xs.map((row) => Math.min(...row)), ...xs.map((row) => Math.max(...row))],
        `teams of ${size}`,
      );
    }
  }),

  rung(88, "scratch of several types, and work of a single member", async (device) => {
    const values = make(25 * 200, (k) => Math.floor(noise(k) * 16));
    const x = device.from(i32, values, [25, 200]),
      o = device.array(i32, [25, 16]),
      s = device.array(f32, 25);
    await device.run(shared, { x, o, s }, teams(25));
    const counts = [...Array(25).keys()].map((t) => make(16, (b) => values.slice(t * 200, (t + 1) * 200).filter((v) => v === b).length));
    expectSame(await device.queue.read(o), flatten(counts.map((row) => row.map((c) => (c === Math.max(...row) ? -c : c)))), "counts");
    expectSame(
      await device.queue.read(s),
      make(25, (t) => Math.fround(values[t * 200] * 0.1)),
      "first values",
    );
  }),

  rung(89, "more teams than 16 bits can count", async (device) => {
    const n = 70_001;
    const values = make(n * 2, (k) => (k % 1000) / 8);
    const x = device.from(f64, values, [n, 2]);
    const result = await device.run(totals, { x }, teams(n));
    const sums = [...Array(n).keys()].map((t) => values[2 * t] + values[2 * t + 1]);
    expectEqual(result.s, teamFold(sums), "total of all teams");
    expectEqual(
      result.m,
      sums.reduce((a, b) => Math.max(a, b)),
      "greatest of all teams",
    );
  }),
];
