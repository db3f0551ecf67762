import { HALF } from "../../ir/exact.js";
import { isInteger, isSingle, type FloatType, type NumericType } from "../../ir/scalars.js";
import type { Dialect, CHelper } from "./dialect.js";
import { exchangeIf, fetchExtremum } from "./fetch.js";

/**
 * The operations that C lacks, or leaves undefined at the edges: see the comments of ir/types.ts for what each must give. They are
 * written without branches where that lets a compiler use them in vector loops.
 */
const DEFINITIONS: Record<CHelper, (d: Dialect) => string> = {
  min_f64: (d) => extremum("min", "f64", d),
  min_f32: (d) => extremum("min", "f32", d),
  min_i32: (d) => extremum("min", "i32", d),
  min_u32: (d) => extremum("min", "u32", d),
  max_f64: (d) => extremum("max", "f64", d),
  max_f32: (d) => extremum("max", "f32", d),
  max_i32: (d) => extremum("max", "i32", d),
  max_u32: (d) => extremum("max", "u32", d),
  min_i64: (d) => extremum("min", "i64", d),
  min_u64: (d) => extremum("min", "u64", d),
  max_i64: (d) => extremum("max", "i64", d),
  max_u64: (d) => extremum("max", "u64", d),
  max_abs_f64: (d) => extremum("max", "f64", d),
  max_abs_f32: (d) => extremum("max", "f32", d),
  // Rounding an f64 quotient of f32 values gives their rounded quotient.
  div_f32: ({ types: { f64, f32 } }) => `${f32} div_f32(${f32} a, ${f32} b) { return (${f32})((${f64})a / (${f64})b); }`,
  div_i32: ({ types: { i32, u32 } }) =>
    `${i32} div_i32(${i32} a, ${i32} b) { return b == 0 ? 0 : b == -1 ? (${i32})(0u - (${u32})a) : a / b; }`,
  div_u32: ({ types: { u32 } }) => `${u32} div_u32(${u32} a, ${u32} b) { return b == 0 ? 0 : a / b; }`,
  // A choice of the divisor is made once where all elements share it.
  rem_i32: ({ types: { i32 } }) => `${i32} rem_i32(${i32} a, ${i32} b) { return a % (b == 0 || b == -1 ? 1 : b); }`,
  rem_u32: ({ types: { u32 } }) => `${u32} rem_u32(${u32} a, ${u32} b) { return a % (b == 0 ? 1 : b); }`,
  div_i64: ({ types: { i64, u64 } }) =>
    `${i64} div_i64(${i64} a, ${i64} b) { return b == 0 ? 0 : b == -1 ? (${i64})(0u - (${u64})a) : a / b; }`,
  div_u64: ({ types: { u64 } }) => `${u64} div_u64(${u64} a, ${u64} b) { return b == 0 ? 0 : a / b; }`,
  rem_i64: ({ types: { i64 } }) => `${i64} rem_i64(${i64} a, ${i64} b) { return a % (b == 0 || b == -1 ? 1 : b); }`,
  rem_u64: ({ types: { u64 } }) => `${u64} rem_u64(${u64} a, ${u64} b) { return a % (b == 0 ? 1 : b); }`,
  i64_from_f64: (d) => toI64("f64", d),
  i64_from_f32: (d) => toI64("f32", d),
  u64_from_f64: (d) => toU64("f64", d),
  u64_from_f32: (d) => toU64("f32", d),
  i32_from_f64: (d) => toI32("f64", d),
  i32_from_f32: (d) => toI32("f32", d),
  u32_from_f64: (d) => toU32("f64", d),
  u32_from_f32: (d) => toU32("f32", d),
  bool_from_f64: (d) => toBool("f64", d),
  bool_from_f32: (d) => toBool("f32", d),
  pow_f64: (d) => powDefinition("f64", d, `${d.math("pow", "f64")}(a, b)`),
  pow_f32: (d) => powDefinition("f32", d, `${d.math("pow", "f32")}(a, b)`),
  powi_f64: (d) => powiDefinition("f64", d),
  powi_f32: (d) => powiDefinition("f32", d),
  copysign_f64: (d) => copysignDefinition("f64", d),
  copysign_f32: (d) => copysignDefinition("f32", d),
  round_f64: (d) => roundDefinition("f64", d),
  round_f32: (d) => roundDefinition("f32", d),
  f32_from_f16: (d) => f32FromF16(d),
  f16_from_f32: (d) => f16FromF32(d),
  f32_from_bf16: ({ types: { f32, u32, bf16 }, bits }) => `${f32} f32_from_bf16(${bf16} h) { return ${bits.value(`(${u32})h << 16`)}; }`,
  bf16_from_f32: (d) => bf16FromF32(d),
  fetch_min_i32: (d) => fetchExtremum("min", "i32", d),
  fetch_min_u32: (d) => fetchExtremum("min", "u32", d),
  fetch_max_i32: (d) => fetchExtremum("max", "i32", d),
  fetch_max_u32: (d) => fetchExtremum("max", "u32", d),
  exchange_if_i32: (d) => exchangeIf("i32", d),
  exchange_if_u32: (d) => exchangeIf("u32", d),
  abs_i32: ({ types: { i32, u32 } }) => `${i32} abs_i32(${i32} a) { return a < 0 ? (${i32})(0u - (${u32})a) : a; }`,
  abs_i64: ({ types: { i64, u64 } }) => `${i64} abs_i64(${i64} a) { return a < 0 ? (${i64})(0u - (${u64})a) : a; }`,
  clz_u32: ({ types: { i32, u32 } }) => `${i32} clz_u32(${u32} a) { return a == 0 ? 32 : __builtin_clz(a); }`,
  mulhi_u32: ({ types: { u32 } }) => `${u32} mulhi_u32(${u32} a, ${u32} b) { return (${u32})(((unsigned long long)a * b) >> 32); }`,
};

