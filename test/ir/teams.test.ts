import assert from "node:assert/strict";
import test from "node:test";
import { f64, teamKernel, view } from "../../src/index.js";
import { foldLanes } from "../../src/ir/lanes.js";
import { isShared, readsOutside, scratchArrays } from "../../src/ir/teams.js";
import { compileKernel } from "../../src/kernel/compile.js";
import type { Kernel } from "../../src/kernel/kernel.js";

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
