import assert from "node:assert/strict";
import { test } from "node:test";
import { analyseAccess } from "../../src/ir/access.js";
import {
  add, and, assign, cmp, define, f, i, j, kernel, leave, load, local, loop, loopWhile, mul, n, reduce, scalar, scatter, select, store, sub,
  target, teamFor, teamKernel, total, value, view, when,
} from "./build.js";

const at = (name: string) => local(name, "i32");

test("a stencil's reads and writes come with their linear forms", () => {
  const ir = kernel([view("x", 2), view("y", 2)], [
    store("y", [i, j], sub(load("x", [add(i, n(1)), j]), load("x", [i, sub(j, n(2))]))),
  ], { rank: 2 });
  const { accesses, views } = analyseAccess(ir);
  assert.deepEqual(accesses.map((a) => [a.kind, a.view, a.affine]), [
    ["read", "x", [{ constant: 1, terms: { "index:0": 1 } }, { constant: 0, terms: { "index:1": 1 } }]],
    ["read", "x", [{ constant: 0, terms: { "index:0": 1 } }, { constant: -2, terms: { "index:1": 1 } }]],
    ["write", "y", [{ constant: 0, terms: { "index:0": 1 } }, { constant: 0, terms: { "index:1": 1 } }]],
  ]);
  assert.deepEqual(views, {
    x: { read: true, written: false, gathered: false, scattered: false },
    y: { read: false, written: true, gathered: false, scattered: false },
  });
  assert.ok(accesses.every((a) => !a.conditional));
});

test("an index that is loaded makes a gather, and the index view itself is read", () => {
  const ir = kernel([view("col", 1, "i32"), view("x"), target("h"), total("s"), view("unused")], [
    define("at", load("col", [i], "i32")),
    scatter("h", [at("at")], f(1)),
    reduce("s", load("x", [at("at")])),
  ]);
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
  const ir = kernel([view("x"), value("n", "i32"), total("s")], [
    loop("down", n(7), n(-1), [reduce("s", load("x", [at("down")]))], -2),
    loop("up", i, scalar("n", "i32"), [reduce("s", load("x", [at("up")]))]),
    loop("data", n(0), load("x", [i], "i32"), [reduce("s", load("x", [at("data")]))]),
  ]);
  const loops = analyseAccess(ir).accesses.map((a) => a.loops[0]).filter((l) => l);
  assert.deepEqual(loops, [
    { name: "down", first: { constant: 1, terms: {} }, last: { constant: 7, terms: {} } },
    { name: "up", first: { constant: 0, terms: { "index:0": 1 } }, last: { constant: -1, terms: { "param:n": 1 } } },
    { name: "data", first: { constant: 0, terms: {} }, last: undefined },
  ]);
});

test("a team's shared loop is a loop from 0", () => {
  const ir = teamKernel([view("y", 2), value("n", "i32")], [
    teamFor("m", scalar("n", "i32"), [store("y", [i, at("m")], f(0))]),
  ]);
  assert.deepEqual(analyseAccess(ir).accesses[0].loops,
    [{ name: "m", first: { constant: 0, terms: {} }, last: { constant: -1, terms: { "param:n": 1 } } }]);
});

test("what may not happen is conditional", () => {
  const positive = cmp("gt", i, n(0));
  const inLoop = (...jump: Parameters<typeof loop>[3]) => loop(`k${jump.length}`, n(0), n(3), [...jump, store("y", [i], f(0))]);
  const flags = (...body: Parameters<typeof kernel>[1]) =>
    analyseAccess(kernel([view("x"), view("y")], body)).accesses.map((a) => a.conditional);
  assert.deepEqual(flags(when(cmp("gt", load("x", [i]), f(0)), [store("y", [i], f(0))])), [false, true]);
  assert.deepEqual(flags(store("y", [i], select(cmp("gt", load("x", [i]), f(0)), load("x", [i]), f(0)))), [false, true, false]);
  assert.deepEqual(flags(when(and(cmp("gt", load("x", [i]), f(0)), cmp("gt", load("x", [i]), f(0))), [])), [false, true]);
  assert.deepEqual(flags(define("t", n(0)), loopWhile(cmp("lt", at("t"), n(3)), [store("y", [i], f(0)), assign("t", add(at("t"), n(1)))])), [true]);
  assert.deepEqual(flags(inLoop()), [false]);
  assert.deepEqual(flags(inLoop(when(positive, [leave()]))), [true]);
  assert.deepEqual(flags(inLoop(loop("inner", n(0), n(2), [leave()]))), [false], "the break is the inner loop's own");
  assert.deepEqual(flags(store("y", [mul(i, n(2))], f(0))), [false]);
});
