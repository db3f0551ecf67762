import type { FunctionBuilder } from "./encoder.js";
import type { KernelCode } from "./kernel-code.js";

/*
 * Sines and cosines of two f64 at a time, for fast mode: engines have them for one value alone. The argument less the next multiple of pi/2 goes into
 * the series of the sine and of the cosine; the multiple says which one counts. Both are within 2 ulp.
 */

/**
 * Below 2^20 multiples of the first two parts are exact, and so are the first two differences where little is left. The last part is rounded: by
 * 2^-119 of the argument, which is 2^-53 of what is left where that is least, at 45.553093477052.
 */
const QUARTER_TURN = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21] as const;

/** From here on multiples may not be below 2^20. */
const LARGE = 2 ** 20;

/** Rounds to a whole number, which the lower word then holds, what is added to it. */
const TO_WHOLE = 1.5 * 2 ** 52;

/** 1/3!, 1/5!, ... with alternating signs, and 1/4!, 1/6!, ...: up to pi/4 the next terms are less than half a unit in the last place. */
const SERIES = { sin: seriesFrom(3, 17), cos: seriesFrom(4, 18) };

function seriesFrom(first: number, last: number): number[] {
  const terms: number[] = [];
  let factorial = 1;
  for (let n = 2; n <= last; n++) {
    factorial *= n;
    if (n >= first && (n - first) % 2 === 0) terms.push((n & 2 ? -1 : 1) / factorial);
  }
  return terms;
}

/** Leaves a value on the stack. */
type Value = () => void;

/** A function (arguments, the tables' address) that gives the sines or cosines. */
export function pairOf(code: KernelCode, name: "sin" | "cos"): FunctionBuilder {
  const known = code.helpers.get(name);
  if (known) return known;
  const fn = code.module.function(name, ["v128", code.address.type], ["v128"]);
  code.helpers.set(name, fn);
  const op = (instruction: string, ...operands: Value[]): Value => keep(fn, instruction, operands);
  const x = (): void => fn.get(0);
  const [add, sub, mul] = ["add", "sub", "mul"].map((name) => (a: Value, b: Value) => op(`f64x2.${name}`, a, b));
  const madd = (a: Value, b: Value, c: Value): Value => (code.spec.relaxed ? op("f64x2.relaxed_madd", a, b, c) : add(mul(a, b), c));
  const number = (value: number): Value => {
    const at = code.numberInMemory("f64", value);
    code.numberInMemory("f64", value);
    return op("", () => {
      fn.get(1);
      fn.memory("v128.load", at);
    });
  };
  const toWhole = number(TO_WHOLE);
  const shifted = add(mul(x, number(2 / Math.PI)), toWhole);
  const turns = sub(shifted, toWhole);
  const [first, second, third] = QUARTER_TURN.map((part) => mul(turns, number(part)));
  const y = sub(sub(sub(x, first), second), third);
  op("f64x2.ge", op("f64x2.abs", x), number(LARGE))();
  fn.op("v128.any_true");
  fn.if("v128");
  lanewise(fn, code.math(name, 1));
  fn.else();
  const [one, z] = [number(1), mul(y, y)];
  const polynomial = (terms: readonly number[]): Value => {
    const [last, ...others] = terms.map(number).reverse();
    return others.reduce((sum, term) => madd(sum, z, term), last);
  };
  const sign = number(-0);
  // A negative zero would become positive in the sum.
  const sine = op("v128.or", madd(mul(z, y), polynomial(SERIES.sin), y), op("v128.and", y, sign));
  const half = mul(number(0.5), z);
  const base = sub(one, half);
  const cosine = add(base, madd(mul(z, z), polynomial(SERIES.cos), sub(sub(one, base), half)));
  choose(fn, { turns: name === "sin" ? shifted : op("i32x4.add", shifted, () => fn.v128([1, 1, 1, 1])), sine, cosine, sign });
  fn.end();
  return fn;
}

/** Leaves the sine on the stack where the number of quarter turns is even, else the cosine, and negated where it is beyond half a turn. */
function choose(fn: FunctionBuilder, { turns, sine, cosine, sign }: Record<"turns" | "sine" | "cosine" | "sign", Value>): void {
  turns();
  turns();
  fn.shuffle([0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11]);
  const words = fn.local("v128");
  fn.set(words);
  cosine();
  sine();
  fn.get(words);
  fn.i32(31);
  fn.op("i32x4.shl");
  fn.i32(31);
  fn.op("i32x4.shr_s");
  fn.op("v128.bitselect");
  fn.get(words);
  fn.i32(30);
  fn.op("i32x4.shl");
  sign();
  fn.op("v128.and");
  fn.op("v128.xor");
}

/** Puts a result into a local, for all who use it; without an instruction the operand itself. */
function keep(fn: FunctionBuilder, instruction: string, operands: readonly Value[]): Value {
  const local = fn.local("v128");
  for (const operand of operands) operand();
  if (instruction) fn.op(instruction);
  fn.set(local);
  return () => fn.get(local);
}

/** Leaves the engine's values for both arguments on the stack. */
function lanewise(fn: FunctionBuilder, index: number): void {
  for (const lane of [0, 1]) {
    fn.get(0);
    fn.lane("f64x2.extract_lane", lane);
    fn.call(index);
    if (lane === 0) fn.op("f64x2.splat");
    else fn.lane("f64x2.replace_lane", lane);
  }
}
