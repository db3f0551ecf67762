import type { NumberType } from "../../src/ir/types.js";
import type { RandomScalar } from "./scalars.js";
import type { Expr, Part } from "./program.js";

/** Where random choices come from. */
export interface Choices {
  /** A whole number from 0 to n - 1. */
  below(n: number): number;
}

export const pick = <T>(from: Choices, list: readonly T[]): T => list[from.below(list.length)];
export const chance = (from: Choices, percent: number): boolean => from.below(100) < percent;

export interface Variable {
  name: string;
  type: RandomScalar;
  assignable: boolean;
  /** A counter with 0 <= value < bound. */
  bound?: number;
}
export interface ArrayName {
  name: string;
  type: NumberType;
  /** A place that may be read or written: `a[i]`, with the index given; an own output's place has none to give. */
  length: number;
  writable: boolean;
}
/** Something that can be read at its own place: `x[i][j + 1]`, or called: `h(...)`. */
export interface Source {
  type: RandomScalar;
  /** Text with a hole for each argument. */
  parts: readonly string[];
  args: readonly (NumberType | { index: number })[];
}

/** What an expression may use where it stands. */
export interface Scope {
  variables: Variable[];
  arrays: ArrayName[];
  sources: Source[];
  /** Assignments and calls that change locals may stand inside expressions. */
  effects: boolean;
}

/** `expr("f64")` makes a tag for a template that writes an expression of that type. */
const expr =
  (type: RandomScalar) =>
  (strings: TemplateStringsArray, ...values: (Expr | string)[]): Expr => ({
    kind: "expr",
    type,
    strong: true,
    parts: strings.flatMap((s, n) => (n < values.length ? [s, values[n]] : [s])),
  });

const f64 = expr("f64"),
  f32 = expr("f32"),
  i32 = expr("i32"),
  u32 = expr("u32");
export const bool = expr("bool");

export const NUMERIC: readonly NumberType[] = ["f64", "f32", "i32", "u32"];

const LITERALS: Record<NumberType, readonly string[]> = {
  f64: ["0.5", "(-0.5)", "(-1.25)", "3.75", "1e300", "1e-310", "NaN", "Infinity", "(-0)", "0", "1", "2", "7", "(-3)", "0.1"],
  f32: ["0.5", "(-0.5)", "(-1.25)", "3.75", "16777216", "(-0)", "0", "1", "2", "(-3)", "NaN"],
  i32: ["0", "1", "2", "3", "5", "(-1)", "(-7)", "31", "2147483647", "(-2147483648)", "65537"],
  u32: ["0", "1", "2", "3", "5", "31", "65537", "2147483647"],
};

const STRONG: Record<RandomScalar, (e: Expr) => Expr> = {
  f64: (e) => f64`+(${e})`,
  f32: (e) => f32`Math.fround(${e})`,
  i32: (e) => i32`(${e} | 0)`,
  u32: (e) => u32`(${e} >>> 0)`,
  bool: (e) => e,
};
/** One more operation around an expression. */
const DEEPER: Record<Exclude<NumberType, "f64">, (e: Expr, other: Expr) => Expr> = {
  f32: (e, other) => f32`Math.fround(${e} + ${other})`,
  i32: (e, other) => i32`((${e} + ${other}) | 0)`,
  u32: (e, other) => u32`((${e} + ${other}) >>> 0)`,
};
/** The same value with a type of its own. */
export const strong = (e: Expr): Expr => (e.strong ? e : STRONG[e.type](e));

/** A view of indices, each from 0 to 15. */
export const LOOKUP = "lookup";

const ONE_ARGUMENT = "exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh cbrt".split(" ");
const TWO_ARGUMENTS = ["pow", "atan2", "hypot"];
/** Operands of which compilers make something else. */
const EXPONENTS = ["0.5", "(-0.5)", "2", "3", "(-1)", "0", "1", "0.25", "1.5", "0.375", "(-0)", "NaN", "Infinity"];
/** The same of powi. */
const WHOLE_EXPONENTS = ["2", "3", "4", "(-1)", "0", "1", "7", "(-5)", "30"];

