import { DIVISION } from "./division.js";
import { BY_BITS, BY_FMA, DOUBLE, FAST_ENDS, STRICT_ENDS } from "./double.js";
import { WGSL_TYPES } from "./shader-program.js";
import type { FloatType } from "../../ir/scalars.js";
import { FUNCTIONS } from "./functions.js";
import { WIDE } from "./wide.js";

/*
 * The operations that WGSL lacks, or leaves open at the edges: see the comments of ir/types.ts for their results. WGSL lets a
 * compiler assume that no value is infinite or NaN, and evaluate constant expressions itself, where it rejects them; so tests for them
 * look at bits, and bits that make them depend on a number that only the launch knows.
 */

/** By squaring from the lowest bit of the exponent: see `powi` of ir/exact.ts. */
const powi = (type: FloatType, one: string, times: (a: string, b: string) => string): string => `
fn powi_${type}(x: ${WGSL_TYPES[type]}, n: i32) -> ${WGSL_TYPES[type]} {
  var power = x;
  var product = select(${one}, x, (n & 1) == 1);
  for (var rest = select(u32(n), 0u - u32(n), n < 0) >> 1u; rest != 0u; rest >>= 1u) {
    power = ${times("power", "power")};
    if (rest & 1u) == 1u { product = ${times("product", "power")}; }
  }
  if n < 0 { return div_${type}(${one}, product); }
  return product;
}`;

const EXACT = {
  rounded: `
/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }`,
  infinity: `
fn infinity() -> f32 { return bitcast<f32>(0x7f800000u ^ launch.zero); }`,
  not_a_number: `
fn not_a_number() -> f32 { return bitcast<f32>(0x7fc00000u ^ launch.zero); }`,
  positive_zero: `
fn positive_zero() -> f32 { return bitcast<f32>(launch.zero); }`,
  negative_zero: `
fn negative_zero() -> f32 { return bitcast<f32>(0x80000000u ^ launch.zero); }`,
  is_nan: `
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }`,
  is_finite: `
fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }`,
  ordered_f32: `
/* Rises with the value, -0 below +0; NaN lies outside. */
fn ordered_f32(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, bits ^ 0x7fffffff, bits < 0);
}`,
  min_f32: `
fn min_f32(a: f32, b: f32) -> f32 {
  return select(select(b, a, (ordered_f32(a) < ordered_f32(b)) | is_nan(a)), b, is_nan(b));
}`,
  max_f32: `
fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(b, a, (ordered_f32(a) > ordered_f32(b)) | is_nan(a)), b, is_nan(b));
}`,
  copysign_f32: `
fn copysign_f32(a: f32, b: f32) -> f32 {
  let sign = select(bitcast<u32>(b) & 0x80000000u, 0u, is_nan(b));
  return bitcast<f32>((bitcast<u32>(a) & 0x7fffffffu) | sign);
}`,
  // Half is taken off the whole number, not compared with a difference, which would be rounded just below 0.5.
  round_f32: `
fn round_f32(a: f32) -> f32 {
  let up = ceil(a);
  return rounded(up - select(0.0, 1.0, rounded(up - 0.5) > a));
}`,
  powi_f32: powi("f32", "1.0", (a, b) => `rounded(${a} * ${b})`),
  rem_f32: `
/* The remainder of whole quotients, bit by bit, so that it is exact. */
fn rem_f32(a: f32, b: f32) -> f32 {
  let sign = bitcast<u32>(a) & 0x80000000u;
  let x = bitcast<u32>(a) & 0x7fffffffu;
  let y = bitcast<u32>(b) & 0x7fffffffu;
  let none = (x >= 0x7f800000u) | (y > 0x7f800000u) | (y == 0u);
  let x_exponent = select(i32(x >> 23u), 0, none);
  let y_exponent = i32(y >> 23u);
  var rest = select((x & 0x7fffffu) | 0x800000u, x << 1u, x_exponent == 0);
  let divisor = select((y & 0x7fffffu) | 0x800000u, y << 1u, y_exponent == 0);
  for (var n = x_exponent; n > y_exponent; n -= 1) { rest = (rest - select(0u, divisor, rest >= divisor)) << 1u; }
  rest -= select(0u, divisor, rest >= divisor);
  let raised = min(countLeadingZeros(rest) - 8u, u32(y_exponent));
  let exponent = u32(y_exponent) - raised;
  let fraction = rest << raised;
  let bits = select(fraction - 0x800000u + (exponent << 23u), fraction >> 1u, exponent == 0u);
  let remainder = bitcast<f32>(sign | select(bits, 0u, rest == 0u));
  return select(select(remainder, a, x < y), not_a_number(), none);
}`,
  div_i32: `
fn div_i32(a: i32, b: i32) -> i32 {
  let quotient = a / select(b, 1, (b == 0) | (b == -1));
  return select(select(quotient, -a, b == -1), 0, b == 0);
}`,
  rem_i32: `
fn rem_i32(a: i32, b: i32) -> i32 {
  let none = (b == 0) | (b == -1);
  return select(a % select(b, 1, none), 0, none);
}`,
  div_u32: `
fn div_u32(a: u32, b: u32) -> u32 { return select(a / select(b, 1u, b == 0u), 0u, b == 0u); }`,
  rem_u32: `
fn rem_u32(a: u32, b: u32) -> u32 { return select(a % select(b, 1u, b == 0u), 0u, b == 0u); }`,
  mulhi_u32: `
fn mulhi_u32(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let one = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (one & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u);
}`,
  f32_from_i32: `
/* The halves are exact, and their sum is rounded to the nearest: WGSL lets a conversion go to either neighbour. */
fn f32_from_i32(a: i32) -> f32 { return rounded(f32(a & -65536) + f32(a & 65535)); }`,
  f32_from_u32: `
fn f32_from_u32(a: u32) -> f32 { return rounded(f32(a & 0xffff0000u) + f32(a & 0xffffu)); }`,
  i32_from_f32: `
fn i32_from_f32(a: f32) -> i32 {
  let inside = i32(clamp(a, -2147483648.0, 2147483520.0));
  return select(select(inside, 2147483647, a >= 2147483648.0), 0, is_nan(a));
}`,
  u32_from_f32: `
fn u32_from_f32(a: f32) -> u32 {
  let inside = u32(clamp(a, 0.0, 4294967040.0));
  return select(select(inside, 0xffffffffu, a >= 4294967296.0), 0u, is_nan(a));
}`,
  bool_from_f32: `
fn bool_from_f32(a: f32) -> bool { return !is_nan(a) & ((bitcast<u32>(a) & 0x7fffffffu) != 0u); }`,
};

