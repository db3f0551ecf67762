import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unorderedRead } from "../../../src/ir/analysis/unordered-reads.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import {
  add,
  and,
  assign,
  cmp,
  define,
  element,
  f,
  load,
  local,
  loop,
  mul,
  n,
  or,
  scalar,
  setElement,
  store,
  sub,
  when,
} from "../build.js";

const t = local("t", "i32");
const [one, other] = ["k", "m"].map((view) => load(view, [t], "i32"));

/** Whether a thread may read what another one wrote; `axes` are the indices of elements of arrays with several axes. */
function isUnordered(stmts: Stmt[], axes = new Map<Expr, readonly Expr[]>()): boolean {
  const thread = {
    definitions: new Map(["t", "u"].map((name) => [name, undefined])),
    least: new Map([["local:t", 0]]),
    axesOf: (index: Expr) => axes.get(index) ?? [index],
    conditions: new Map([["first", cmp("eq", t, n(0))]]),
  };
  return unorderedRead(stmts, (array) => array === "w", thread) !== undefined;
}

describe("reads of what other threads wrote", () => {
  const write = (at: Expr): Stmt => setElement("w", at, f(1));
  const read = (at: Expr, name = "r"): Stmt => define(name, element("w", at));

  it("are found where one thread's element is another's", () => {
    for (const [stmts, expected] of [
      [[write(t), read(t)], false],
      [[read(add(t, n(1))), write(t)], false],
      [[write(t), read(add(t, n(1)))], true],
      [[write(mul(n(2), t)), read(add(mul(n(2), t), n(1)))], false],
      [[write(mul(n(2), t)), read(add(mul(n(2), t), n(2)))], true],
      [[write(t), read(n(3))], true],
      [[write(t), read(one)], false],
      [[setElement("v", t, f(1)), define("r", element("v", add(t, n(1))))], false],
    ] as const)
      assert.equal(isUnordered([...stmts]), expected, JSON.stringify(stmts));
  });

  it("are not where conditions keep the threads apart", () => {
    const few = cmp("lt", t, n(4));
    for (const [stmts, expected] of [
      [[when(few, [write(t)]), when(few, [read(add(t, n(4)))])], false],
      [[when(few, [write(t)]), when(few, [read(add(t, n(3)))])], true],
      [[when(few, [write(t)]), when(few, [read(n(4))])], false],
      [[when(few, [write(t)]), when(few, [read(n(3))])], true],
      [[when(few, [], [write(t)]), when(few, [read(add(t, n(4)))])], true],
      [[when(local("first", "bool"), [write(t)]), when(local("first", "bool"), [read(add(t, n(1)))])], false],
    ] as const)
      assert.equal(isUnordered([...stmts]), expected, JSON.stringify(stmts));
  });

  it("are found wherever two threads meet; where each has bounds and steps of one, nowhere else", () => {
    const guards: [Expr | undefined, (at: number) => boolean][] = [
      [undefined, () => true],
      [cmp("lt", t, n(4)), (at) => at < 4],
      [and(cmp("ge", t, n(2)), cmp("le", t, n(6))), (at) => at >= 2 && at <= 6],
      [and(cmp("gt", t, n(2)), cmp("gt", n(6), t)), (at) => at > 2 && at < 6],
      [cmp("eq", sub(t, n(3)), n(0)), (at) => at === 3],
      [and(cmp("le", n(1), t), cmp("lt", mul(n(2), t), n(3))), (at) => at === 1],
      [or(cmp("eq", t, n(0)), cmp("eq", t, n(9))), (at) => at === 0 || at === 9],
    ];
    const isExact = [1, 2, 3, 4].map((k) => guards[k][0]);
    const threads = Array.from({ length: 24 }, (_, at) => at);
    const form = (factor: number, constant: number): Expr => add(mul(n(factor), t), n(constant));
    const guarded = (guard: Expr | undefined, stmt: Stmt): Stmt => (guard ? when(guard, [stmt]) : stmt);
    for (const [guardOfWrite, writes] of guards)
      for (const [guardOfRead, reads] of guards)
        for (const x of [-2, -1, 0, 1, 2, 3])
          for (const y of [-2, -1, 0, 1, 2])
            for (const b of [-7, -3, -1, 0, 1, 4, 9]) {
              if (x === y && b === 0) continue;
              const meet = threads.some((p) => writes(p) && threads.some((q) => q !== p && reads(q) && x * p === y * q + b));
              const found = isUnordered([guarded(guardOfWrite, write(form(x, 5))), guarded(guardOfRead, read(form(y, 5 + b)))]);
              const where = `${x}*t and ${y}*t + ${b}, ${guards.findIndex(([g]) => g === guardOfWrite)} and ${guards.findIndex(([g]) => g === guardOfRead)}`;
              if (meet) assert.ok(found, where);
              else if (x === y && Math.abs(x) === 1 && [guardOfWrite, guardOfRead].every((guard) => isExact.includes(guard)))
                assert.ok(!found, where);
              else if (x === y && x !== 0 && b % x !== 0 && !guardOfWrite && !guardOfRead) assert.ok(!found, where);
            }
  });

  it("may depend on what all threads have alike", () => {
    const u = local("u", "i32");
    assert.equal(isUnordered([write(add(t, u)), read(add(t, u))]), false);
    assert.equal(isUnordered([write(add(t, u)), read(add(add(t, u), n(1)))]), true);
    assert.equal(isUnordered([write(add(mul(n(2), t), u)), read(add(add(mul(n(2), t), u), n(1)))]), false);
    assert.equal(isUnordered([write(u), read(add(u, n(1)))]), false);
    assert.equal(isUnordered([write(u), read(mul(n(2), u))]), true);
  });

  it("are found in views as in arrays, by their last index", () => {
    const [row, put] = [scalar("row", "i32"), (at: Expr): Stmt => store("w", [scalar("row", "i32"), at], f(1))];
    assert.equal(isUnordered([put(t), define("r", load("w", [row, t]))]), false);
    assert.equal(isUnordered([put(t), define("r", load("w", [row, add(t, n(1))]))]), true);
    assert.equal(isUnordered([put(add(t, n(1))), define("r", load("w", [row, t]))]), true);
    assert.equal(isUnordered([define("r", load("w", [row, add(t, n(1))])), put(t)]), false);
  });

  it("compare the axes of arrays, and what is no linear form by its text", () => {
    const at = (...indices: Expr[]): [Expr, readonly Expr[]] => [local("index", "i32"), indices];
    const found = (written: readonly Expr[], wanted: readonly Expr[]): boolean => {
      const axes = [at(...written), at(...wanted)];
      return isUnordered([write(axes[0][0]), read(axes[1][0])], new Map(axes));
    };
    assert.equal(found([t, one], [t, one]), false);
    assert.equal(found([t, one], [t, other]), true);
    assert.equal(found([t, n(1)], [t, n(2)]), false);
    assert.equal(found([t, n(1)], [add(t, n(1)), n(1)]), true);
    assert.equal(found([t, n(1)], [add(t, n(1)), n(2)]), false);
    assert.equal(found([one, other], [one, one]), false, "without a linear form");
  });

  it("are found in later turns of loops", () => {
    const turn = (...body: Stmt[]): Stmt[] => [loop("l", n(0), n(8), [...body, assign("j", add(local("j", "i32"), n(1)))])];
    assert.equal(isUnordered(turn(read(local("j", "i32")), write(t))), true);
    assert.equal(isUnordered(turn(read(t), write(t))), false);
    // Nothing that changes with the turns
    assert.equal(isUnordered(turn(read(add(t, n(1))), write(t))), false);
    assert.equal(isUnordered(turn(write(t), read(add(t, n(1))))), true);
  });
});
