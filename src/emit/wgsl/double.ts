/*
 * Arithmetic on the unevaluated sum of two f32, the greater one first and the sum rounded to it: 48 bits where neither part leaves the
 * range of normal f32. The algorithms are by Dekker (1971) and Knuth, with the bounds of Joldes, Muller and Popescu, "Tight and
 * rigorous error bounds for basic building blocks of double-word arithmetic" (2017): with u = 2^-24 addition is within 3 u^2, the product,
 * whose lower terms are added up one by one, within 6 u^2. Quotient and root correct an approximation twice, so that they do not depend on how well a device divides.
 */

/**
 * Primitives of the arithmetic if `fma` rounds once. It adds as well, with a factor of one that the compiler does not know: a sum is one
 * instruction, and no one can contract or regroup it.
 */
export const BY_FMA = {
  plus: `
fn plus(a: f32, b: f32) -> f32 { return fma(a, launch.one, b); }`,
  times_plus: `
fn times_plus(a: f32, b: f32, c: f32) -> f32 { return fma(a, b, c); }`,
  exact_product: `
fn exact_product(a: f32, b: f32) -> vec2<f32> {
  let product = a * b;
  return vec2<f32>(product, fma(a, b, -product));
}`,
};

/** The same where `fma` rounds twice, or nobody knows. */
export const BY_BITS = {
  plus: `
fn plus(a: f32, b: f32) -> f32 { return rounded(a + b); }`,
  times_plus: `
fn times_plus(a: f32, b: f32, c: f32) -> f32 { return rounded(rounded(a * b) + c); }`,
  // Halves of 12 bits, whose products are exact.
  exact_product: `
fn exact_product(a: f32, b: f32) -> vec2<f32> {
  let product = rounded(a * b);
  let a_high = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
  let b_high = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let a_low = plus(a, -a_high);
  let b_low = plus(b, -b_high);
  let error = times_plus(a_high, b_low, plus(rounded(a_high * b_high), -product));
  return vec2<f32>(product, times_plus(a_low, b_low, times_plus(a_low, b_high, error)));
}`,
};

