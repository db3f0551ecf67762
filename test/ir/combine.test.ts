import assert from "node:assert/strict";
import { test } from "node:test";
import { emitCombine } from "../../src/emit/js/fold.js";
import { combineFunction } from "../../src/ir/combine.js";
import type { Expr } from "../../src/ir/types.js";
import { add, bin, c, cmp, f, local, mul, n, un } from "./build.js";

const choice = (cond: Expr, a: Expr, b: Expr): Expr => ({ op: "select", type: a.type, cond, a, b });
const both = (fn: "and" | "or", a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn, a, b });
const cast = (type: Expr["type"], a: Expr): Expr => ({ op: "cast", type, a }) as Expr;
const call = (a: Expr, b: Expr): Expr => ({ op: "call", type: a.type, fn: "hypot", args: [a, b] }) as Expr;

const of = (type: "f64" | "f32" | "i32" | "u32"): [Expr, Expr] => [local("p", type), local("q", type)];
const [a, b] = of("f64");
const [s, t] = of("f32");
const [i, j] = of("i32");
const [u, v] = of("u32");

const floats = [-0, 0, 0.1, -2.5, 3e38, -Infinity, NaN];
const integers = [0, 1, 7, 65537, 0x7fffffff];
const folds: readonly { readonly body: Expr; readonly values: readonly number[] }[] = [
  { body: mul(a, b), values: floats },
  { body: bin("sub", add(a, b), mul(a, f(0.1))), values: floats },
  { body: add(mul(s, t), c("f32", 0.1)), values: floats.map(Math.fround) },
  { body: choice(cmp("lt", un("abs", a), un("abs", b)), a, b), values: floats },
  { body: choice(both("and", cmp("gt", a, f(0)), both("or", cmp("ge", b, f(1)), cmp("eq", b, f(0)))), b, un("neg", a)), values: floats },
  { body: call(s, t), values: floats.map(Math.fround) },
  { body: cast("f64", add(cast("i32", a), cast("i32", b))), values: floats },
  { body: mul(i, j), values: [...integers, -1, -65537] },
  { body: add(bin("div", i, n(3)), bin("shr", j, n(1))), values: [...integers, -1, -65537] },
  { body: bin("mulhi", u, mul(v, c("u32", 77))), values: [...integers, 0xffffffff] },
];

test("a fold's function gives the bits of its JavaScript", () => {
  for (const [number, { body, values }] of folds.entries()) {
    const combine = { a: "p", b: "q", body };
    const [made, emitted] = [combineFunction(combine), new Function(emitCombine(combine))() as (x: number, y: number) => number];
    for (const x of values) for (const y of values) assert.ok(Object.is(made(x, y), emitted(x, y)), `fold ${number} of ${x} and ${y}`);
  }
});

test("a fold of anything but its two values is refused", () => {
  assert.throws(() => combineFunction({ a: "p", b: "q", body: { op: "param", type: "f64", name: "r" } }), /its two arguments only/);
});
