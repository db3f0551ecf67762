import { fetchByBuiltins } from "./fetch.js";
import { isSingle, type FloatType } from "../../ir/scalars.js";
import { LIBRARY, PRINTF, type Dialect } from "./dialect.js";
import { powDefinition } from "./helpers.js";

const types = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  bool: "bool",
  u8: "uint8_t",
  i8: "int8_t",
  u16: "uint16_t",
  i16: "int16_t",
  f16: "uint16_t",
  bf16: "uint16_t",
  index: "int64_t",
};
const math: Dialect["math"] = (fn, type) => (isSingle(type) ? `${LIBRARY[fn]}f` : LIBRARY[fn]);

/** A power of 0.5 is a root but for -0 and -Infinity, which GCC overlooks where it knows the exponent. */
function pow(type: FloatType): string {
  const root = `a == -INFINITY ? INFINITY : ${math("fabs", type)}(${math("sqrt", type)}(a))`;
  return powDefinition(type, { types, nan: "NAN" }, `b == 0.5 ? (${root}) : ${math("pow", type)}(a, b)`);
}

/**
 * As in helpers.ts, in few instructions, and in words that GCC 12 takes into vector loops. `found` and `twin` are the same, but where both operands
 * are zeros, whose signs their sum settles, and where one of them is NaN, which one of the two is.
 */
function extremum(op: "min" | "max", type: FloatType): string {
  const T = types[type];
  const better = op === "min" ? "<" : ">";
  const sign = op === "min" ? "-(-found - twin)" : "found + twin";
  return [
    `${T} ${op}_${type}(${T} a, ${T} b) {`,
    `  ${T} found = a ${better} b ? a : b, twin = b ${better} a ? b : a;`,
    `  ${T} settled = ${math("copysign", type)}(found, ${sign});`,
    `  return a != a ? a : settled;`,
    `}`,
  ].join("\n");
}

/** The greatest of values without a sign, after -Infinity: their bits have their order, and NaN is above all. */
const greatestAbs = (type: FloatType, bits: string): string =>
  [
    `${types[type]} max_abs_${type}(${types[type]} a, ${types[type]} b) {`,
    `  union { ${types[type]} value; ${bits} bits; } x = {a}, y = {b}, most = {.bits = x.bits > y.bits ? x.bits : y.bits};`,
    `  return most.value;`,
    `}`,
  ].join("\n");

/** C11 for gcc and clang, compiled with -fwrapv. */
export const openmpDialect: Dialect = {
  name: "C",
  types,
  helperPrefix: "static inline",
  tablePrefix: "static const",
  signedWraps: true,
  likely: (condition) => `__builtin_expect(${condition}, 1)`,
  bits: {
    of: (value) => `((union { float value; uint32_t bits; }){.value = ${value}}).bits`,
    value: (word) => `((union { uint32_t bits; float value; }){.bits = ${word}}).value`,
  },
  infinity: "INFINITY",
  nan: "NAN",
  math,
  fetch: fetchByBuiltins,
  next: (pointer) => `__atomic_fetch_add(${pointer}, 1, __ATOMIC_RELAXED)`,
  printf: PRINTF,
  helpers: {
    min_f64: extremum("min", "f64"),
    min_f32: extremum("min", "f32"),
    max_f64: extremum("max", "f64"),
    max_f32: extremum("max", "f32"),
    max_abs_f64: greatestAbs("f64", "int64_t"),
    max_abs_f32: greatestAbs("f32", "int32_t"),
    pow_f64: pow("f64"),
    pow_f32: pow("f32"),
  },
};
