import assert from "node:assert/strict";
import { test } from "node:test";
import type { View } from "isoform";
import { doctor, f64, i32, kernel, max, open, range, sum, teamKernel, teams, view } from "isoform";
import { NOT_ASKED, tested } from "../devices.js";

/* Reductions with several components, of launches and of teams, against as many plain ones. */

const ROWS = 700;
const TEAMS = 28;
const start = Int32Array.from({ length: TEAMS + 1 }, (_, t) => Math.floor((t * ROWS) / TEAMS));
const x = Float64Array.from({ length: 4 * ROWS }, (_, i) => Math.sin(i) / (1 + (i % 7)));

const together = (count: number) =>
  teamKernel(
    "together",
    { start: view(i32), x: view(f64, 2), y: view(f64, 2), all: sum(f64, count), most: max(f64, count) },
    ({ start, x, y, all, most }, team) => {
      const first = start[team.index];
      const found = team.reduce(start[team.index + 1] - first, { s: ["sum", count], most: "max" }, (j, r) => {
        for (let k = 0; k < count; k++) r.s.add(k, x[first + j][k]);
        r.most.max(x[first + j][0]);
      });
      for (let k = 0; k < count; k++) {
        y[team.index][k] = found.s[k];
        all.add(k, found.s[k]);
        most.max(k, k * found.most);
      }
    },
    () => [count],
  );

const apart = teamKernel(
  "apart",
  { start: view(i32), x: view(f64), y: view(f64), all: sum(f64), most: max(f64) },
  ({ start, x, y, all, most }, team) => {
    const first = start[team.index];
    const found = team.reduce(start[team.index + 1] - first, { s: "sum" }, (j, r) => {
      r.s.add(x[first + j]);
    });
    y[team.index] = found.s;
    all.add(found.s);
    most.max(found.s);
  },
);

/** A team for each component of each row's group, side by side. */
const abreast = teamKernel(
  "abreast",
  { start: view(i32), x: view(f64, 2), y: view(f64, 2, { disjoint: true }) },
  ({ start, x, y }, team) => {
    const group = Math.trunc(team.index / 4);
    const k = team.index % 4;
    const first = start[group];
    y[group][k] = team.sum(start[group + 1] - first, (j) => x[first + j][k]);
  },
);

/** Teams side by side of which each decides by itself whether and how often it folds, and which of its results it stores. */
const choosing = teamKernel(
  "choosing",
  { start: view(i32), x: view(f64, 2), y: view(f64, 2, { disjoint: true }) },
  ({ start, x, y }, team) => {
    const group = Math.trunc(team.index / 4);
    const k = team.index % 4;
    const first = start[group];
    const rows = start[group + 1] - first;
    let total = 0;
    if (k !== 1) {
      for (let turn = 0; turn < k; turn++) total += team.sum(rows, (j) => x[first + j][k] + turn);
    }
    if (total > 1) y[group][k] = total;
    else y[group][k] = -k;
  },
);

const rowSums = kernel("rowSums", { x: view(f64, 2), all: sum(f64, 4) }, ({ x, all }, i) => {
  for (let k = 0; k < 4; k++) all.add(k, x[i][k] * x[i][k]);
});
const rowSum = kernel("rowSum", { x: view(f64), all: sum(f64) }, ({ x, all }, i) => {
  all.add(x[i] * x[i]);
});

/** What the team of a group and column has chosen. */
function chosenOf(group: number, k: number): number {
  let total = 0;
  if (k !== 1)
    for (let turn = 0; turn < k; turn++) for (let row = start[group]; row < start[group + 1]; row++) total += x[4 * row + k] + turn;
  return total > 1 ? total : -k;
}

const reports = await doctor();

for (const name of ["js", "js-debug", "wasm", "native", "opencl", "cuda"])
  for (const precision of ["strict", "fast"] as const) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(
      `components of reductions are plain ones, ${precision}, on ${name}`,
      { skip: tested(name) ? missing && `${name}: ${missing.reason}` : NOT_ASKED },
      async () => {
        const device = await open(name);
        const rows = device.from(f64, x).reshape(ROWS, 4);
        const starts = device.from(i32, start);
        const close = (a: number, b: number): void =>
          precision === "strict" ? assert.equal(a, b) : assert.ok(Math.abs(a - b) < 1e-12, `${a} and ${b}`);
        const [y, all, most] = [device.array(f64, [TEAMS, 4]), device.array(f64, 4), device.array(f64, 4)];
        await device.run(together(4), { start: starts, x: rows, y, all, most }, teams(TEAMS), { precision });
        const [ys, sums] = [await device.queue.read(y), await device.queue.read(all)];
        assert.equal((await device.queue.read(most))[0], 0);
        const beside = device.array(f64, [TEAMS, 4]);
        await device.run(abreast, { start: starts, x: rows, y: beside }, teams(4 * TEAMS, { size: 8, abreast: 4 }), { precision });
        (await device.queue.read(beside)).forEach((value, n) => close(value, ys[n]));
        const chosen = device.array(f64, [TEAMS, 4]);
        await device.run(choosing, { start: starts, x: rows, y: chosen }, teams(4 * TEAMS, { size: 8, abreast: 4 }), { precision });
        (await device.queue.read(chosen)).forEach((value, n) => {
          const wanted = chosenOf(Math.trunc(n / 4), n % 4);
          assert.ok(Math.abs(value - wanted) < 1e-10, `${value} for ${wanted}, element ${n}`);
        });
        await device.run(rowSums, { x: rows, all }, range(ROWS), { precision });
        const squares = await device.queue.read(all);
        for (let k = 0; k < 4; k++) {
          const one = device.array(f64, TEAMS);
          const plain = await device.run(apart, { start: starts, x: rows.at(1, k), y: one }, teams(TEAMS), { precision });
          (await device.queue.read(one)).forEach((value, t) => close(ys[4 * t + k], value));
          close(sums[k], plain.all);
          close(squares[k], (await device.run(rowSum, { x: rows.at(1, k) }, range(ROWS), { precision })).all);
        }
        await device.close();
      },
    );
  }

test("what is wrong with components is told", async () => {
  const device = await open("js");
  const rows = device.from(f64, x).reshape(ROWS, 4);
  const run = (all: View<"f64">) => device.run(rowSums, { x: rows, all }, range(ROWS));
  await assert.rejects(
    run(device.array(f64, 3)),
    /all takes 4 results and needs a view of as many elements, and is given one of shape \[3\]/,
  );
  await assert.rejects(run(undefined as never), /all needs a view of f64, and is given nothing/);
  assert.throws(() => sum(f64, 0), /is given 0 components; use a whole number from 1 to 64/);
  assert.throws(() => teams(4, { abreast: 3 }), /3 teams abreast: their number is a power of two/);
  const many = teamKernel("many", { y: view(f64), n: i32 }, ({ y, n }, team) => {
    y[team.index] = team.reduce(3, { s: ["sum", n] }, (j, r) => r.s.add(0, j)).s[0];
  });
  await assert.rejects(
    device.run(many, { y: device.array(f64, 2), n: 2 }, teams(2)),
    /the number of results must be a constant from 1 to 256/,
  );
  await device.close();
});
