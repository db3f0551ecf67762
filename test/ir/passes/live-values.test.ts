import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { isStraight } from "../../../src/emit/c/vector.js";
import { withoutReplaced } from "../../../src/ir/passes/live-values.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cmp, define, f, i, load, local, store, when } from "../build.js";
import { interpret, type Memory } from "../interpret.js";
import { EXTENT, randomKernel, randomMemory } from "../random.js";

const x = load("x", [i]);
const a = local("a");
const b = local("b");
const positive = cmp("gt", x, f(0));

test("values that something replaces on all ways go, with what they were made of", () => {
  const put = store("y", [i], a);
  /** Places of the statements that stay; -1 for a declaration that has lost its value. */
  const kept = (...body: Stmt[]): number[] => withoutReplaced(body).map((stmt) => body.indexOf(stmt));
  assert.deepEqual(kept(define("b", x), define("a", add(b, x)), when(positive, [assign("a", b)]), assign("a", f(3)), put), [-1, 3, 4]);
  assert.deepEqual(kept(define("a", x), when(positive, [assign("a", f(1))]), put), [0, 1, 2]);
  assert.equal(
    withoutReplaced([define("a", x), when(positive, [assign("a", f(1)), assign("a", f(2))], [assign("a", f(3))]), put]).length,
    3,
  );
});

test("the declaration of what a branch assigns and reads stays, without a value", () => {
  const branch = when(positive, [assign("a", f(1)), store("y", [i], a)]);
  const [declaration, same] = withoutReplaced([define("a", x), branch]);
  assert.equal(same, branch);
  assert.ok(declaration.kind === "let" && declaration.init === undefined);
});

test("they change no result of random kernels", () => {
  let changed = 0;
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 60, maxLength: 400, size: "max" }), (choices) => {
      const ir = randomKernel(choices);
      if (!isStraight(ir.body)) return;
      const after = { ...ir, body: withoutReplaced(ir.body) };
      verify(after);
      if (printKernel(after) !== printKernel(ir)) changed++;
      const outcome = (of: typeof ir): Memory => {
        const memory = randomMemory();
        interpret(of, EXTENT, memory, { pd: 2.5, pi: -7, pb: true });
        return memory;
      };
      assert.deepEqual(outcome(after), outcome(ir), printKernel(ir));
    }),
    { numRuns: 800, seed: 7 },
  );
  assert.ok(changed > 20, `${changed} kernels have replaced values`);
});
