import { unreachable } from "../../base/unreachable.js";
import { ELEMENTS, isFloat, isSigned, isSingle, isUnsigned, isWide, type FloatType, type WideType } from "../../ir/scalars.js";
import type { BinaryFn, CompareFn, MathFn, NumericType, ScalarType, UnaryFn } from "../../ir/types.js";
import type { Dialect, CHelper } from "./dialect.js";
import type { Helpers } from "./helpers.js";
import { at, COMPARISONS, infix, Precedence, OPERATORS, type Text } from "./operators.js";

/** C expressions of operators and functions, by the texts of their operands: what the writers of all dialects share. */
export class Expressions {
  constructor(
    private readonly dialect: Dialect,
    private readonly helpers: Helpers,
  ) {}

  literal(type: ScalarType, value: number | bigint | boolean): Text {
    if (isWide(type)) return this.wideLiteral(type, BigInt(value));
    const v = Number(value);
    if (type === "bool") return [v ? "true" : "false", Precedence.Term];
    if (isSigned(type))
      return v === -2147483648 ? ["-2147483647 - 1", Precedence.Sum] : [String(v), v < 0 ? Precedence.Prefix : Precedence.Term];
    if (isUnsigned(type)) return [`${v >>> 0}u`, Precedence.Term];
    const sign = v < 0 || Object.is(v, -0) ? "-" : "";
    const level = sign ? Precedence.Prefix : Precedence.Term;
    if (!Number.isFinite(v)) {
      const name = Number.isNaN(v) ? this.dialect.nan : this.dialect.infinity;
      return isSingle(type) ? [`(${this.dialect.types.f32})${sign}${name}`, Precedence.Prefix] : [sign + name, level];
    }
    const digits = String(Math.abs(v));
    return [sign + (/[.e]/.test(digits) ? digits : `${digits}.0`) + (isSingle(type) ? "f" : ""), level];
  }

  /** Digits take the first type that holds them, so that the cast alone is different in the languages. */
  private wideLiteral(type: WideType, value: bigint): Text {
    const cast = `(${this.dialect.types[type]})`;
    if (type === "u64") return [`${cast}${value}u`, Precedence.Prefix];
    const isLeast = value === ELEMENTS.i64.least;
    return isLeast
      ? [`${cast}-9223372036854775807 - 1`, Precedence.Sum]
      : [`${cast}${value < 0n ? `(${value})` : value}`, Precedence.Prefix];
  }

  unary(fn: UnaryFn, type: ScalarType, a: Text): Text {
    const { types } = this.dialect;
    switch (fn) {
      case "neg":
        if (isSigned(type) && !this.dialect.signedWraps)
          return [`(${types[type]})(0u - (${types[UNSIGNED[type]]})${at(a, Precedence.Prefix)})`, Precedence.Prefix];
        // A term, or `- -x` would be read as `--x`.
        return [`-${at(a, Precedence.Term)}`, Precedence.Prefix];
      case "not":
        return [`!${at(a, Precedence.Prefix)}`, Precedence.Prefix];
      case "bitnot":
        return [`~${at(a, Precedence.Prefix)}`, Precedence.Prefix];
      case "abs":
        if (isUnsigned(type)) return a;
        return [
          `${isFloat(type) ? this.dialect.math("fabs", type) : this.helpers.use(type === "i64" ? "abs_i64" : "abs_i32")}(${a[0]})`,
          Precedence.Term,
        ];
      case "clz":
        return [`${this.helpers.use("clz_u32")}(${a[0]})`, Precedence.Term];
      case "round":
        return [`${this.helpers.use(`round_${type as FloatType}`)}(${a[0]})`, Precedence.Term];
      case "floor":
      case "trunc":
      case "ceil":
      case "sqrt":
        return [`${this.dialect.math(fn, type as FloatType)}(${a[0]})`, Precedence.Term];
      default:
        return unreachable(fn);
    }
  }

  /** `constant`: the value of the right operand, where it is known. */
  arithmetic(fn: BinaryFn, type: NumericType, a: Text, b: Text, constant?: number): Text {
    const helper = this.helperOf(fn, type, constant);
    if (helper) return [`${this.helpers.use(helper)}(${a[0]}, ${b[0]})`, Precedence.Term];
    if (fn === "rem" && isFloat(type)) return [`${this.dialect.math("fmod", type)}(${a[0]}, ${b[0]})`, Precedence.Term];
    if (fn === "shl" || fn === "shr") return this.shifted(fn, type, a, b, constant);
    const { types, signedWraps } = this.dialect;
    const [sign, level] = OPERATORS[fn as keyof typeof OPERATORS];
    if (isSigned(type) && !signedWraps && (fn === "add" || fn === "sub" || fn === "mul")) {
      const unsigned = (x: Text): Text => [`(${types[UNSIGNED[type]]})${at(x, Precedence.Prefix)}`, Precedence.Prefix];
      return [`(${types[type]})(${infix(sign, level, unsigned(a), unsigned(b))[0]})`, Precedence.Prefix];
    }
    const bits = fn === "and" || fn === "or" || fn === "xor";
    return bits ? [`${at(a, Precedence.Prefix)} ${sign} ${at(b, Precedence.Prefix)}`, level] : infix(sign, level, a, b);
  }

