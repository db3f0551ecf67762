import assert from "node:assert/strict";
import { test } from "node:test";
import { analyseAccess, takenRange } from "../../../src/ir/analysis/access.js";
import type { Interval } from "../../../src/ir/analysis/affine.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import {
  add,
  and,
  assign,
  cmp,
  define,
  f,
  i,
  j,
  kernel,
  leave,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  reduce,
  scalar,
  scatter,
  select,
  store,
  sub,
  target,
  teamFor,
  teamKernel,
  total,
  value,
  view,
  when,
} from "../build.js";

const at = (name: string) => local(name, "i32");

test("a stencil's reads and writes come with their linear forms", () => {
  const ir = kernel([view("x", 2), view("y", 2)], [store("y", [i, j], sub(load("x", [add(i, n(1)), j]), load("x", [i, sub(j, n(2))])))], {
    rank: 2,
  });
  const { accesses, views } = analyseAccess(ir);
  assert.deepEqual(
    accesses.map((a) => [a.kind, a.view, a.affine]),
    [
      [
        "read",
        "x",
        [
          { constant: 1, terms: { "index:0": 1 } },
          { constant: 0, terms: { "index:1": 1 } },
        ],
      ],
      [
        "read",
        "x",
        [
          { constant: 0, terms: { "index:0": 1 } },
          { constant: -2, terms: { "index:1": 1 } },
        ],
      ],
      [
        "write",
        "y",
        [
          { constant: 0, terms: { "index:0": 1 } },
          { constant: 0, terms: { "index:1": 1 } },
        ],
      ],
    ],
  );
  assert.deepEqual(views, {
    x: { read: true, written: false, gathered: false, scattered: false },
    y: { read: false, written: true, gathered: false, scattered: false },
  });
  assert.ok(accesses.every((a) => !a.conditional));
});

test("an index that is loaded makes a gather, and the index view itself is read", () => {
  const ir = kernel(
    [view("col", 1, "i32"), view("x"), target("h"), total("s"), view("unused")],
    [define("at", load("col", [i], "i32")), scatter("h", [at("at")], f(1)), reduce("s", load("x", [at("at")]))],
  );
  const { views, reduced } = analyseAccess(ir);
  assert.deepEqual(views, {
    col: { read: true, written: false, gathered: false, scattered: false },
    h: { read: false, written: false, gathered: true, scattered: true },
    x: { read: true, written: false, gathered: true, scattered: false },
    unused: { read: false, written: false, gathered: false, scattered: false },
  });
  assert.deepEqual(reduced, ["s"]);
});

test("loops give the range of their variable where their bounds are linear", () => {
  const ir = kernel(
    [view("x"), value("n", "i32"), total("s")],
    [
      loop("down", n(7), n(-1), [reduce("s", load("x", [at("down")]))], -2),
      loop("up", i, scalar("n", "i32"), [reduce("s", load("x", [at("up")]))]),
      loop("data", n(0), load("x", [i], "i32"), [reduce("s", load("x", [at("data")]))]),
    ],
  );
  const loops = analyseAccess(ir)
    .accesses.map((a) => a.loops[0])
    .filter((l) => l);
  assert.deepEqual(loops, [
    { name: "down", first: { constant: 1, terms: {} }, last: { constant: 7, terms: {} }, step: -2 },
    { name: "up", first: { constant: 0, terms: { "index:0": 1 } }, last: { constant: -1, terms: { "param:n": 1 } }, step: 1 },
    { name: "data", first: { constant: 0, terms: {} }, last: undefined, step: 1 },
  ]);
});

test("a team's shared loop is a loop from 0", () => {
  const ir = teamKernel([view("y", 2), value("n", "i32")], [teamFor("m", scalar("n", "i32"), [store("y", [i, at("m")], f(0))])]);
  assert.deepEqual(analyseAccess(ir).accesses[0].loops, [
    { name: "m", first: { constant: 0, terms: {} }, last: { constant: -1, terms: { "param:n": 1 } }, step: 1 },
  ]);
});

test("what may not happen is conditional", () => {
  const positive = cmp("gt", i, n(0));
  const inLoop = (...jump: Parameters<typeof loop>[3]) => loop(`k${jump.length}`, n(0), n(3), [...jump, store("y", [i], f(0))]);
  const flags = (...body: Parameters<typeof kernel>[1]) =>
    analyseAccess(kernel([view("x"), view("y")], body)).accesses.map((a) => a.conditional);
  assert.deepEqual(flags(when(cmp("gt", load("x", [i]), f(0)), [store("y", [i], f(0))])), [false, true]);
  assert.deepEqual(flags(store("y", [i], select(cmp("gt", load("x", [i]), f(0)), load("x", [i]), f(0)))), [false, true, false]);
  assert.deepEqual(flags(when(and(cmp("gt", load("x", [i]), f(0)), cmp("gt", load("x", [i]), f(0))), [])), [false, true]);
  assert.deepEqual(
    flags(define("t", n(0)), loopWhile(cmp("lt", at("t"), n(3)), [store("y", [i], f(0)), assign("t", add(at("t"), n(1)))])),
    [true],
  );
  assert.deepEqual(flags(inLoop()), [false]);
  assert.deepEqual(flags(inLoop(when(positive, [leave()]))), [true]);
  assert.deepEqual(flags(inLoop(loop("inner", n(0), n(2), [leave()]))), [false], "the break is the inner loop's own");
  assert.deepEqual(flags(store("y", [mul(i, n(2))], f(0))), [false]);
});

test("the range of an index is given where the launch fixes it", () => {
  const ranges = (body: Stmt[], size = 10) => {
    const ir = kernel([view("x"), value("n", "i32"), total("s")], body);
    const known = (name: string): Interval | undefined => (name === "index:0" ? [2, 5] : name === "param:n" ? [size, size] : undefined);
    return analyseAccess(ir).accesses.map((access) => takenRange(access, 0, known));
  };
  const read = (index: Expr) => reduce("s", load("x", [index]));
  const up = (stop: Expr, step: number, ...body: Stmt[]) => loop("q", n(0), stop, body, step);
  assert.deepEqual(ranges([read(sub(mul(i, n(3)), n(1)))]), [[5, 14]]);
  assert.deepEqual(ranges([up(scalar("n", "i32"), 1, read(add(i, at("q"))))]), [[2, 14]]);
  assert.deepEqual(ranges([up(scalar("n", "i32"), 4, read(at("q")))]), [[0, 8]], "10 is not reached");
  assert.deepEqual(ranges([loop("q", scalar("n", "i32"), n(0), [read(at("q"))], -4)]), [[2, 10]]);
  assert.deepEqual(ranges([up(scalar("n", "i32"), 1, read(i))], 0), [undefined], "no turn");
  assert.deepEqual(ranges([up(i, 1, read(at("q")))]), [undefined], "bounds differ between elements");
  assert.deepEqual(ranges([when(cmp("gt", i, n(0)), [read(i)])]), [undefined], "may not happen");
  assert.deepEqual(ranges([read(load("x", [i], "i32"))]), [[2, 5], undefined]);
});