function extremum(op: "min" | "max", type: NumericType, { types }: Dialect): string {
  const T = types[type];
  const better = op === "min" ? "<" : ">";
  if (isInteger(type)) return `${T} ${op}_${type}(${T} a, ${T} b) { return a ${better} b ? a : b; }`;
  // Equal operands differ only when they are zeros: the sum of -0 and +0 is +0, minus the sum of the negated ones is -0.
  const equal = op === "min" ? "-(-a - b)" : "a + b";
  return [
    `${T} ${op}_${type}(${T} a, ${T} b) {`,
    `  ${T} other = a == b && a == 0 ? ${equal} : b;`,
    `  return a != a || a ${better} b ? a : other;`,
    `}`,
  ].join("\n");
}

/**
 * Compared in the wider type: an f32 cannot hold 2147483647. What truncates to 0 is 0 by a choice: gcc 12 turns a conversion to an integer and back
 * into a truncation, which leaves the sign of -0.5.
 */
const toI32 = (from: FloatType, { types: { i32, ...types }, math }: Dialect): string =>
  `${i32} i32_from_${from}(${types[from]} a) { return !(${math("fabs", from)}(a) >= 1) ? 0 : a >= 2147483648.0 ? 2147483647 : a > -2147483649.0 ? (${i32})a : -2147483647 - 1; }`;
const toU32 = (from: FloatType, { types: { u32, ...types } }: Dialect): string =>
  `${u32} u32_from_${from}(${types[from]} a) { return a >= 4294967296.0 ? 4294967295u : a >= 1 ? (${u32})a : 0u; }`;
const toI64 = (from: FloatType, { types: { i64, ...types }, math }: Dialect): string =>
  `${i64} i64_from_${from}(${types[from]} a) { return !(${math("fabs", from)}(a) >= 1) ? 0 : a >= 9223372036854775808.0 ? (${i64})9223372036854775807 : a >= -9223372036854775808.0 ? (${i64})a : (${i64})-9223372036854775807 - 1; }`;
const toU64 = (from: FloatType, { types: { u64, ...types } }: Dialect): string =>
  `${u64} u64_from_${from}(${types[from]} a) { return a >= 18446744073709551616.0 ? (${u64})18446744073709551615u : a >= 1 ? (${u64})a : 0u; }`;
const toBool = (from: FloatType, { types: { bool, ...types } }: Dialect): string =>
  `${bool} bool_from_${from}(${types[from]} a) { return a < 0 || a > 0; }`;

/** `power` is C's, which is 1 for a base of 1 or -1 where JavaScript's has no value: 1 ** NaN, 1 ** Infinity, (-1) ** Infinity. */
export function powDefinition(type: FloatType, d: Pick<Dialect, "types" | "nan">, power: string): string {
  const T = d.types[type];
  return `${T} pow_${type}(${T} a, ${T} b) { return (a == 1 || a == -1) && b - b != 0 ? (${T})${d.nan} : ${power}; }`;
}