/** Writes random expressions. Those of a faithful program mean the same in plain TypeScript: each operation says its rounding or wrap. */
export class Expressions {
  constructor(
    private readonly choices: Choices,
    readonly faithful: boolean,
  ) {}

  /** True where this program may leave out what would say a rounding or wrap. */
  private bare(): boolean {
    return !this.faithful && chance(this.choices, 30);
  }

  of(type: RandomScalar, scope: Scope, depth: number): Expr {
    return depth <= 0 || chance(this.choices, 15) ? this.leaf(type, scope) : this.compound(type, scope, depth - 1);
  }

  /** An expression whose type is fixed. */
  strong(type: RandomScalar, scope: Scope, depth: number): Expr {
    return strong(this.of(type, scope, depth));
  }

  /** An index from 0 to n - 1, some of which are sums that only wrapping brings there. */
  index(n: number, scope: Scope, depth: number): Part {
    const inside = this.indexInside(n, scope, depth);
    return depth > 0 && chance(this.choices, 8) ? this.wrapped(inside as Expr | string, scope) : inside;
  }

  /** The same i32 by arithmetic that leaves i32 on its way. */
  private wrapped(index: Expr | string, scope: Scope): Expr {
    const value = i32`((${index}) | 0)`;
    const other = strong(this.leaf("i32", scope));
    // Around the index, whose evaluation may assign: a literal.
    const far = pick(this.choices, ["1", "65537", "2147483647", "-2147483648"]);
    switch (this.choices.below(4)) {
      case 0:
        return i32`((${value} + Math.imul(Math.imul(${other}, 65536), 65536)) | 0)`;
      case 1:
        return i32`((((${value} + ${far}) | 0) - ${far}) | 0)`;
      case 2:
        return i32`((${far} + ((${value} - ${far}) | 0)) | 0)`;
      default:
        return i32`((Math.imul(${other}, -2147483648) + Math.imul(${other}, -2147483648) + ${value}) | 0)`;
    }
  }

  private indexInside(n: number, scope: Scope, depth: number): Part {
    const counters = scope.variables.filter((v) => v.bound !== undefined && v.bound <= n);
    if (counters.length && chance(this.choices, 50)) return pick(this.choices, counters).name;
    const lookup = scope.arrays.find(({ name }) => name === LOOKUP);
    if (lookup && depth > 0 && chance(this.choices, 10)) {
      const place = i32`${LOOKUP}[${this.index(lookup.length, scope, depth - 1) as Expr | string}]`;
      return lookup.length <= n ? place : i32`${place} % ${String(n)}`;
    }
    switch (this.choices.below(4)) {
      case 0:
        return String(this.choices.below(n));
      case 1:
        return u32`${this.strong("u32", scope, depth)} % ${String(n)}`;
      case 2:
        if ((n & (n - 1)) === 0) return i32`${this.strong("i32", scope, depth)} & ${String(n - 1)}`;
    }
    const size = String(n);
    return i32`(${this.strong("i32", scope, depth)} % ${size} + ${size}) % ${size}`;
  }

  /** A function that is not exact, of arguments that are. */
  inexact(type: NumberType, scope: Scope): Expr {
    const argument = (): Expr => this.strong(type, scope, 2);
    const call = (e: Expr): Expr => (type === "f32" ? f32`Math.fround(${e})` : e);
    if (!chance(this.choices, 40)) return call(f64`Math.${pick(this.choices, ONE_ARGUMENT)}(${argument()})`);
    const name = pick(this.choices, TWO_ARGUMENTS);
    const known = pick(this.choices, EXPONENTS);
    switch (this.choices.below(4)) {
      case 0:
        return call(f64`Math.${name}(${argument()}, ${known})`);
      case 1:
        return call(f64`Math.${name}(${known}, ${argument()})`);
      case 2:
        return call(f64`((${argument()}) ** ${known})`);
      default:
        return call(f64`Math.${name}(${argument()}, ${argument()})`);
    }
  }