const POWERS = { powi_f64: powi("f64", "vec2<f32>(1.0, 0.0)", (a, b) => `mul_f64(${a}, ${b})`) };

const COMMON = { ...EXACT, ...POWERS, ...DIVISION, ...DOUBLE, ...WIDE, ...FUNCTIONS };

/** The functions that shaders may call. */
export type HelperName = keyof typeof COMMON | keyof typeof BY_BITS | keyof typeof STRICT_ENDS;

/** Collects the helper functions that a shader uses, and those that they use. `fma` says that the device's rounds once. */
export class WgslHelpers {
  private readonly used = new Set<HelperName>();
  private readonly all: Readonly<Record<HelperName, string>>;

  constructor({ fma = false, strict = true }: { readonly fma?: boolean; readonly strict?: boolean } = {}) {
    this.all = { ...COMMON, ...(fma ? BY_FMA : BY_BITS), ...(strict ? STRICT_ENDS : FAST_ENDS) };
  }

  /** Notes the use and gives the name to call. */
  use(name: HelperName): string {
    const text = this.all[name];
    if (this.used.has(name)) return name;
    this.used.add(name);
    for (const [word] of text.matchAll(/\b[a-z]\w*(?=\()/g)) if (word !== name && this.has(word)) this.use(word);
    return name;
  }

  private has(word: string): word is HelperName {
    return Object.hasOwn(this.all, word);
  }

  /** True if some function looks at the number `name` of the launch. */
  needs(name: string): boolean {
    return [...this.used].some((helper) => this.all[helper].includes(`launch.${name}`));
  }

  toString(): string {
    return [...this.used].map((name) => `${this.all[name].trimStart()}\n`).join("");
  }
}
