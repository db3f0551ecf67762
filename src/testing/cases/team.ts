import { range, teams } from "../../device/launch/policy.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { f32, i32, max, scatter, sum, u32, view } from "../../kernel/declare/params.js";
import { foldChunk, strictFold } from "../strict-fold.js";
import { expectEqual, expectSame } from "../expect.js";
import { adding, arrayOf, ofType, type Rounding } from "../real.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const rows = ofType((real) =>
  teamKernel("rows", { x: view(real, 2), y: view(real, 2) }, ({ x, y }, team) => {
    const row = team.index;
    team.range(x[0].length, (j) => {
      y[row][j] = x[row][j] * 2 + row;
    });
  }),
);
const rowSums = ofType((real) =>
  teamKernel("rowSums", { x: view(real, 2), y: view(real, 2) }, ({ x, y }, team) => {
    const row = team.index;
    const total = team.sum(x[0].length, (j) => x[row][j]);
    const least = team.min(x[0].length, (j) => x[row][j]);
    const greatest = team.max(x[0].length, (j) => x[row][j]);
    team.single(() => {
      y[0][row] = total;
      y[1][row] = least;
      y[2][row] = greatest;
    });
  }),
);
const several = ofType((real) =>
  teamKernel("several", { x: view(real, 2), y: view(real, 2) }, ({ x, y }, team) => {
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
  }),
);
const scratch = ofType((real) =>
  teamKernel("scratch", { x: view(real, 2), y: view(real, 2), Real: arrayOf(real) }, ({ x, y, Real }, team) => {
    const row = team.index;
    const held = team.scratch(Real, 64);
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
  }),
);
const chosenSums = ofType((real) =>
  teamKernel("chosenSums", { n: i32, o: view(real, 2), Real: arrayOf(real) }, ({ n, o, Real }, team) => {
    const held = team.scratch(Real, 25);
    team.range(25, (j) => {
      held[j] = team.index + ((j * 7) % 11);
    });
    o[team.index][0] = team.sum(25, (j) => held[(j + 1) % n]);
    o[team.index][1] = team.sum(25, (j) => held[j] * (n > 3 ? held[(j + n) % 25] : 2));
    o[team.index][2] = team.sum(25, (j) => (j % n === 3 ? 0 : Math.min(held[j], held[(j + 3) % n])));
  }),
);
/** Sums and greatest values of the first elements, as many as are asked of each team. */
const prefixes = ofType((type: typeof i32) =>
  teamKernel("prefixes", { counts: view(i32), x: view(type), o: view(type, 2) }, ({ counts, x, o }, team) => {
    const n = counts[team.index];
    o[0][team.index] = team.sum(n, (j) => x[j]);
    o[1][team.index] = team.max(n, (j) => x[j]);
  }),
);
const totals = ofType((real) =>
  teamKernel("totals", { x: view(real, 2), s: sum(real), m: max(real) }, ({ x, s, m }, team) => {
    const total = team.sum(x[0].length, (j) => x[team.index][j]);
    s.add(total);
    m.max(total);
  }),
);
const spread = ofType((real) =>
  teamKernel("spread", { at: view(i32, 2), x: view(real, 2), h: scatter(real) }, ({ at, x, h }, team) => {
    const row = team.index;
    team.range(x[0].length, (j) => {
      h.add(at[row][j], x[row][j]);
    });
  }),
);
const mixed = ofType((real) =>
  teamKernel("mixed", { at: view(i32, 2), x: view(real, 2), h: scatter(real) }, ({ at, x, h }, team) => {
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
  }),
);
/** Rows of several lengths, so that data decide how often elements scatter; sums in the order of lanes, scatters in element order. */
const ragged = ofType((real) =>
  teamKernel(
    "ragged",
    { begin: view(i32), at: view(i32, 2), x: view(real, 2), y: view(real), h: scatter(real) },
    ({ begin, at, x, y, h }, team) => {
      const row = team.index;
      const total = team.reduce(begin[row + 1] - begin[row], { s: "sum" }, (j, r) => {
        r.s.add(x[row][j]);
        h.add(at[row][j], x[row][j]);
      });
      y[row] = total.s;
    },
  ),
);
const power = ofType((real) =>
  teamKernel("power", { a: view(real, 3), y: view(real, 2), Real: arrayOf(real) }, ({ a, y, Real }, team) => {
    const v = team.scratch(Real, 8);
    const w = team.scratch(Real, 8);
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
  }),
);
const shared = ofType((real) =>
  teamKernel("shared", { x: view(i32, 2), o: view(i32, 2), s: view(real), Real: arrayOf(real) }, ({ x, o, s, Real }, team) => {
    const counts = team.scratch("i32", 16);
    const first = team.scratch(Real, 1);
    team.range(16, (j) => {
      counts[j] = 0;
    });
    team.single(() => {
      for (let j = 0; j < x[0].length; j++) counts[x[team.index][j]] = counts[x[team.index][j]] + 1;
      first[0] = x[team.index][0];
    });
    const most = team.max(16, (j) => counts[j]);
    team.range(16, (j) => {
      o[team.index][j] = counts[j] === most ? -counts[j] : counts[j];
    });
    s[team.index] = first[0] * 0.1;
  }),
);
const sizes = teamKernel("sizes", { y: view(i32) }, ({ y }, team) => {
  team.single(() => {
    y[team.index] = team.size > 0 ? 1 : 0;
  });
});
const after = ofType((real) =>
  kernel("after", { y: view(real, 2), z: view(real) }, ({ y, z }, i) => {
    z[i] = y[0][i] + y[2][i];
  }),
);

