import { isInteger, type FloatType } from "../../ir/scalars.js";
import type { Dialect } from "./dialect.js";

/** Names of the functions below: operation and type, or `to_from` types for casts. */
export type Helper =
  | `${"min" | "max"}_${"f64" | "f32" | "i32" | "u32"}`
  | `${"div" | "rem"}_${"i32" | "u32"}`
  | "div_f32"
  | `${"i32" | "u32" | "bool"}_from_${"f64" | "f32"}`
  | `pow_${"f64" | "f32"}`
  | "abs_i32"
  | "clz_u32"
  | "mulhi_u32";

/**
 * The operations that C lacks, or leaves undefined at the edges: see the comments of ir/types.ts for what each must give. They are
 * written without branches where that lets a compiler use them in vector loops.
 */
function definition(helper: Helper, d: Dialect): string {
  const { i32, u32, bool } = d.types;
  const [op, ...rest] = helper.split("_");
  const type = rest.at(-1) as "f64" | "f32" | "i32" | "u32";
  const T = d.types[type];
  switch (op) {
    case "min":
    case "max": {
      const better = op === "min" ? "<" : ">";
      if (isInteger(type)) return `${T} ${helper}(${T} a, ${T} b) { return a ${better} b ? a : b; }`;
      // Equal operands differ only when they are zeros: the sum of -0 and +0 is +0, minus the sum of the negated ones is -0.
      const equal = op === "min" ? "-(-a - b)" : "a + b";
      return [
        `${T} ${helper}(${T} a, ${T} b) {`,
        `  ${T} other = a == b && a == 0 ? ${equal} : b;`,
        `  return a != a || a ${better} b ? a : other;`,
        `}`,
      ].join("\n");
    }
    case "div":
      // Rounding an f64 quotient of f32 values gives their rounded quotient.
      if (type === "f32") return `${T} ${helper}(${T} a, ${T} b) { return (${T})((${d.types.f64})a / (${d.types.f64})b); }`;
      return type === "u32"
        ? `${T} ${helper}(${T} a, ${T} b) { return b == 0 ? 0 : a / b; }`
        : `${T} ${helper}(${T} a, ${T} b) { return b == 0 ? 0 : b == -1 ? (${i32})(0u - (${u32})a) : a / b; }`;
    case "rem":
      return type === "u32"
        ? `${T} ${helper}(${T} a, ${T} b) { return b == 0 ? 0 : a % b; }`
        : `${T} ${helper}(${T} a, ${T} b) { return b == 0 || b == -1 ? 0 : a % b; }`;
    case "i32":
      // Compared in the wider type: an f32 cannot hold 2147483647.
      return `${i32} ${helper}(${T} a) { return a >= 2147483648.0 ? 2147483647 : a > -2147483649.0 ? (${i32})a : a != a ? 0 : -2147483647 - 1; }`;
    case "u32":
      return `${u32} ${helper}(${T} a) { return a >= 4294967296.0 ? 4294967295u : a > -1.0 ? (${u32})a : 0u; }`;
    case "bool":
      return `${bool} ${helper}(${T} a) { return a < 0 || a > 0; }`;
    case "pow":
      return powDefinition(type as FloatType, d, `${d.math("pow", type as FloatType)}(a, b)`);
    case "abs":
      return `${i32} abs_i32(${i32} a) { return a < 0 ? (${i32})(0u - (${u32})a) : a; }`;
    case "clz":
      return `${i32} clz_u32(${u32} a) { return a == 0 ? 32 : __builtin_clz(a); }`;
    default:
      return `${u32} mulhi_u32(${u32} a, ${u32} b) { return (${u32})(((unsigned long long)a * b) >> 32); }`;
  }
}

/** `power` is C's, which is 1 for a base of 1 or -1 where JavaScript's has no value: 1 ** NaN, 1 ** Infinity, (-1) ** Infinity. */
export function powDefinition(type: FloatType, d: Pick<Dialect, "types" | "nan">, power: string): string {
  const T = d.types[type];
  return `${T} pow_${type}(${T} a, ${T} b) { return (a == 1 || a == -1) && b - b != 0 ? (${T})${d.nan} : ${power}; }`;
}

/** Collects the helpers that a program uses. */
export class Helpers {
  private readonly used = new Map<string, string>();

  constructor(private readonly dialect: Dialect) {}

  /** Notes the use and gives the name to call. */
  use(helper: Helper): string {
    if (!this.used.has(helper)) this.used.set(helper, this.dialect.helpers[helper] ?? definition(helper, this.dialect));
    return helper;
  }

  /** The definitions, each on its own lines. */
  toString(): string {
    return [...this.used.values()].map((text) => `${this.dialect.helperPrefix} ${text}\n`).join("");
  }
}