export const DOUBLE = {
  // a + b for |a| >= |b|.
  quick_sum: `
fn quick_sum(a: f32, b: f32) -> vec2<f32> {
  let sum = plus(a, b);
  return vec2<f32>(sum, plus(b, plus(a, -sum)));
}`,
  exact_sum: `
fn exact_sum(a: f32, b: f32) -> vec2<f32> {
  let sum = plus(a, b);
  let b_part = plus(sum, -a);
  let a_part = plus(sum, -b_part);
  return vec2<f32>(sum, plus(plus(a, -a_part), plus(b, -b_part)));
}`,
  add_f64: `
fn add_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let high = exact_sum(a.x, b.x);
  let low = exact_sum(a.y, b.y);
  let sum = quick_sum(high.x, plus(high.y, low.x));
  return range_checked(quick_sum(sum.x, plus(low.y, sum.y)), high.x);
}`,
  sub_f64: `
fn sub_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return add_f64(a, -b); }`,
  mul_f64: `
fn mul_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let high = exact_product(a.x, b.x);
  let low = times_plus(a.x, b.y, times_plus(a.y, b.x, high.y));
  return range_checked(quick_sum(high.x, low), high.x);
}`,
  // a b + c, within 9 u^2 of the greater of both terms.
  fma_f64: `
fn fma_f64(a: vec2<f32>, b: vec2<f32>, c: vec2<f32>) -> vec2<f32> {
  let product = exact_product(a.x, b.x);
  let low = exact_sum(times_plus(a.x, b.y, times_plus(a.y, b.x, product.y)), c.y);
  let high = exact_sum(product.x, c.x);
  let sum = quick_sum(high.x, plus(high.y, low.x));
  return range_checked(quick_sum(sum.x, plus(low.y, sum.y)), high.x);
}`,
  // a * b for one f32.
  scaled_f64: `
fn scaled_f64(a: vec2<f32>, b: f32) -> vec2<f32> {
  let high = exact_product(a.x, b);
  return quick_sum(high.x, times_plus(a.y, b, high.y));
}`,
  // Operands are brought to the middle of the range, where no product leaves it.
  div_f64: `
fn div_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let first = div_f32(a.x, b.x);
  let size = bitcast<u32>(b.x) & 0x7f800000u;
  let scale = select(1.0, select(0x1p40, 0x1p-40, size > 0x5f800000u), (size > 0x5f800000u) | (size < 0x1f800000u));
  let numerator = a * scale;
  let divisor = b * scale;
  let rest = add_f64(numerator, -scaled_f64(divisor, first));
  let second = rounded(rest.x / divisor.x);
  let last = add_f64(rest, -scaled_f64(divisor, second));
  let quotient = add_f64(quick_sum(first, second), vec2<f32>(rounded(last.x / divisor.x), 0.0));
  return select(range_checked(quotient, first), vec2<f32>(first, 0.0), (first == 0.0) | !is_finite(b.x));
}`,
  sqrt_f64: `
fn sqrt_f64(a: vec2<f32>) -> vec2<f32> {
  let size = bitcast<u32>(a.x) & 0x7f800000u;
  let apart = (size > 0x5f800000u) | (size < 0x1f800000u);
  let square = a * select(1.0, select(0x1p60, 0x1p-60, size > 0x5f800000u), apart);
  let first = rounded(sqrt(square.x));
  let twice = 2.0 * first;
  let rest = add_f64(square, -exact_product(first, first));
  let root = quick_sum(first, rounded(rest.x / twice));
  let last = add_f64(square, -mul_f64(root, root));
  let exact = add_f64(root, vec2<f32>(rounded(last.x / twice), 0.0)) * select(1.0, select(0x1p-30, 0x1p30, size > 0x5f800000u), apart);
  let special = select(a.x, not_a_number(), a.x < 0.0);
  return select(exact, vec2<f32>(special, 0.0), !(a.x > 0.0) | !is_finite(a.x));
}`,
  // a * 2^n, n from -300 to 300, in two steps so that neither leaves the range before it must.
  times_power: `
fn times_power(a: vec2<f32>, n: i32) -> vec2<f32> {
  let half = clamp(n / 2, -126, 127);
  let rest = clamp(n - half, -126, 127);
  let scaled = a * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(rest + 127) << 23u);
  return vec2<f32>(scaled.x, select(0.0, scaled.y, is_finite(scaled.x)));
}`,
  abs_f64: `
fn abs_f64(a: vec2<f32>) -> vec2<f32> { return select(a, -a, (bitcast<u32>(a.x) >> 31u) == 1u); }`,
  copysign_f64: `
fn copysign_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let size = abs_f64(a);
  return select(size, -size, ((bitcast<u32>(b.x) >> 31u) == 1u) & !is_nan(b.x));
}`,
  less_f64: `
fn less_f64(a: vec2<f32>, b: vec2<f32>) -> bool { return (a.x < b.x) | ((a.x == b.x) & (a.y < b.y)); }`,
  equal_f64: `
fn equal_f64(a: vec2<f32>, b: vec2<f32>) -> bool { return (a.x == b.x) & (a.y == b.y); }`,
  min_f64: `
fn min_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let first = less_f64(a, b) | (equal_f64(a, b) & (ordered_f32(a.x) < ordered_f32(b.x))) | is_nan(a.x);
  return select(select(b, a, first), b, is_nan(b.x));
}`,
  max_f64: `
fn max_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let first = less_f64(b, a) | (equal_f64(a, b) & (ordered_f32(a.x) > ordered_f32(b.x))) | is_nan(a.x);
  return select(select(b, a, first), b, is_nan(b.x));
}`,
  floor_f64: `
fn floor_f64(a: vec2<f32>) -> vec2<f32> {
  let high = floor(a.x);
  return select(vec2<f32>(high, 0.0), quick_sum(high, floor(a.y)), (high == a.x) & is_finite(a.x) & !(a.y == 0.0));
}`,
  ceil_f64: `
fn ceil_f64(a: vec2<f32>) -> vec2<f32> { return -floor_f64(-a); }`,
  round_f64: `
fn round_f64(a: vec2<f32>) -> vec2<f32> {
  let up = ceil_f64(a);
  let below = less_f64(a, sub_f64(up, vec2<f32>(0.5, 0.0)));
  return sub_f64(up, vec2<f32>(select(0.0, 1.0, below), 0.0));
}`,
  trunc_f64: `
fn trunc_f64(a: vec2<f32>) -> vec2<f32> {
  let sign = select(1.0, -1.0, (bitcast<u32>(a.x) >> 31u) == 1u);
  return sign * floor_f64(sign * a);
}`,
  // The whole quotient comes in pieces that are exact times the divisor.
  rem_f64: `
fn rem_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let none = !is_finite(a.x) | is_nan(b.x) | (b.x == 0.0);
  let divisor = abs_f64(b);
  var rest = abs_f64(a);
  for (var turn = 0; turn < 24 && !none && is_finite(b.x) && !less_f64(rest, divisor); turn += 1) {
    let below = bitcast<f32>(bitcast<u32>(rounded(rest.x / divisor.x) * 0.9999995) & 0xfffff000u);
    rest = add_f64(rest, -scaled_f64(divisor, max(1.0, trunc(below))));
  }
  return select(select(rest, -rest, (bitcast<u32>(a.x) >> 31u) == 1u), vec2<f32>(not_a_number(), 0.0), none);
}`,
  f64_from_f32: `
fn f64_from_f32(a: f32) -> vec2<f32> { return vec2<f32>(a, 0.0); }`,
  f64_from_i32: `
fn f64_from_i32(a: i32) -> vec2<f32> { return quick_sum(f32(a & -65536), f32(a & 65535)); }`,
  f64_from_u32: `
fn f64_from_u32(a: u32) -> vec2<f32> { return quick_sum(f32(a & 0xffff0000u), f32(a & 0xffffu)); }`,
  f64_from_bool: `
fn f64_from_bool(a: bool) -> vec2<f32> { return vec2<f32>(select(0.0, 1.0, a), 0.0); }`,
  // The lower part counts where the greater one is whole and does not saturate by itself.
  i32_from_f64: `
fn i32_from_f64(a: vec2<f32>) -> i32 {
  let low = i32(select(floor(a.y), ceil(a.y), a.x < 0.0));
  let edge = (abs(a.x) == 2147483648.0) & (((a.x > 0.0) & (low < 0)) | ((a.x < 0.0) & (low > 0)));
  let counts = (a.x == floor(a.x)) & ((abs(a.x) < 2147483648.0) | edge);
  return i32_from_f32(a.x) + select(0, low + select(0, 1, a.x == 2147483648.0), counts);
}`,
  u32_from_f64: `
fn u32_from_f64(a: vec2<f32>) -> u32 {
  let low = i32(floor(a.y));
  let edge = (a.x == 4294967296.0) & (low < 0);
  let counts = (a.x == floor(a.x)) & (a.x > 0.0) & ((a.x < 4294967296.0) | edge);
  return u32_from_f32(a.x) + bitcast<u32>(select(0, low + select(0, 1, edge), counts));
}`,
  bool_from_f64: `
fn bool_from_f64(a: vec2<f32>) -> bool { return bool_from_f32(a.x); }`,
};

/** Corrections for a value that leaves the range. */
export const STRICT_ENDS = {
  // The value, unless f32 says with 'high' that it is infinite, none, or a zero of some sign.
  range_checked: `
fn range_checked(value: vec2<f32>, high: f32) -> vec2<f32> {
  let whole = vec2<f32>(value.x, select(0.0, value.y, is_finite(value.x)));
  return select(whole, vec2<f32>(high, 0.0), !is_finite(high) | ((value.x == 0.0) & (high == 0.0)));
}`,
};

/** The same without the sign of zeros, in fast mode. */
export const FAST_ENDS = {
  range_checked: `
fn range_checked(value: vec2<f32>, high: f32) -> vec2<f32> { return select(vec2<f32>(high, 0.0), value, is_finite(value.x)); }`,
};
