import { HALF } from "../../ir/exact.js";
import { isFloatBinary, isFloatUnary, type FloatBinaryFn, type FloatUnaryFn } from "../../ir/operators.js";
import { isDouble, isFloat, isSigned, isSingle, isUnsigned, isWide, type FloatType } from "../../ir/scalars.js";
import type { BinaryFn, CompareFn, ScalarType, UnaryFn } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import { type KernelCode, valType } from "./kernel-code.js";

/** `lt_s` for i32, `lt_u` for u32, `lt` for floats; the same for shr, div, rem. */
export const signed = (fn: string, type: ScalarType): string => (isFloat(type) ? fn : `${fn}_${isSigned(type) ? "s" : "u"}`);

const ORDERED: Record<CompareFn, boolean> = { eq: false, ne: false, lt: true, le: true, gt: true, ge: true };

/** The instruction of a comparison, without its type prefix. */
export const comparison = (fn: CompareFn, type: ScalarType): string => (ORDERED[fn] ? signed(fn, type) : fn);

const FLOAT_UNARY: Record<Exclude<FloatUnaryFn, "round">, string> = {
  neg: "neg",
  abs: "abs",
  sqrt: "sqrt",
  floor: "floor",
  ceil: "ceil",
  trunc: "trunc",
};
const FLOAT_BINARY: Record<Exclude<FloatBinaryFn, "rem" | "copysign">, string> = {
  add: "add",
  sub: "sub",
  mul: "mul",
  div: "div",
  min: "min",
  max: "max",
};

/** The instruction of an operator on floats, scalars and vectors alike, without its type prefix. */
export function floatUnary(fn: Exclude<UnaryFn, "round">): string {
  if (!isFloatUnary(fn)) throw new Error(`${fn} of a float`);
  return FLOAT_UNARY[fn];
}
export function floatBinary(fn: Exclude<BinaryFn, "rem" | "copysign">): string {
  if (!isFloatBinary(fn)) throw new Error(`${fn} of floats`);
  return FLOAT_BINARY[fn];
}

/** Emits constants, operators and conversions of single values: from the operands on the stack, which they replace by the result. */
export class ScalarOperators {
  constructor(readonly code: KernelCode) {}

  protected get fn() {
    return this.code.fn;
  }

  constant(type: ScalarType, value: number | bigint | boolean): void {
    if (isDouble(type)) this.fn.f64(value as number);
    else if (isSingle(type)) this.fn.f32(value as number);
    else if (isWide(type)) this.fn.i64(BigInt(value));
    else this.fn.i32(Number(value));
  }

  /** A constant by its bits: -1 has all, also of unsigned integers. */
  private bits(type: ScalarType, value: number): void {
    if (isWide(type)) this.fn.i64(value);
    else this.fn.i32(value);
  }

  /** From the operand on the stack. */
  unary(name: UnaryFn, type: ScalarType): void {
    const { fn, code } = this;
    if (isFloat(type)) return name === "round" ? this.round(type) : fn.op(`${type}.${floatUnary(name)}`);
    const T = valType(type);
    switch (name) {
      case "not":
        return fn.op("i32.eqz");
      case "clz":
        return fn.op("i32.clz");
      case "neg":
        this.bits(type, -1);
        return fn.op(`${T}.mul`);
      case "bitnot":
        this.bits(type, -1);
        return fn.op(`${T}.xor`);
      case "abs": {
        if (isUnsigned(type)) return;
        const [a, sign] = [code.temp(T), code.temp(T)];
        fn.tee(a);
        this.bits(type, isWide(type) ? 63 : 31);
        fn.op(`${T}.shr_s`);
        fn.tee(sign);
        fn.get(a);
        fn.op(`${T}.xor`);
        fn.get(sign);
        fn.op(`${T}.sub`);
        return code.release(T, a, sign);
      }
      case "floor":
      case "trunc":
      case "ceil":
      case "sqrt":
      case "round":
        break;
      default:
        return unreachable(name);
    }
    throw new Error(`unary ${name} of ${type}`);
  }

  /** From the two operands on the stack. */
  binary(name: BinaryFn, type: ScalarType): void {
    const { fn } = this;
    if (isFloat(type)) {
      if (name === "copysign") return this.copysign(type);
      if (name !== "rem") return fn.op(`${type}.${floatBinary(name)}`);
      if (isDouble(type)) return fn.call(this.code.math("fmod", 2));
      return this.remainderF32();
    }
    switch (name) {
      case "div":
      case "rem":
        return this.divide(name, type);
      case "min":
      case "max":
        return this.leastOrGreatest(name, type);
      case "shr":
        return fn.op(`${valType(type)}.${signed("shr", type)}`);
      case "mulhi": {
        const b = this.code.temp("i32");
        fn.set(b);
        fn.op("i64.extend_i32_u");
        fn.get(b);
        fn.op("i64.extend_i32_u");
        fn.op("i64.mul");
        fn.i64(32);
        fn.op("i64.shr_u");
        fn.op("i32.wrap_i64");
        return this.code.release("i32", b);
      }
      case "copysign":
        throw new Error(`${name} of ${type}`);
      case "add":
      case "sub":
      case "mul":
      case "and":
      case "or":
      case "xor":
      case "shl":
        return fn.op(`${valType(type)}.${name}`);
      default:
        return unreachable(name);
    }
  }

