import assert from "node:assert/strict";
import { parseExpressionAt, type Node } from "acorn";
import { test } from "node:test";
import { binaryFits, compareFits, isFloatBinary, isFloatUnary, unaryFits, BINARY, COMPARE, MATH, UNARY } from "../../src/ir/operators.js";
import { copysign, HALF } from "../../src/ir/exact.js";
import { printExpr } from "../../src/ir/kernel-text.js";
import type { BinaryFn, CompareFn, Expr, ScalarType, UnaryFn } from "../../src/ir/types.js";
import { and, bin, cmp, f, local, n, or, select, un } from "./build.js";

const keysOf = <T extends object>(record: T) => Object.keys(record) as (keyof T & string)[];

type Infix = (a: Expr, b: Expr) => Expr;
/** All operators that are written between their operands, as JavaScript writes them. */
const INFIX: Readonly<Record<string, Infix>> = {
  "||": or,
  "&&": and,
  ...Object.fromEntries(
    (["add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr"] as const).map((fn): [string, Infix] => [
      { add: "+", sub: "-", mul: "*", div: "/", rem: "%", and: "&", or: "|", xor: "^", shl: "<<", shr: ">>" }[fn],
      (a, b) => bin(fn, a, b),
    ]),
  ),
  ...Object.fromEntries(keysOf(COMPARE).map((fn): [string, Infix] => [COMPARE[fn].sign[0], (a, b) => cmp(fn, a, b)])),
};

/** The tree of a text by JavaScript's own grammar, without brackets and places; undefined where it is none. */
function treeOf(text: string): string | undefined {
  const shape = (node: Node): unknown => {
    const { operator, left, right, argument, test, consequent, alternate, name } = node as Node & Record<string, Node>;
    return [operator, name, ...[left, right, argument, test, consequent, alternate].map((child) => child && shape(child))];
  };
  try {
    return JSON.stringify(shape(parseExpressionAt(text, 0, { ecmaVersion: "latest" })));
  } catch {
    return undefined;
  }
}

const [a, b, c] = ["a", "b", "c"].map((name) => local(name, "i32"));

/** Asserts that a print has the tree of the text with all brackets, and no brackets that could go. */
function printsAs(expr: Expr, bracketed: string): void {
  const text = printExpr(expr);
  assert.equal(treeOf(text), treeOf(bracketed), `${text} for ${bracketed}`);
  const bare = text.replaceAll(/[()]/g, "");
  if (bare !== text) assert.notEqual(treeOf(bare), treeOf(bracketed), `${text} needs no brackets`);
}

test("two operators have brackets in print exactly where JavaScript's grammar needs them", () => {
  for (const [outer, of] of Object.entries(INFIX)) {
    for (const [inner, pair] of Object.entries(INFIX)) {
      printsAs(of(pair(a, b), c), `(a ${inner} b) ${outer} c`);
      printsAs(of(a, pair(b, c)), `a ${outer} (b ${inner} c)`);
    }
    for (const [sign, fn] of [
      ["-", "neg"],
      ["!", "not"],
      ["~", "bitnot"],
    ] as const) {
      printsAs(of(un(fn, a), b), `(${sign}a) ${outer} b`);
      printsAs(of(a, un(fn, b)), `a ${outer} (${sign}b)`);
      printsAs(un(fn, of(a, b)), `${sign}(a ${outer} b)`);
    }
    printsAs(of(select(a, b, c), a), `(a ? b : c) ${outer} a`);
    printsAs(of(a, select(a, b, c)), `a ${outer} (a ? b : c)`);
    printsAs(select(of(a, b), b, c), `(a ${outer} b) ? b : c`);
    printsAs(select(a, of(a, b), c), `a ? (a ${outer} b) : c`);
    printsAs(select(a, b, of(b, c)), `a ? b : (b ${outer} c)`);
  }
  printsAs(select(select(a, b, c), b, c), "(a ? b : c) ? b : c");
  assert.equal(printExpr(un("neg", f(-2))), "-(-2.0)");
  assert.equal(printExpr(bin("sub", n(-1), n(-2))), "-1 - -2");
});

const EDGES = [0, 1, 2, 3, 5, 31, 32, 33, 0xffff, 0x10001, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff];
const NAMES = keysOf(BINARY).filter((fn) => binaryFits(fn, "i32"));

/** The exact result, and undefined for 0 as a divisor. */
const EXACT: Readonly<Record<string, (a: bigint, b: bigint) => bigint | undefined>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => (b === 0n ? undefined : a / b),
  rem: (a, b) => (b === 0n ? undefined : a % b),
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