  /** An expression in which many are nested, nearly as deep as they may be. */
  deep(type: NumberType, scope: Scope): Expr {
    let whole = this.strong(type, scope, 1);
    for (let n = pick(this.choices, [15, 30, 42]); n > 0; n--) {
      const other = this.leaf(type, scope);
      whole = strong(type === "f64" ? f64`(${whole} ${pick(this.choices, ["+", "-", "*"])} ${other})` : DEEPER[type](whole, other));
    }
    return whole;
  }

  private leaf(type: RandomScalar, scope: Scope): Expr {
    const variables = scope.variables.filter((v) => v.type === type);
    const sources = scope.sources.filter((s) => s.type === type && s.args.every((a) => typeof a !== "string"));
    const choice = this.choices.below(10);
    if (variables.length && choice < 5) return { kind: "expr", type, strong: true, parts: [pick(this.choices, variables).name] };
    if (sources.length && choice < 8) return this.source(pick(this.choices, sources), scope, 0);
    if (type === "bool") return { kind: "expr", type, strong: true, parts: [pick(this.choices, ["true", "false"])] };
    return { kind: "expr", type, strong: false, parts: [pick(this.choices, LITERALS[type])] };
  }

  private source({ type, parts, args }: Source, scope: Scope, depth: number): Expr {
    return {
      kind: "expr",
      type,
      strong: true,
      parts: parts.flatMap((p, n) => {
        const arg = args[n];
        if (arg === undefined) return [p];
        return [p, typeof arg === "string" ? this.strong(arg, scope, depth) : (this.index(arg.index, scope, depth) as Expr | string)];
      }),
    };
  }

  private compound(type: RandomScalar, scope: Scope, depth: number): Expr {
    const choice = this.choices.below(20);
    if (choice < 2) return this.conditional(type, scope, depth);
    if (choice < 4) {
      const arrays = scope.arrays.filter((a) => a.type === type);
      if (arrays.length) {
        const array = pick(this.choices, arrays);
        return {
          kind: "expr",
          type,
          strong: true,
          parts: [array.name, "[", this.index(array.length, scope, depth - 1) as Expr | string, "]"],
        };
      }
    }
    if (choice < 6) {
      const sources = scope.sources.filter((s) => s.type === type);
      if (sources.length) return this.source(pick(this.choices, sources), scope, depth);
    }
    if (choice === 6 && scope.effects) {
      const targets = scope.variables.filter((v) => v.type === type && v.assignable);
      if (targets.length)
        return {
          kind: "expr",
          type,
          strong: true,
          parts: ["(", pick(this.choices, targets).name, " = ", this.strong(type, scope, depth), ")"],
        };
    }
    if (choice === 7) return this.cast(type, scope, depth);
    switch (type) {
      case "f64":
        return this.double(scope, depth);
      case "f32":
        return this.single(scope, depth);
      case "i32":
        return this.signed(scope, depth);
      case "u32":
        return this.unsigned(scope, depth);
      case "bool":
        return this.condition(scope, depth);
    }
  }

  private conditional(type: RandomScalar, scope: Scope, depth: number): Expr {
    const [a, b] = [this.of(type, scope, depth), this.of(type, scope, depth)];
    // A constant condition leaves one side, which may be a bare literal.
    return strong({
      kind: "expr",
      type,
      strong: a.strong && b.strong,
      parts: ["(", this.of("bool", scope, depth), " ? ", a, " : ", b, ")"],
    });
  }