/** By squaring from the lowest bit of the exponent: see `powi` of ir/exact.ts. */
function powiDefinition(type: FloatType, { types: { [type]: T, f64, i32, u32 }, roughDivision }: Dialect): string {
  const reciprocal = isSingle(type) && roughDivision ? `(${T})((${f64})1 / (${f64})product)` : `(${T})1 / product`;
  return [
    `${T} powi_${type}(${T} x, ${i32} n) {`,
    `  ${T} product = n & 1 ? x : (${T})1;`,
    `  for (${u32} rest = (n < 0 ? 0u - (${u32})n : (${u32})n) >> 1; rest != 0; rest >>= 1) {`,
    `    x = x * x;`,
    `    if (rest & 1) product = product * x;`,
    `  }`,
    `  return n < 0 ? ${reciprocal} : product;`,
    `}`,
  ].join("\n");
}

/** The sign of a NaN, which no backend promises, counts as +. */
const copysignDefinition = (type: FloatType, { types: { [type]: T }, math }: Dialect): string =>
  `${T} copysign_${type}(${T} a, ${T} b) { return ${math("copysign", type)}(a, b == b ? b : (${T})0); }`;

/** Without a choice, which compilers make a branch: half of its turns would be predicted wrongly. */
const roundDefinition = (type: FloatType, { types: { [type]: T }, math }: Dialect): string => {
  const [first, second] = HALF[type].map((part) => `(${T})${part}`);
  return `${T} round_${type}(${T} a) { return ${math("copysign", type)}(${math("floor", type)}((a + ${first}) + ${second}), a); }`;
};

/* The formulas of ir/half.ts, without branches. */

const f32FromF16 = ({ types: { f32, u32, f16 }, bits }: Dialect): string =>
  [
    `${f32} f32_from_f16(${f16} h) {`,
    `  const ${u32} shifted = ((${u32})h & 0x7fffu) << 13, normal = shifted + (shifted >= 0x0f800000u ? 0x70000000u : 0x38000000u);`,
    `  const ${f32} small = ${bits.value("shifted + 0x38800000u")} - 6.103515625e-05f;`,
    `  const ${u32} magnitude = shifted < 0x00800000u ? ${bits.of("small")} : normal;`,
    `  return ${bits.value(`magnitude | ((${u32})h & 0x8000u) << 16`)};`,
    `}`,
  ].join("\n");

const f16FromF32 = ({ types: { f32, u32, f16 }, bits }: Dialect): string =>
  [
    `${f16} f16_from_f32(${f32} x) {`,
    `  const ${u32} word = ${bits.of("x")}, magnitude = word & 0x7fffffffu, sign = word >> 16 & 0x8000u;`,
    `  const ${u32} most = magnitude < 0x47800000u ? magnitude : 0x47800000u;`,
    `  const ${u32} normal = (most - 0x38000000u + 0xfffu + (most >> 13 & 1u)) >> 13;`,
    `  const ${f32} sum = ${bits.value("most")} + 0.5f;`,
    `  const ${u32} small = ${bits.of("sum")} - 0x3f000000u;`,
    `  const ${u32} number = most < 0x38800000u ? small : normal;`,
    `  return (${f16})(sign | (magnitude > 0x7f800000u ? 0x7e00u : number));`,
    `}`,
  ].join("\n");

const bf16FromF32 = ({ types: { f32, u32, bf16 }, bits }: Dialect): string =>
  [
    `${bf16} bf16_from_f32(${f32} x) {`,
    `  const ${u32} word = ${bits.of("x")}, rounded = (word + 0x7fffu + (word >> 16 & 1u)) >> 16;`,
    `  return (${bf16})((word & 0x7fffffffu) > 0x7f800000u ? (word >> 16 & 0x8000u) | 0x7fc0u : rounded);`,
    `}`,
  ].join("\n");

/** Collects the helpers that a program uses. */
export class Helpers {
  private readonly used = new Map<string, string>();

  constructor(private readonly dialect: Dialect) {}

  /** Notes the use and gives the name to call. */
  use(helper: CHelper): string {
    if (!this.used.has(helper)) this.used.set(helper, this.dialect.helpers[helper] ?? DEFINITIONS[helper](this.dialect));
    return helper;
  }

  /** The definitions, each on its own lines. */
  toString(): string {
    return [...this.used.values()].map((text) => `${this.dialect.helperPrefix} ${text}\n`).join("");
  }
}