  /** The sign of a NaN counts as +. */
  private copysign(type: FloatType): void {
    const { fn, code } = this;
    const sign = code.temp(type);
    fn.tee(sign);
    this.constant(type, 0);
    fn.get(sign);
    fn.get(sign);
    fn.op(`${type}.eq`);
    fn.op("select");
    fn.op(`${type}.copysign`);
    code.release(type, sign);
  }

  /** To the nearest whole number, halves up. A zero has the operand's sign in strict mode alone: V8 takes signs by way of general registers. */
  private round(type: FloatType): void {
    const { fn, code } = this;
    const a = code.temp(type);
    if (code.strict) fn.tee(a);
    for (const part of HALF[type]) {
      this.constant(type, part);
      fn.op(`${type}.add`);
    }
    fn.op(`${type}.floor`);
    if (code.strict) {
      fn.get(a);
      fn.op(`${type}.copysign`);
    }
    code.release(type, a);
  }

  private remainderF32(): void {
    const { fn, code } = this;
    const b = code.temp("f32");
    fn.set(b);
    fn.op("f64.promote_f32");
    fn.get(b);
    fn.op("f64.promote_f32");
    fn.call(code.math("fmod", 2));
    fn.op("f32.demote_f64");
    code.release("f32", b);
  }

  /** WebAssembly traps where the language gives 0, and at least / -1. */
  private divide(name: "div" | "rem", type: ScalarType): void {
    const { fn, code } = this;
    const T = valType(type);
    const [a, b] = [code.temp(T), code.temp(T)];
    fn.set(b);
    fn.set(a);
    if (isSigned(type) && name === "div") {
      fn.get(b);
      this.bits(type, -1);
      fn.op(`${T}.eq`);
      fn.if(T);
      this.bits(type, 0);
      fn.get(a);
      fn.op(`${T}.sub`);
      fn.else();
    }
    fn.get(b);
    if (isWide(type)) {
      fn.i64(0);
      fn.op("i64.ne");
    }
    fn.if(T);
    fn.get(a);
    fn.get(b);
    fn.op(`${T}.${signed(name, type)}`);
    fn.else();
    this.bits(type, 0);
    fn.end();
    if (isSigned(type) && name === "div") fn.end();
    code.release(T, a, b);
  }

  private leastOrGreatest(name: "min" | "max", type: ScalarType): void {
    const { fn, code } = this;
    const T = valType(type);
    const [a, b] = [code.temp(T), code.temp(T)];
    fn.set(b);
    fn.tee(a);
    fn.get(b);
    fn.get(a);
    fn.get(b);
    fn.op(`${T}.${signed(name === "min" ? "lt" : "gt", type)}`);
    fn.op("select");
    code.release(T, a, b);
  }

  /** From the operand on the stack. */
  cast(from: ScalarType, to: ScalarType): void {
    const { fn } = this;
    if (from === to) return;
    if (to === "bool") {
      if (!isFloat(from)) {
        this.bits(from, 0);
        return fn.op(`${valType(from)}.ne`);
      }
      // Greater than zero in absolute value: NaN is false.
      fn.op(`${from}.abs`);
      this.constant(from, 0);
      return fn.op(`${from}.gt`);
    }
    if (isWide(from) || isWide(to)) return this.castWide(from, to);
    if (isDouble(to)) return fn.op(isSingle(from) ? "f64.promote_f32" : signed("f64.convert_i32", from === "bool" ? "u32" : from));
    if (isSingle(to)) return fn.op(isDouble(from) ? "f32.demote_f64" : signed("f32.convert_i32", from === "bool" ? "u32" : from));
    if (isFloat(from)) fn.op(signed(`i32.trunc_sat_${from}`, to));
  }

  /** The same from or to an integer of 64 bits. */
  private castWide(from: ScalarType, to: ScalarType): void {
    const { fn } = this;
    if (!isWide(to)) return fn.op(isFloat(to) ? signed(`${to}.convert_i64`, from) : "i32.wrap_i64");
    if (isFloat(from)) return fn.op(signed(`i64.trunc_sat_${from}`, to));
    if (!isWide(from)) fn.op(signed("i64.extend_i32", from === "bool" ? "u32" : from));
  }
}