  /** Two operands, one of them of fixed type. */
  private pair(type: RandomScalar, scope: Scope, depth: number): [Expr, Expr] {
    const [a, b] = [this.of(type, scope, depth), this.of(type, scope, depth)];
    return a.strong || b.strong ? [a, b] : [strong(a), b];
  }

  /** What is left of a float by way of an integer: a zero has lost its sign. */
  private truncated(type: "f64" | "f32", scope: Scope, depth: number): Expr {
    const from = pick(this.choices, ["f64", "f32"] as const);
    const small = i32`((${this.strong(from, scope, depth)} % ${pick(this.choices, ["1", "2", "0.75"])}) | 0)`;
    return type === "f64" ? f64`+(${small})` : f32`Math.fround(${small})`;
  }

  private cast(type: RandomScalar, scope: Scope, depth: number): Expr {
    if ((type === "f64" || type === "f32") && chance(this.choices, 20)) return this.truncated(type, scope, depth);
    const from = pick(this.choices, NUMERIC);
    const e = this.strong(from, scope, depth);
    const float = from === "f64" || from === "f32";
    switch (type) {
      case "f64":
        return f64`+(${chance(this.choices, 20) ? i32`(${this.of("bool", scope, depth)} ? 1 : 0)` : e})`;
      case "f32":
        return f32`Math.fround(${e})`;
      case "i32":
        return float && !this.bare() ? i32`(Math.max(-2147483648, Math.min(2147483647, ${e})) | 0)` : i32`(${e} | 0)`;
      case "u32":
        return float && !this.bare() ? u32`(Math.max(0, Math.min(4294967295, ${e})) >>> 0)` : u32`(${e} >>> 0)`;
      case "bool":
        return bool`(!${e})`;
    }
  }

  private double(scope: Scope, depth: number): Expr {
    const [a, b] = this.pair("f64", scope, depth);
    switch (this.choices.below(11)) {
      case 9:
        return f64`powi(${strong(a)}, ${chance(this.choices, 50) ? pick(this.choices, WHOLE_EXPONENTS) : this.strong("i32", scope, depth)})`;
      case 10:
        return f64`copysign(${a}, ${b})`;
      case 0:
      case 1:
      case 2:
        return f64`(${a} ${pick(this.choices, ["+", "-", "*"])} ${b})`;
      case 3:
        return f64`(${a} ${pick(this.choices, ["/", "%"])} ${b})`;
      case 4:
        return f64`Math.${pick(this.choices, ["min", "max"])}(${a}, ${b})`;
      case 5:
        return f64`Math.${pick(this.choices, ["sqrt", "abs", "floor", "ceil", "trunc", "round", "sign"])}(${strong(a)})`;
      case 6:
        return f64`(-${strong(a)})`;
      case 7:
        return f64`(${strong(a)} ${pick(this.choices, ["+", "-", "*", "/"])} ${this.of(pick(this.choices, ["i32", "u32", "f32"]), scope, depth)})`;
      default:
        return f64`(${this.of(pick(this.choices, ["i32", "u32", "f32"]), scope, depth)} ${pick(this.choices, ["+", "-", "*"])} ${strong(a)})`;
    }
  }

  private single(scope: Scope, depth: number): Expr {
    const [a, b] = this.pair("f32", scope, depth);
    switch (this.choices.below(7)) {
      case 6:
        return f32`copysign(${a}, ${b})`;
      case 0:
      case 1:
      case 2: {
        const operator = pick(this.choices, ["+", "-", "*", "/", "%"]);
        return this.bare() ? f32`(${a} ${operator} ${b})` : f32`Math.fround(${a} ${operator} ${b})`;
      }
      case 3:
        return f32`Math.${pick(this.choices, ["min", "max"])}(${a}, ${b})`;
      case 4:
        if (this.bare()) return f32`(${strong(a)} * ${this.of(pick(this.choices, ["i32", "u32"]), scope, depth)})`;
        return f32`Math.fround(Math.${pick(this.choices, ["sqrt", "abs", "floor", "ceil", "trunc", "round", "sign"])}(${strong(a)}))`;
      default:
        return f32`(-${strong(a)})`;
    }
  }

