import assert from "node:assert/strict";
import { test } from "node:test";
import { assignedKeys } from "../../../src/ir/analysis/assigned.js";
import type { Stmt } from "../../../src/ir/types.js";
import { add, assign, cmp, f, leave, local, loop, loopWhile, n, skip, when } from "../build.js";

const x = local("x");
const y = local("y");
const positive = cmp("gt", local("z"), f(0));

/** The analysis over locals: which are read before they have a value, and which have one at the end. */
function places(body: Stmt[]): { exposed: string[]; assigned: string[] } {
  const { exposed, assigned } = assignedKeys(
    body,
    (node) => (node.op === "local" && node.name !== "z" ? [node.name] : []),
    (stmt) => (stmt.kind === "assign" ? stmt.name : undefined),
  );
  return { exposed: [...exposed].sort(), assigned: [...assigned].sort() };
}

test("what is written first is not exposed, even by its own value", () => {
  assert.deepEqual(places([assign("x", f(1)), assign("y", x)]), { exposed: [], assigned: ["x", "y"] });
  assert.deepEqual(places([assign("x", add(x, f(1)))]), { exposed: ["x"], assigned: ["x"] });
});

test("both sides of a branch must write", () => {
  assert.deepEqual(places([when(positive, [assign("x", f(1))], [assign("x", f(2)), assign("y", f(3))])]).assigned, ["x"]);
  assert.deepEqual(places([when(positive, [assign("x", f(1))]), assign("y", x)]), { exposed: ["x"], assigned: ["y"] });
});

test("a loop may not turn, and its body sees what is before it", () => {
  assert.deepEqual(places([loop("i", n(0), n(3), [assign("x", f(1)), assign("y", x)]), assign("x", y)]), {
    exposed: ["y"],
    assigned: ["x"],
  });
  assert.deepEqual(places([assign("x", f(1)), loop("i", n(0), n(3), [assign("y", x)])]).exposed, []);
});

test("what a jump may skip counts as skipped", () => {
  const body = [when(positive, [skip()]), assign("x", f(1))];
  assert.deepEqual(places([loopWhile(positive, body, [assign("y", x)])]).exposed, ["x"]);
  assert.deepEqual(places([loopWhile(positive, [assign("x", f(1)), leave()])]).assigned, []);
});
