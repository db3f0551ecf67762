import { range, teams } from "../../device/launch/policy.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { i32, scatter, view } from "../../kernel/declare/params.js";
import { foldChunk } from "../strict-fold.js";
import { expectSame } from "../expect.js";
import { adding, arrayOf, ofType } from "../real.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

/** Members of a team of these kernels. */
const ROWS = 12;
const [LEAGUE, COLUMNS] = [5, 40];

/** A matrix of compressed rows times a vector: a member has a row, its lanes the row's elements. */
const product = ofType((real) =>
  teamKernel(
    "product",
    { n: i32, start: view(i32), column: view(i32), a: view(real), x: view(real), y: view(real) },
    ({ n, start, column, a, x, y }, team) => {
      team.range(12, (j, lanes) => {
        const row = team.index * 12 + j;
        if (row >= n) return;
        const first = start[row];
        y[row] = lanes.sum(start[row + 1] - first, (k) => a[first + k] * x[column[first + k]]);
      });
    },
  ),
);
/** Values that a member, and one lane, has written are read by all lanes in the next step. */
const steps = ofType((real) =>
  teamKernel("steps", { x: view(real, 3), y: view(real, 2), z: view(real, 3), Real: arrayOf(real) }, ({ x, y, z, Real }, team) => {
    const t = team.index;
    const held = team.scratch(Real, 12);
    team.range(12, (j, lanes) => {
      y[t][j] = lanes.max(40, (k) => x[t][j][k]);
      lanes.range(40, (k) => {
        z[t][j][k] = x[t][j][k] - y[t][j];
      });
      held[j] = z[t][j][39] + z[t][j][0];
      for (let turn = 0; turn < 2; turn++)
        lanes.range(40, (k) => {
          z[t][j][k] = z[t][j][k] + held[j];
        });
    });
  }),
);
const several = ofType((real) =>
  teamKernel("severalOfLanes", { m: i32, x: view(real, 3), y: view(real, 2) }, ({ m, x, y }, team) => {
    const t = team.index;
    const { most, total } = team.reduce(12, { most: "max", total: "sum" }, (j, r, lanes) => {
      const { low, sum } = lanes.reduce(m, { low: "min", sum: "sum" }, (k, f) => {
        if (x[t][j][k] > 0) f.low.min(x[t][j][k]);
        f.sum.add(x[t][j][k]);
      });
      r.most.max(low);
      r.total.add(sum);
    });
    team.single(() => {
      y[t][0] = most;
      y[t][1] = total;
    });
  }),
);
/** Longer than any block's own memory, and of a length that the launch tells. */
const reversed = ofType((real) =>
  teamKernel(
    "reversed",
    { n: i32, x: view(real, 2), y: view(real, 2), s: view(real), Real: arrayOf(real) },
    ({ n, x, y, s, Real }, team) => {
      const t = team.index;
      const held = team.scratch(Real, x[0].length, { level: 1 });
      const marks = team.scratch("i32", 2 * n, { level: 1 });
      team.range(held.length, (j) => {
        held[j] = x[t][j] * 2;
      });
      team.range(n, (j) => {
        marks[n + j] = j % 3;
      });
      team.range(held.length, (j) => {
        y[t][j] = held[held.length - 1 - j];
      });
      held[0] = 1;
      s[t] = team.sum(n, (j) => held[j] * marks[2 * n - 1 - j]);
    },
  ),
);
const counts = teamKernel("countsOfLanes", { at: view(i32, 3), h: scatter(i32) }, ({ at, h }, team) => {
  const t = team.index;
  team.range(12, (j, lanes) => {
    h.add(0, 1);
    lanes.range(40, (k) => {
      h.add(at[t][j][k], 1);
    });
  });
});

const mixed = kernel("mixedInTiles", { x: view(i32, 3), y: view(i32, 3) }, ({ x, y }, i, j, k) => {
  y[i][j][k] = x[i][j][k] + 3 * x[i - 1][j][k] - x[i][j - 1][k - 1] + i * 100 + j * 10 + k;
});
const plane = kernel("planeInTiles", { z: view(i32, 2) }, ({ z }, i, j) => {
  z[i][j] = z[i][j] + i * 33 + j + 1;
});

const cube = (seed: number): Float64Array => make(LEAGUE * ROWS * COLUMNS, (k) => noiseValue(k + seed) - 0.4);