  private signed(scope: Scope, depth: number): Expr {
    const [a, b] = this.pair("i32", scope, depth);
    const small = pick(this.choices, LITERALS.i32.slice(0, 7));
    switch (this.choices.below(11)) {
      case 0:
      case 1: {
        const operator = pick(this.choices, ["+", "-"]);
        return this.bare() ? i32`(${a} ${operator} ${b})` : i32`((${a} ${operator} ${b}) | 0)`;
      }
      case 2:
        return this.bare() ? i32`(${a} * ${b})` : i32`Math.imul(${a}, ${b})`;
      case 3:
        return this.bare() ? i32`(${strong(a)} * ${small})` : i32`((${strong(a)} * ${small}) | 0)`;
      case 4:
        return pick(this.choices, [i32`((${strong(a)} / ${b}) | 0)`, i32`(Math.floor(${strong(a)} / ${b}) | 0)`]);
      case 5:
        return this.bare() ? i32`(${a} % ${b})` : i32`((${a} % ${b}) | 0)`;
      case 6:
      case 7:
        return i32`(${a} ${pick(this.choices, ["&", "|", "^", "<<", ">>"])} ${b})`;
      case 8:
        return i32`Math.${pick(this.choices, ["min", "max"])}(${a}, ${b})`;
      case 9:
        return i32`(~${strong(a)})`;
      default:
        return pick(this.choices, [
          i32`((-${strong(a)}) | 0)`,
          i32`(Math.abs(${strong(a)}) | 0)`,
          i32`Math.clz32(${strong(a)})`,
          i32`Math.sign(${strong(a)})`,
        ]);
    }
  }

  private unsigned(scope: Scope, depth: number): Expr {
    const [a, b] = this.pair("u32", scope, depth);
    switch (this.choices.below(7)) {
      case 0:
      case 1: {
        const operator = pick(this.choices, ["+", "-"]);
        return this.bare() ? u32`(${strong(a)} ${operator} ${strong(b)})` : u32`((${a} ${operator} ${b}) >>> 0)`;
      }
      case 2:
        return this.bare() ? u32`(${strong(a)} * ${strong(b)})` : u32`(Math.imul(${a}, ${b}) >>> 0)`;
      case 3:
        return u32`((${strong(a)} ${pick(this.choices, ["/", "%"])} ${strong(b)}) >>> 0)`;
      case 4:
        return u32`((${a} ${pick(this.choices, ["&", "|", "^"])} ${b}) >>> 0)`;
      case 5:
        return pick(this.choices, [u32`(${a} >>> ${b})`, u32`((${a} << ${b}) >>> 0)`, u32`mulhi(${a}, ${b})`]);
      default:
        return u32`Math.${pick(this.choices, ["min", "max"])}(${a}, ${b})`;
    }
  }

  private condition(scope: Scope, depth: number): Expr {
    const [a, b] = [this.of("bool", scope, depth), this.of("bool", scope, depth)];
    switch (this.choices.below(8)) {
      case 7: {
        const type = pick(this.choices, ["f64", "f64", "f32", "i32"] as const);
        return bool`Number.${pick(this.choices, ["isNaN", "isFinite", "isInteger"])}(${this.strong(type, scope, depth)})`;
      }
      case 0:
        return bool`(${a} && ${b})`;
      case 1:
        return bool`(${a} || ${b})`;
      case 2:
        return bool`(!${a})`;
      case 3:
        return bool`(${a} ${pick(this.choices, ["===", "!=="])} ${b})`;
      default: {
        const [x, y] = this.pair(pick(this.choices, NUMERIC), scope, depth);
        return bool`(${x} ${pick(this.choices, ["<", "<=", ">", ">=", "===", "!=="])} ${y})`;
      }
    }
  }
}