  /** The helper that stands for an operation that C lacks, or leaves undefined at its edges. */
  private helperOf(fn: BinaryFn, type: NumericType, constant: number | undefined): CHelper | undefined {
    if (fn === "min" || fn === "max") return `${fn}_${type}`;
    if (fn === "mulhi") return "mulhi_u32";
    if (fn === "copysign") return `copysign_${type as FloatType}`;
    if (fn !== "div" && fn !== "rem") return undefined;
    if (isFloat(type)) return fn === "div" && isSingle(type) && this.dialect.roughDivision ? "div_f32" : undefined;
    const safe = constant !== undefined && constant !== 0 && constant !== -1;
    return safe ? undefined : `${fn}_${type}`;
  }

  private shifted(fn: "shl" | "shr", type: NumericType, a: Text, b: Text, constant: number | undefined): Text {
    const { types } = this.dialect;
    const [sign, level] = OPERATORS[fn];
    const most = isWide(type) ? 63 : 31;
    const by: Text =
      constant !== undefined ? [String(constant & most), Precedence.Term] : [`(${at(b, Precedence.Prefix)} & ${most})`, Precedence.Term];
    return fn === "shl" && isSigned(type)
      ? [`(${types[type]})((${types[UNSIGNED[type]]})${at(a, Precedence.Prefix)} << ${by[0]})`, Precedence.Prefix]
      : [`${at(a, Precedence.Term)} ${sign} ${by[0]}`, level];
  }

  cast(from: ScalarType, to: ScalarType, a: Text): Text {
    if (from === to) return a;
    if (isFloat(from) && !isFloat(to)) return [`${this.helpers.use(`${to}_from_${from}`)}(${a[0]})`, Precedence.Term];
    if (to === "bool") return [`${at(a, Precedence.Equal + 1)} != 0`, Precedence.Equal];
    return [`(${this.dialect.types[to]})${at(a, Precedence.Prefix)}`, Precedence.Prefix];
  }

  call(fn: MathFn, type: FloatType, args: readonly string[]): Text {
    const name = fn === "pow" || fn === "powi" ? this.helpers.use(`${fn}_${type}`) : this.dialect.math(fn, type);
    return [`${name}(${args.join(", ")})`, Precedence.Term];
  }
}

/** The type with the same bits for sums that wrap. */
const UNSIGNED: Readonly<Record<"i32" | "i64", "u32" | "u64">> = { i32: "u32", i64: "u64" };

/** The value of a constant; of i64 and u64 near enough to tell 0 and -1, and the count of a shift. */
export const constantOf = (e: { readonly op: string; readonly value?: unknown }): number | undefined =>
  e.op === "const" ? Number(e.value) : undefined;

export function compared(fn: CompareFn, a: Text, b: Text): Text {
  const [sign, level] = COMPARISONS[fn];
  return [`${at(a, level + 1)} ${sign} ${at(b, level + 1)}`, level];
}

export const chosen = (cond: Text, a: Text, b: Text): Text => [
  `${at(cond, Precedence.Or)} ? ${at(a, Precedence.Or)} : ${at(b, Precedence.Select)}`,
  Precedence.Select,
];

/** An expression of two truth values, in an IR. */
interface Logical<E> {
  readonly fn: "and" | "or";
  readonly a: E;
  readonly b: E;
}

/** An `and` inside an `or` is put in parentheses for the reader. */
export function logicalText<E extends { readonly op: string }>(e: Logical<E>, text: (e: E) => Text): Text {
  const [sign, level] = e.fn === "and" ? (["&&", Precedence.And] as const) : (["||", Precedence.Or] as const);
  const inner = e.fn === "and" ? Precedence.And : Precedence.BitOr;
  const isSame = (x: E) => x.op === "logical" && (x as unknown as Logical<E>).fn === e.fn;
  return [[e.a, e.b].map((x) => (isSame(x) ? text(x)[0] : at(text(x), inner))).join(` ${sign} `), level];
}
