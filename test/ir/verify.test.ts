import assert from "node:assert/strict";
import { test } from "node:test";
import type { Expr, KernelIR, Param, Stmt } from "../../src/ir/types.js";
import { verify } from "../../src/ir/verify.js";
import {
  add,
  and,
  array,
  assign,
  bin,
  c,
  call,
  cast,
  cmp,
  declare,
  define,
  element,
  entry,
  extent,
  f,
  i,
  j,
  kernel,
  leave,
  load,
  local,
  loop,
  loopWhile,
  n,
  reduce,
  scalar,
  scatter,
  select,
  setElement,
  single,
  skip,
  store,
  table,
  target,
  teamFor,
  teamKernel,
  teamReduce,
  teamSize,
  total,
  un,
  value,
  view,
  when,
} from "./build.js";

const params: Param[] = [
  view("x"),
  view("y"),
  view("m", 2),
  view("bytes", 1, "u8"),
  target("h"),
  total("s"),
  value("a"),
  value("n", "i32"),
];
const at = (name: string) => local(name, "i32");
const range = (...body: Stmt[]) => kernel(params, body, { tables: [table("w", [1, 2])] });
const team = (...body: Stmt[]) => teamKernel(params, body);
const accepts = (ir: KernelIR) => assert.doesNotThrow(() => verify(ir));
const refuses = (ir: KernelIR, problem: RegExp) => assert.throws(() => verify(ir), problem);
const gives = (expr: Expr) => range({ ...define("v", expr), type: expr.type } as Stmt);

test("sound kernels pass", () => {
  accepts(
    range(
      declare("t"),
      array("p", 4),
      loop("q", n(0), scalar("n", "i32"), [setElement("p", at("q"), f(1)), when(cmp("lt", at("q"), i), [leave()], [skip()])]),
      assign("t", add(load("x", [i]), element("p", n(0)))),
      store("y", [i], add(local("t"), entry("w", [i]))),
      store("bytes", [i], load("bytes", [i], "i32")),
      scatter("h", [extent("m", 1)], scalar("a")),
      reduce("s", f(1)),
      loopWhile(cmp("lt", local("t"), f(1)), [leave()], [assign("t", f(2))]),
    ),
  );
  accepts(
    team(
      array("p", 4, "scratch"),
      teamFor("q", n(4), [setElement("p", at("q"), f(1))]),
      teamReduce("r", teamSize, [{ name: "v", type: "f64", op: "max" }], [reduce("v", element("p", at("r")))]),
      single([store("y", [i], local("v"))]),
    ),
  );
});

test("types of operators are checked", () => {
  refuses(gives(add(f(1), n(1))), /f64, i32 gives f64/);
  refuses(gives(bin("and", f(1), f(2))), /f64, f64 gives f64/);
  refuses(gives(bin("mulhi", n(1), n(2))), /i32, i32 gives i32/);
  refuses(gives(un("not", n(1))), /i32 gives i32/);
  refuses(gives(un("sqrt", n(4))), /i32 gives i32/);
  refuses(gives(un("clz", c("u32", 4))), /u32 gives u32/);
  refuses(gives(cmp("lt", c("bool", true), c("bool", false))), /bool, bool gives bool/);
  refuses(gives(cmp("lt", n(1), f(1))), /i32, f64/);
  refuses(gives(and(n(1), c("bool", true))), /i32, bool/);
  refuses(gives(select(n(1), f(1), f(2))), /i32, f64, f64/);
  refuses(gives(call("pow", f(1))), /f64 gives f64/);
  refuses(gives(call("exp", n(1))), /i32 gives i32/);
  accepts(gives(un("clz", c("u32", 4), "i32")));
  accepts(gives(cast("bool", f(2))));
});

test("constants are values of their type", () => {
  refuses(gives(n(1.5)), /not a value of i32/);
  refuses(gives(c("u32", -1)), /not a value of u32/);
  refuses(gives(c("f32", 0.1)), /not a value of f32/);
  refuses(gives(n(-0)), /not a value of i32/);
  refuses(gives(c("bool", 1)), /not a value of bool/);
  refuses(gives(c("i32", true)), /not a value of i32/);
  accepts(gives(c("f32", NaN)));
});