/** One partial a team, folded by the strict tree until one is left. */
const teamFold = (partials: number[], r: Rounding): number => (partials.length === 1 ? partials[0] : strictFold([partials], adding(r), 0));
const grid = (n: number, m: number, r: Rounding): Float64Array[] =>
  [...Array(n).keys()].map((i) => make(m, (j) => r(noiseValue(i * m + j) - 0.4)));
const flatten = (list: Float64Array[]): Float64Array =>
  make(list.length * list[0].length, (n) => list[Math.floor(n / list[0].length)][n % list[0].length]);

export const team: ConformanceCase[] = [
  ...reals(80, "members share out a range", async (device, real, r) => {
    for (const [n, m] of [
      [1, 1],
      [3, 70],
      [100, 33],
      [7, 1000],
    ]) {
      const xs = grid(n, m, r);
      const x = device.from(real, flatten(xs), [n, m]),
        y = device.array(real, [n, m]);
      await device.run(rows(real), { x, y }, teams(n));
      expectSame(await device.queue.read(y), flatten(xs.map((row, i) => row.map((v) => r(v * 2 + i)))), `rows ${n} x ${m}`);
    }
    const y = device.array(i32, 50);
    await device.run(sizes, { y }, teams(50, { size: 4 }));
    expectSame(
      await device.queue.read(y),
      make(50, () => 1),
      "team sizes",
    );
  }),

  ...reals(81, "sums, least and greatest values of a team, by the strict tree", async (device, real, r) => {
    for (const m of [1, 7, 8, 9, 31, 64, 100, 1000]) {
      const xs = grid(20, m, r);
      const x = device.from(real, flatten(xs), [20, m]),
        y = device.array(real, [3, 20]),
        z = device.array(real, 20);
      await device.run(rowSums(real), { x, y }, teams(20));
      const sums = xs.map((row) => foldChunk([...row], adding(r), 0));
      expectSame(
        await device.queue.read(y),
        [...sums, ...xs.map((row) => Math.min(...row)), ...xs.map((row) => Math.max(...row))],
        `rows of ${m}`,
      );
      await device.run(after(real), { y, z }, range(20));
      expectSame(
        await device.queue.read(z),
        sums.map((s, i) => r(s + Math.max(...xs[i]))),
        "a range kernel on a team's results",
      );
    }
  }),

  ...reals(82, "several results of a team in one pass, known to all members", async (device, real, r) => {
    const xs = grid(12, 45, r);
    const x = device.from(real, flatten(xs), [12, 45]),
      y = device.array(real, [12, 45]);
    await device.run(several(real), { x, y }, teams(12));
    expectSame(
      await device.queue.read(y),
      flatten(
        xs.map((row) => {
          const norm = foldChunk(
            [...row].map((v) => r(v * v)),
            adding(r),
            0,
          );
          const low = Math.min(...row.filter((v) => v > 0)),
            high = Math.max(...row);
          return row.map((v) => r(r(v - low) / r(norm + high)));
        }),
      ),
      "normalised rows",
    );
  }),

  ...reals(83, "scratch memory, seen by all members after each step", async (device, real, r) => {
    const xs = grid(9, 64, r);
    const x = device.from(real, flatten(xs), [9, 64]),
      y = device.array(real, [9, 64]);
    await device.run(scratch(real), { x, y }, teams(9));
    expectSame(
      await device.queue.read(y),
      flatten(xs.map((row) => [0, 1, 2].reduce((held, pass) => held.map((v, j) => r(held[(j + (1 << pass)) % 64] + v)), row))),
      "scratch",
    );
  }),

  ...reals(84, "loops of a team around its members' work", async (device, real, r) => {
    const matrices = grid(6, 64, r).map((m) => m.map((v, n) => r(n % 9 === 0 ? 3 + v : v * 0.1)));
    const a = device.from(real, flatten(matrices), [6, 8, 8]),
      y = device.array(real, [6, 8]);
    await device.run(power(real), { a, y }, teams(6));
    expectSame(
      await device.queue.read(y),
      flatten(
        matrices.map((m) => {
          let v = make(8, () => 1);
          for (let n = 0, change = 1; change > r(1e-3) && n < 10; n++) {
            const w = v.map((_, j) => v.reduce((sum, x, k) => r(sum + r(m[j * 8 + k] * x)), 0));
            const squares = [...w].map((x) => r(x * x));
            const norm = r(Math.sqrt(foldChunk(squares, adding(r), 0)));
            change = Math.max(...w.map((x, j) => Math.abs(r(r(x / norm) - v[j]))));
            v = w.map((x) => r(x / norm));
          }
          return v;
        }),
      ),
      "eigenvectors",
    );
  }),

  ...reals(85, "reductions over all teams", async (device, real, r) => {
    for (const n of [1, 5, 300, 1000]) {
      const xs = grid(n, 11, r);
      const x = device.from(real, flatten(xs), [n, 11]);
      const sums = xs.map((row) => foldChunk([...row], adding(r), 0));
      const result = await device.run(totals(real), { x }, teams(n));
      expectEqual(result.s, teamFold(sums, r), `total of ${n} teams`);
      expectEqual(result.m, Math.max(...sums), `greatest of ${n} teams`);
    }
    const none = await device.run(totals(real), { x: device.array(real, [1, 3]) }, teams(0));
    expectSame([none.s, none.m], [0, -Infinity], "no teams");
  }),

  ...reals(86, "scatter from teams", async (device, real, r) => {
    const xs = grid(40, 50, r),
      ats = make(2000, (k) => Math.floor(noiseValue(k) * 13));
    const x = device.from(real, flatten(xs), [40, 50]),
      at = device.from(i32, ats, [40, 50]),
      h = device.array(real, 13);
    const expected = new Float64Array(13);
    flatten(xs).forEach((v, k) => (expected[ats[k]] = r(expected[ats[k]] + v)));
    await device.run(spread(real), { at, x, h }, teams(40));
    expectSame(await device.queue.read(h), expected, "spread in element order");

    const sums = new Float64Array(13);
    const add = (bin: number, v: number): number => (sums[bin] = r(sums[bin] + r(v)));
    xs.forEach((row, t) => {
      const bin = (j: number) => ats[50 * t + j];
      const least = Math.min(...row);
      add(bin(0), 0.1);
      for (let turn = 0; turn < 2; turn++)
        row.forEach((v, j) => {
          if (v > 0) add(bin(j), v);
          add(0, r(0.7) * v);
        });
      if (t % 2 === 1) add(1, least);
      add(bin(1), r(0.3) * least);
    });
    const mixture = device.array(real, 13);
    await device.run(mixed(real), { at, x, h: mixture }, teams(40), { precision: "strict" });
    expectSame(await device.queue.read(mixture), sums, "a team's own contributions and its members', in order");

    const lengths = make(40, (k) => 3 + ((7 * k) % 48));
    const begin = device.from(
      i32,
      lengths.reduce((ends, n) => [...ends, ends.at(-1)! + n], [0]),
    );
    const [y, unequal] = [
      device.array(real, 40),
      device.from(
        real,
        make(13, (k) => r(0.1 * k)),
      ),
    ];
    const ordered = make(13, (k) => r(0.1 * k));
    lengths.forEach((n, t) => {
      for (let j = 0; j < n; j++) ordered[ats[50 * t + j]] = r(ordered[ats[50 * t + j]] + xs[t][j]);
    });
    await device.run(ragged(real), { begin, at, x, y, h: unequal }, teams(40), { precision: "strict" });
    expectSame(await device.queue.read(unequal), ordered, "rows of several lengths, in element order");
    expectSame(
      await device.queue.read(y),
      lengths.map((n, t) => foldChunk(Array.from(xs[t].subarray(0, n)), adding(r), 0)),
      "sums of rows of several lengths",
    );
  }),

  ...reals(87, "teams of any size give the same bits", async (device, real, r) => {
    const xs = grid(30, 77, r);
    const x = device.from(real, flatten(xs), [30, 77]);
    const sums = xs.map((row) => foldChunk([...row], adding(r), 0));
    for (const size of [1, 3, 32, 100, 256]) {
      const y = device.array(real, [3, 30]);
      await device.run(rowSums(real), { x, y }, teams(30, { size }));
      expectSame(
        await device.queue.read(y),
        [...sums, ...xs.map((row) => Math.min(...row)), ...xs.map((row) => Math.max(...row))],
        `teams of ${size}`,
      );
    }
  }),

  ...reals(88, "scratch of several types, and work of a single member", async (device, real, r) => {
    const values = make(25 * 200, (k) => Math.floor(noiseValue(k) * 16));
    const x = device.from(i32, values, [25, 200]),
      o = device.array(i32, [25, 16]),
      s = device.array(real, 25);
    await device.run(shared(real), { x, o, s }, teams(25));
    const counts = [...Array(25).keys()].map((t) => make(16, (b) => values.slice(t * 200, (t + 1) * 200).filter((v) => v === b).length));
    expectSame(await device.queue.read(o), flatten(counts.map((row) => row.map((c) => (c === Math.max(...row) ? -c : c)))), "counts");
    expectSame(
      await device.queue.read(s),
      make(25, (t) => r(values[t * 200] * r(0.1))),
      "first values",
    );
  }),

  ...reals(94, "sums of scratch memory through remainders and under conditions", async (device, real, r) => {
    const [n, league] = [25, 3];
    const o = device.array(real, [league, 3]);
    await device.run(chosenSums(real), { n, o }, teams(league));
    const held = (row: number, j: number): number => row + ((j * 7) % 11);
    const sums = make(3 * league, (q) => {
      const [row, which] = [Math.floor(q / 3), q % 3];
      const terms = make(n, (j) => {
        if (which === 0) return held(row, (j + 1) % n);
        if (which === 1) return held(row, j) * held(row, (j + n) % 25);
        return j % n === 3 ? 0 : Math.min(held(row, j), held(row, (j + 3) % n));
      });
      return foldChunk([...terms], adding(r), 0);
    });
    expectSame(await device.queue.read(o), sums, "sums");
  }),

  conformanceCase(93, "results of teams of all sizes in fast mode, of every type", async (device) => {
    const most = 70;
    const values = make(most, (n) => 1 + (n % 7));
    for (const type of [f32, i32, u32]) {
      const x = device.from(type as typeof i32, values);
      const counts = device.from(
        i32,
        make(most, (n) => n + 1),
      );
      const o = device.array(type as typeof i32, [2, most]);
      await device.run(prefixes(type as typeof i32), { counts, x: x as never, o: o as never }, teams(most), { precision: "fast" });
      const sums = [...values].map((_, n) => values.slice(0, n + 1).reduce((a, b) => a + b));
      const greatest = [...values].map((_, n) => Math.max(...values.slice(0, n + 1)));
      expectSame(await device.queue.read(o as never), Float64Array.from([...sums, ...greatest]), `results in ${type.type}`);
    }
  }),

  ...reals(89, "more teams than 16 bits can count", async (device, real, r) => {
    const n = 70_001;
    const values = make(n * 2, (k) => (k % 1000) / 8);
    const x = device.from(real, values, [n, 2]);
    const result = await device.run(totals(real), { x }, teams(n, { size: 1 }));
    const sums = [...Array(n).keys()].map((t) => r(values[2 * t] + values[2 * t + 1]));
    expectEqual(result.s, teamFold(sums, r), "total of all teams");
    expectEqual(
      result.m,
      sums.reduce((a, b) => Math.max(a, b)),
      "greatest of all teams",
    );
  }),
];