export const levels: ConformanceCase[] = [
  ...reals(130, "lanes of a member fold by the strict tree", async (device, real, r) => {
    const n = 55;
    const start = make(n + 1, (i) => (i * (i - 1)) / 2);
    const [as, xs] = [make(start[n], (k) => r(noiseValue(k) - 0.5)), make(n, (k) => r(noiseValue(k + 7)))];
    const columns = make(start[n], (k) => (k * 7) % n);
    const args = {
      n,
      start: device.from(i32, start),
      column: device.from(i32, columns),
      a: device.from(real, as),
      x: device.from(real, xs),
    };
    const expected = make(n, (i) => {
      const row = Array.from({ length: start[i + 1] - start[i] }, (_, k) => start[i] + k);
      return foldChunk(
        row.map((k) => r(as[k] * xs[columns[k]])),
        adding(r),
        0,
      );
    });
    for (const count of [undefined, 1, 2, 4, 8, 32]) {
      const y = device.array(real, n);
      await device.run(product(real), { ...args, y }, teams(Math.ceil(n / ROWS), { lanes: count }));
      expectSame(await device.queue.read(y), expected, count === undefined ? "lanes left to the device" : `${count} lanes`);
    }
  }),

  ...reals(131, "lanes see what their member and they have written in the step before", async (device, real, r) => {
    const xs = cube(3).map(r);
    const row = (n: number): Float64Array => xs.slice(n * COLUMNS, (n + 1) * COLUMNS);
    const x = device.from(real, xs, [LEAGUE, ROWS, COLUMNS]),
      y = device.array(real, [LEAGUE, ROWS]),
      z = device.array(real, [LEAGUE, ROWS, COLUMNS]);
    await device.run(steps(real), { x, y, z }, teams(LEAGUE));
    const most = make(LEAGUE * ROWS, (n) => Math.max(...row(n)));
    expectSame(await device.queue.read(y), most, "greatest of each row");
    const moved = [...most].flatMap((m, n) => {
      const less = row(n).map((v) => r(v - m));
      const held = r(less[39] + less[0]);
      return Array.from(less, (v) => r(r(v + held) + held));
    });
    expectSame(await device.queue.read(z), moved, "rows");
  }),

  ...reals(132, "members fold what their lanes have folded, several results each", async (device, real, r) => {
    const xs = cube(5).map(r);
    const x = device.from(real, xs, [LEAGUE, ROWS, COLUMNS]);
    for (const m of [0, 1, 13, 40]) {
      const y = device.array(real, [LEAGUE, 2]);
      await device.run(several(real), { m, x, y }, teams(LEAGUE, { size: 3 }));
      const expected = Array.from({ length: LEAGUE }, (_, t) => {
        const rows = Array.from({ length: ROWS }, (_, j) => [...xs.slice((t * ROWS + j) * COLUMNS).subarray(0, m)]);
        const lows = rows.map((values) => Math.min(...values.filter((v) => v > 0)));
        const sums = rows.map((values) => foldChunk(values, adding(r), 0));
        return [Math.max(...lows), foldChunk(sums, adding(r), 0)];
      });
      expectSame(await device.queue.read(y), expected.flat(), `${m} turns of lanes`);
    }
  }),

  conformanceCase(133, "lanes scatter, and their member once", async (device) => {
    const at = make(LEAGUE * ROWS * COLUMNS, (k) => Math.floor(noiseValue(k) * 9));
    const h = device.array(i32, 9);
    const launch = device.prepare(counts, { at: device.from(i32, at, [LEAGUE, ROWS, COLUMNS]), h }, teams(LEAGUE), { precision: "fast" });
    device.queue.submit(launch);
    const found = await device.queue.read(h);
    launch.free();
    const expected = make(9, (bin) => at.filter((b) => b === bin).length + (bin === 0 ? LEAGUE * ROWS : 0));
    expectSame(found, expected, "counts");
  }),

  ...reals(134, "teams have scratch in the device's memory, of a length that the launch tells", async (device, real, r) => {
    for (const [league, n] of [
      [3, 20000],
      [300, 65],
    ]) {
      const xs = make(league * n, (k) => r(noiseValue(k) - 0.5));
      const x = device.from(real, xs, [league, n]),
        y = device.array(real, [league, n]),
        s = device.array(real, league);
      await device.run(reversed(real), { n: n - 1, x, y, s }, teams(league));
      const rows = Array.from({ length: league }, (_, t) => xs.slice(t * n, (t + 1) * n).map((v) => r(v * 2)));
      expectSame(
        await device.queue.read(y),
        make(league * n, (k) => rows[Math.floor(k / n)][n - 1 - (k % n)]),
        `${league} rows of ${n}`,
      );
      const sums = rows.map((row) => {
        row[0] = 1;
        return foldChunk(
          Array.from({ length: n - 1 }, (_, j) => r(row[j] * ((n - 2 - j) % 3))),
          adding(r),
          0,
        );
      });
      expectSame(await device.queue.read(s), sums, "sums");
    }
  }),

  conformanceCase(135, "tiles of a range change nothing", async (device) => {
    const [shape, first] = [
      [6, 19, 33],
      [1, 2, 3],
    ];
    const size = 6 * 19 * 33;
    const x = device.from(
      i32,
      make(size, (k) => (k * 7919) % 1000),
      shape,
    );
    const bounds = shape.map((n, axis): [number, number] => [first[axis], n]);
    const results: (readonly number[])[] = [];
    for (const tile of [undefined, [1, 4, 16], [2, 3, 50], [9, 1, 1]]) {
      const y = device.array(i32, shape);
      await device.run(mixed, { x, y }, tile ? range(...bounds, { tile }) : range(...bounds));
      results.push([...(await device.queue.read(y))]);
    }
    for (const tiled of results.slice(1)) expectSame(tiled, results[0], "a range in tiles");
    const z = device.array(i32, [19, 33]);
    await device.run(plane, { z }, range([1, 19], 33, { tile: [8, 8] }));
    expectSame(
      await device.queue.read(z),
      make(19 * 33, (k) => (k < 33 ? 0 : k + 1)),
      "two axes",
    );
  }),
];
