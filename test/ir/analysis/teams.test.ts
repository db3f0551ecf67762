import assert from "node:assert/strict";
import test from "node:test";
import { f64, i32, teamKernel, view } from "../../../src/index.js";
import { foldLanes } from "../../../src/ir/lanes.js";
import { isShared, laneLoops, onlyFolds, readsOutside, scratchArrays, teamRows } from "../../../src/ir/analysis/teams.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

const body = (of: unknown) => compileKernel(of as Kernel, {}).ir.body;

const inside = body(
  teamKernel("inside", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
    const part = team.scratch("f64", 8);
    team.range(8, (j) => {
      part[j] = x[team.index][j];
    });
    team.range(8, (j) => {
      y[team.index][j] = part[7 - j];
    });
  }),
);
const outside = body(
  teamKernel("outside", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
    const part = team.scratch("f64", 8);
    team.range(8, (j) => {
      part[j] = x[team.index][j];
    });
    if (part[0] > 0) {
      team.range(8, (j) => {
        y[team.index][j] = 1;
      });
    }
  }),
);

test("what members share out is told from what all of them run", () => {
  assert.deepEqual(
    inside.filter((stmt) => isShared(stmt)).map(({ kind }) => kind),
    ["teamFor", "teamFor"],
  );
  assert.deepEqual([...scratchArrays(inside)].length, 1);
});

test("memory that changes is read outside of shared loops by a condition, not by the loops' bodies", () => {
  const never = () => false;
  assert.equal(
    readsOutside(inside, (name) => name === "y", scratchArrays(inside)),
    false,
  );
  assert.equal(readsOutside(outside, never, scratchArrays(outside)), true);
  assert.equal(readsOutside(outside, never, new Set()), false);
});

test("lanes are folded by halves", () => {
  assert.equal(
    foldLanes([..."01234567"], (a, b) => `(${a}${b})`),
    "(((04)(26))((15)(37)))",
  );
});

test("loops of lanes stand inside of members' loops, and rows of scratch among the parameters", () => {
  const { ir } = compileKernel(
    teamKernel("nested", { n: i32, y: view(f64, 3) }, ({ n, y }, team) => {
      const row = team.scratch("f64", 2 * n, { level: 1 });
      for (let turn = 0; turn < n; turn++)
        team.range(8, (j, lanes) => {
          const s = lanes.sum(n, (k) => y[team.index][j][k]);
          if (s > 0)
            lanes.range(4, (k) => {
              y[team.index][j][k] = s;
            });
          row[j] = s;
        });
    }) as unknown as Kernel,
    {},
  );
  assert.deepEqual(
    laneLoops(ir.body).map(({ kind }) => kind),
    ["teamReduce", "teamFor"],
  );
  assert.equal(laneLoops(inside).length, 0);
  assert.deepEqual(
    teamRows(ir).map(({ element, rank }) => [element, rank]),
    [["f64", 2]],
  );
});

test("teams that decide by themselves whether they fold or store are no teams that only fold", () => {
  const folds = (of: Kernel, fixed = {}) => onlyFolds(compileKernel(of, fixed).ir);
  const params = { x: view(f64, 2), y: view(f64, 2), n: i32 };
  const sums = (from: number) =>
    teamKernel(
      "sums",
      params,
      ({ x, y, n }, team) => {
        for (let k = from; k < 40; k++) y[team.index][k] = team.sum(n, (j) => x[j][k]);
      },
      () => [from],
    );
  assert.equal(folds(sums(0) as Kernel), true);
  const byScalar = teamKernel("byScalar", params, ({ x, y, n }, team) => {
    if (n > 3) y[team.index][0] = team.sum(n, (j) => x[j][0]);
  });
  assert.equal(folds(byScalar as Kernel), true);
  const byTeam = teamKernel("byTeam", params, ({ x, y, n }, team) => {
    if (team.index % 4 !== 1) y[team.index][0] = team.sum(n, (j) => x[j][0]);
  });
  assert.equal(folds(byTeam as Kernel), false);
  const byResult = teamKernel("byResult", params, ({ x, y, n }, team) => {
    const found = team.sum(n, (j) => x[j][0]);
    if (found > 0) y[team.index][0] = found;
  });
  assert.equal(folds(byResult as Kernel), false);
  const byTurns = teamKernel("byTurns", params, ({ x, y, n }, team) => {
    let total = 0;
    for (let turn = 0; turn < team.index; turn++) total += team.sum(n, (j) => x[j][turn]);
    y[team.index][0] = total;
  });
  assert.equal(folds(byTurns as Kernel), false);
});