test("names are declared once, before use, and end with their block", () => {
  refuses(range(define("t", f(1)), define("t", f(2))), /t is declared twice/);
  refuses(range(define("x", f(1))), /x is declared twice/);
  refuses(range(store("y", [i], local("t")), define("t", f(1))), /t: not declared here/);
  refuses(range(when(cmp("lt", i, n(1)), [define("t", f(1))]), store("y", [i], local("t"))), /not declared here/);
  refuses(range(loop("q", n(0), n(2), []), store("y", [at("q")], f(1))), /not declared here/);
  refuses(range(define("t", f(1)), define("u", at("t"))), /a local of f64 used as i32/);
});

test("what is assigned is a local of that type", () => {
  refuses(range(loop("q", n(0), n(2), [assign("q", n(1))])), /assignment to q, which is a loop variable/);
  refuses(range(assign("t", n(1))), /t, which is not declared/);
  refuses(range(define("t", f(1)), assign("t", n(1))), /assignment of i32 to t/);
  refuses(range({ ...define("t", f(1)), type: "i32" } as Stmt), /t of type i32 starts as f64/);
});

test("arrays, views and targets have their rank, kind and type", () => {
  refuses(range(store("m", [i], f(1))), /1 indices of m, which has rank 2/);
  refuses(range(store("h", [i], f(1))), /h is not a view/);
  refuses(range(scatter("y", [i], f(1))), /y is not a scatter/);
  refuses(range(store("y", [f(1)], f(1))), /y is indexed by f64/);
  refuses(range(store("y", [i], n(1))), /store of i32 into y/);
  refuses(range(store("bytes", [i], f(1))), /store of f64 into bytes, which takes i32/);
  refuses(range(store("m", [i, load("x", [i], "i32")], f(1))), /an element of f64 read as i32/);
  refuses(range(setElement("p", n(0), f(1))), /p is not an array/);
  refuses(range(array("p", 4), store("y", [i], element("p", f(1)))), /p\[1\.0\]: not an array here/);
  refuses(range(store("y", [i], entry("w", [i, i]))), /not a table/);
  refuses(range(store("y", [i], scalar("n"))), /no scalar parameter of f64/);
  refuses(range(store("y", [extent("m", 2)], f(1))), /not an array with this axis/);
  refuses(range(store("y", [j], f(1))), /no such axis/);
  refuses(range(reduce("x", f(1))), /x is not a reduction/);
  refuses(range(reduce("s", n(1))), /i32 folded into s/);
});

test("break and continue belong to a loop", () => {
  refuses(range(leave()), /break outside a loop/);
  refuses(range(when(cmp("lt", i, n(1)), [skip()])), /continue outside a loop/);
  refuses(range(loopWhile(c("bool", true), [], [leave()])), /break outside a loop/);
  refuses(team(loop("q", n(0), n(2), [teamFor("r", n(2), [leave()])])), /break outside a loop/);
});

test("statements of a team stand at its level, in team kernels", () => {
  refuses(range(single([])), /single in a range kernel/);
  refuses(range(store("y", [teamSize], f(1))), /not a team kernel/);
  refuses(range(array("p", 4, "scratch")), /scratch p outside/);
  refuses(team(teamFor("q", n(2), [single([])])), /single inside another/);
  refuses(team(single([array("p", 4, "scratch")])), /scratch p outside/);
  refuses(team(single([teamFor("q", n(2), [])])), /teamFor inside another/);
  refuses(team(teamFor("o", n(2), [teamFor("q", n(2), [teamFor("r", n(2), [])])])), /teamFor inside another/);
  refuses(team(teamFor("q", n(2), [array("v", 4, "scratch")])), /scratch v outside/);
  refuses(team(teamFor("q", f(2), [])), /shared loop over f64/);
  refuses(team(teamReduce("q", n(2), [{ name: "v", type: "f64", op: "sum" }], [reduce("v", local("v"))])), /v: not declared here/);
});

test("a custom reduction folds its two values, and nothing else", () => {
  const custom = (body: Expr): KernelIR =>
    kernel([{ kind: "reduce", name: "r", type: "f64", op: "custom", identity: 1, combine: { a: "p", b: "q", body } }, value("a")], []);
  accepts(custom(bin("mul", local("p"), local("q"))));
  refuses(custom(add(local("p"), scalar("a"))), /a fold uses a/);
  refuses(custom(cmp("lt", local("p"), local("q"))), /a fold of f64 gives bool/);
});

test("an error names the place", () => {
  refuses(range(leave()), /kernel "test", kernel\.ts:\d+:1: break/);
});