test("integers wrap, and the table says which operators may leave the type and which have the same bits with and without a sign", () => {
  assert.deepEqual(NAMES, [...Object.keys(EXACT), "shl", "shr"]);
  for (const fn of NAMES) {
    const { of, sameBits, overflows } = BINARY[fn];
    const seen = { sameBits: true, overflows: false };
    for (const x of EDGES)
      for (const y of EDGES) {
        const signed = of(x | 0, y | 0, "i32");
        const unsigned = of(x, y, "u32");
        seen.sameBits &&= signed === (unsigned | 0);
        for (const [p, q, wrap, result] of [
          [x | 0, y | 0, (value: bigint) => BigInt.asIntN(32, value), signed],
          [x, y, (value: bigint) => BigInt.asUintN(32, value), unsigned],
        ] as const) {
          const exact = EXACT[fn]?.(BigInt(p), BigInt(q));
          if (EXACT[fn]) {
            assert.equal(result, Number(wrap(exact ?? 0n)), `${fn}(${p}, ${q})`);
            seen.overflows ||= exact === undefined || wrap(exact) !== exact;
          } else {
            const count = BigInt(q & 31);
            assert.equal(result, Number(wrap(fn === "shl" ? BigInt(p) << count : BigInt(p) >> count)), `${fn}(${p}, ${q})`);
          }
        }
      }
    assert.deepEqual(seen, { sameBits, overflows }, fn);
  }
});

test("each operator counts what it costs on floats: one operation for arithmetic, nothing for signs, bits and whole parts", () => {
  const costing = (table: Readonly<Record<string, { flops: number }>>) => keysOf(table).filter((fn) => table[fn].flops === 1);
  assert.deepEqual(costing(UNARY), ["sqrt"]);
  assert.deepEqual(costing(BINARY), ["add", "sub", "mul", "div", "rem", "min", "max"]);
  assert.deepEqual(
    keysOf(MATH).filter((fn) => MATH[fn].arguments === 2),
    ["pow", "powi", "atan2", "hypot"],
  );
});

test("operators take the types of their operands, and no others", () => {
  const types: readonly ScalarType[] = ["f64", "f32", "i32", "u32", "bool"];
  const taking = (fits: (type: ScalarType) => boolean) => types.filter(fits).join(" ");
  const unary = (fn: UnaryFn) => taking((type) => unaryFits(fn, type, type));
  const binary = (fn: BinaryFn) => taking((type) => binaryFits(fn, type));
  const compare = (fn: CompareFn) => taking((type) => compareFits(fn, type));
  assert.deepEqual([unary("neg"), unary("abs")], ["f64 f32 i32 u32", "f64 f32 i32 u32"]);
  assert.deepEqual([unary("not"), unary("bitnot"), unary("sqrt")], ["bool", "i32 u32", "f64 f32"]);
  assert.equal(unary("clz"), "i32");
  assert.ok(unaryFits("clz", "u32", "i32") && !unaryFits("clz", "u32", "u32"));
  assert.deepEqual([binary("add"), binary("copysign")], ["f64 f32 i32 u32", "f64 f32"]);
  assert.deepEqual([binary("and"), binary("mulhi")], ["i32 u32", "u32"]);
  assert.deepEqual([compare("eq"), compare("lt")], [types.join(" "), "f64 f32 i32 u32"]);
  assert.deepEqual(keysOf(UNARY).filter(isFloatUnary), ["neg", "abs", "sqrt", "floor", "ceil", "trunc", "round"]);
  assert.deepEqual(keysOf(BINARY).filter(isFloatBinary), ["add", "sub", "mul", "div", "rem", "min", "max", "copysign"]);
});

test("comparisons and their opposites differ for every two numbers", () => {
  for (const fn of keysOf(COMPARE)) {
    const { of, inverse, sign } = COMPARE[fn];
    for (const [x, y] of [
      [1, 2],
      [2, 2],
      [2, 1],
    ]) {
      assert.equal(of(x, y), new Function("a", "b", `return a ${sign[0]} b;`)(x, y), `${x} ${sign[0]} ${y}`);
      assert.equal(COMPARE[inverse].of(x, y), !of(x, y), inverse);
    }
  }
});

/** Rounds as emitted code does; each sum is rounded to the type. */
const roundedBy = (type: "f64" | "f32", x: number): number => {
  const fit = type === "f64" ? (v: number) => v : Math.fround;
  return copysign(Math.floor(fit(fit(x + HALF[type][0]) + HALF[type][1])), x);
};

/** The numbers beside x in the type, and x. */
function around(type: "f64" | "f32", x: number): number[] {
  const [floats, words] = type === "f64" ? [new Float64Array([x]), BigInt64Array] : [new Float32Array([x]), Int32Array];
  const bits = new words(floats.buffer);
  const at = (step: number): number => {
    bits[0] = (typeof bits[0] === "bigint" ? bits[0] + BigInt(step) : Number(bits[0]) + step) as never;
    return floats[0];
  };
  return [at(0), at(1), at(1), at(-3), at(-1)];
}

for (const type of ["f64", "f32"] as const)
  test(`two sums and floor round every ${type} as Math.round does`, () => {
    const special = [0, NaN, Infinity, type === "f64" ? Number.MAX_VALUE : 3.4028234663852886e38];
    const halves = Array.from({ length: 56 }, (_, e) => 2 ** e).flatMap((power) => [
      power - 0.5,
      power,
      power + 0.5,
      power + 1,
      3 * power + 0.5,
    ]);
    for (const size of [...special, 0.25, 0.5, 0.75, ...halves].flatMap((x) => (x > 0 && x < Infinity ? around(type, x) : [x])))
      for (const x of [size, -size]) assert.ok(Object.is(roundedBy(type, x), Math.round(x)), `${x}: ${roundedBy(type, x)}`);
  });
