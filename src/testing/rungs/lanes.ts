import { teams } from "../../device/policy.js";
import { teamKernel } from "../../kernel/kernel.js";
import { i32, scatter, view } from "../../kernel/params.js";
import { foldChunk } from "../strict-fold.js";
import { expectSame } from "../expect.js";
import { adding, arrayOf, ofType } from "../real.js";
import { reals, rung, type Rung } from "../rung.js";
import { make, noise } from "../values.js";

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
/** What a member, and one lane, has written is read by all lanes in the next step. */
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
const counts = teamKernel("countsOfLanes", { at: view(i32, 3), h: scatter(i32) }, ({ at, h }, team) => {
  const t = team.index;
  team.range(12, (j, lanes) => {
    h.add(0, 1);
    lanes.range(40, (k) => {
      h.add(at[t][j][k], 1);
    });
  });
});

const cube = (seed: number): Float64Array => make(LEAGUE * ROWS * COLUMNS, (k) => noise(k + seed) - 0.4);

export const lanes: Rung[] = [
  ...reals(130, "lanes of a member fold by the strict tree", async (device, real, r) => {
    const n = 55;
    const start = make(n + 1, (i) => (i * (i - 1)) / 2);
    const [as, xs] = [make(start[n], (k) => r(noise(k) - 0.5)), make(n, (k) => r(noise(k + 7)))];
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

  rung(133, "lanes scatter, and their member once", async (device) => {
    const at = make(LEAGUE * ROWS * COLUMNS, (k) => Math.floor(noise(k) * 9));
    const h = device.array(i32, 9);
    const launch = device.prepare(counts, { at: device.from(i32, at, [LEAGUE, ROWS, COLUMNS]), h }, teams(LEAGUE), { precision: "fast" });
    device.queue.submit(launch);
    const found = await device.queue.read(h);
    launch.free();
    const expected = make(9, (bin) => at.filter((b) => b === bin).length + (bin === 0 ? LEAGUE * ROWS : 0));
    expectSame(found, expected, "counts");
  }),
];
