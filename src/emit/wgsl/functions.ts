import { MATH, type InexactFn } from "../../ir/operators.js";

/*
 * The functions that are not exact. They are computed as sums of two f32 of double.ts, so that f32 has them within 1 ulp, where WGSL's
 * own may be off by thousands; emulated f64 has them within about 2^-40. Series run in loops over tables, as every call is inlined.
 */

const pairText = (v: number): string => {
  const high = Math.fround(v);
  return `vec2<f32>(${literal(high)}, ${literal(Math.fround(v - high))})`;
};
/** WGSL reads hexadecimal floats exactly, but no other text of every f32 for certain. */
function literal(value: number): string {
  const v = Math.fround(value);
  if (v === 0) return "0.0f";
  const exponent = Math.floor(Math.log2(Math.abs(v)));
  const fraction = Math.round((Math.abs(v) / 2 ** exponent - 1) * 2 ** 24);
  return `${v < 0 ? "-" : ""}0x1.${fraction.toString(16).padStart(6, "0")}p${exponent}f`;
}
const table = (values: readonly number[]): string => `array<vec2<f32>, ${values.length}>(${values.map(pairText).join(", ")})`;

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
const terms = (count: number, term: (n: number) => number): number[] => Array.from({ length: count }, (_, n) => term(n));

/** 2/pi in words of 32 bits after the binary point, led by a word of zeros. */
const TWO_OVER_PI = [0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab];

/** ln 2 in parts of 24, 24 and 24 bits. */
const LN2 = [0.6931471824645996, -1.9046542121259336e-9, -8.78318373858934e-17];

const CORE = {
  // The sum of coefficients 0 .. count-1 of a table times powers of x.
  series: `
const EXP_TERMS = ${table(terms(9, (n) => 1 / factorial(n + 1)))};
const SIN_TERMS = ${table(terms(10, (n) => (-1) ** n / factorial(2 * n + 1)))};
const COS_TERMS = ${table(terms(10, (n) => (-1) ** n / factorial(2 * n)))};
const ATANH_TERMS = ${table(terms(13, (n) => 1 / (2 * n + 1)))};
fn series(which: u32, count: i32, x: vec2<f32>) -> vec2<f32> {
  var sum = vec2<f32>();
  for (var n = count - 1; n >= 0; n -= 1) {
    var term = EXP_TERMS[min(n, 8)];
    if which == 1u { term = SIN_TERMS[min(n, 9)]; }
    if which == 2u { term = COS_TERMS[min(n, 9)]; }
    if which == 3u { term = ATANH_TERMS[n]; }
    sum = add_f64(mul_f64(sum, x), term);
  }
  return sum;
}`,
  // exp(a) - 1 of a within 0.35, by its series at a / 16.
  exponent_below: `
fn exponent_below(a: vec2<f32>) -> vec2<f32> {
  let x = a * 0.0625;
  var value = mul_f64(x, series(0u, 9, x));
  for (var n = 0; n < 4; n += 1) { value = add_f64(2.0 * value, mul_f64(value, value)); }
  return value;
}`,
  // The power of two in exp(a), and what is left of a.
  exponent_parts: `
fn exponent_parts(a: vec2<f32>) -> vec3<f32> {
  let n = round(clamp(a.x, -150.0, 150.0) * ${literal(Math.LOG2E)});
  var rest = add_f64(a, -exact_product(n, ${literal(LN2[0])}));
  rest = add_f64(rest, -exact_product(n, ${literal(LN2[1])}));
  return vec3<f32>(n, add_f64(rest, vec2<f32>(-n * ${literal(LN2[2])}, 0.0)));
}`,
  exp_f64: `
fn exp_f64(a: vec2<f32>) -> vec2<f32> {
  let parts = exponent_parts(a);
  let value = times_power(add_f64(vec2<f32>(1.0, 0.0), exponent_below(parts.yz)), i32(parts.x));
  let limit = select(select(0.0, infinity(), a.x > 0.0), a.x, is_nan(a.x));
  return select(value, vec2<f32>(limit, 0.0), is_nan(a.x) | (abs(a.x) > 105.0));
}`,
  expm1_f64: `
fn expm1_f64(a: vec2<f32>) -> vec2<f32> {
  let parts = exponent_parts(a);
  let below = exponent_below(parts.yz);
  let n = i32(parts.x);
  let one = vec2<f32>(1.0, 0.0);
  let value = select(add_f64(times_power(add_f64(one, below), n), -one), below, n == 0);
  let limit = select(select(-1.0, infinity(), a.x > 0.0), a.x, is_nan(a.x));
  let same = (a.x == 0.0) | (abs(a.x) < 1e-15);
  return select(select(value, a, same), vec2<f32>(limit, 0.0), is_nan(a.x) | (abs(a.x) > 105.0));
}`,
  // a = 2^n m with m within a factor of sqrt(2) of 1: n, and the logarithm of m as 2 atanh((m - 1) / (m + 1)).
  log_parts: `
fn log_parts(a: vec2<f32>) -> vec3<f32> {
  let bits = bitcast<u32>(a.x);
  var n = i32((bits >> 23u) & 255u) - 127;
  n += select(0, 1, (bits & 0x7fffffu) > 0x3504f3u);
  let m = times_power(a, -n);
  let one = vec2<f32>(1.0, 0.0);
  return vec3<f32>(f32(n), twice_atanh(div_f64(add_f64(m, -one), add_f64(m, one))));
}`,
  twice_atanh: `
fn twice_atanh(s: vec2<f32>) -> vec2<f32> { return 2.0 * mul_f64(s, series(3u, 13, mul_f64(s, s))); }`,
  // Logarithms where they are not of a positive number.
  log_special: `
fn log_special(value: vec2<f32>, a: f32) -> vec2<f32> {
  let special = select(select(not_a_number(), -infinity(), a == 0.0), a, is_nan(a) | (a > 0.0));
  return select(value, vec2<f32>(special, 0.0), !(a > 0.0) | !is_finite(a));
}`,
  log_f64: `
fn log_f64(a: vec2<f32>) -> vec2<f32> {
  let parts = log_parts(a);
  var sum = add_f64(exact_product(parts.x, ${literal(LN2[0])}), exact_product(parts.x, ${literal(LN2[1])}));
  sum = select(add_f64(sum, parts.yz), parts.yz, parts.x == 0.0);
  return log_special(sum, a.x);
}`,
  log2_f64: `
fn log2_f64(a: vec2<f32>) -> vec2<f32> {
  let parts = log_parts(a);
  return log_special(add_f64(vec2<f32>(parts.x, 0.0), mul_f64(parts.yz, ${pairText(Math.LOG2E)})), a.x);
}`,
  log10_f64: `
fn log10_f64(a: vec2<f32>) -> vec2<f32> { return log_special(mul_f64(log_f64(a), ${pairText(Math.LOG10E)}), a.x); }`,
  log1p_f64: `
fn log1p_f64(a: vec2<f32>) -> vec2<f32> {
  let near = twice_atanh(div_f64(a, add_f64(vec2<f32>(2.0, 0.0), a)));
  let all = add_f64(vec2<f32>(1.0, 0.0), a);
  return select(select(log_f64(all), near, abs(a.x) < 0.25), a, (a.x == 0.0) | (abs(a.x) < 1e-15));
}`,
  exp2_f64: `
fn exp2_f64(a: vec2<f32>) -> vec2<f32> {
  let n = round(clamp(a.x, -200.0, 200.0));
  let rest = mul_f64(add_f64(a, vec2<f32>(-n, 0.0)), ${pairText(Math.LN2)});
  let value = times_power(add_f64(vec2<f32>(1.0, 0.0), exponent_below(rest)), i32(n));
  let limit = select(select(0.0, infinity(), a.x > 0.0), a.x, is_nan(a.x));
  return select(value, vec2<f32>(limit, 0.0), is_nan(a.x) | (abs(a.x) > 160.0));
}`,
  // JavaScript's: 1 to no power but 0 is 1 where that is infinite or none.
  pow_f64: `
fn pow_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let size = abs_f64(a);
  let value = exp_f64(mul_f64(b, log_f64(size)));
  let whole = floor_f64(b);
  let is_whole = equal_f64(whole, b) | !is_finite(b.x);
  let half = floor_f64(0.5 * b);
  let odd = is_finite(b.x) & is_whole & !equal_f64(2.0 * half, b);
  let negative = (bitcast<u32>(a.x) >> 31u) == 1u;
  let signed = select(value, -value, negative & odd);
  let one_to_infinity = (size.x == 1.0) & (size.y == 0.0) & !is_finite(b.x);
  let none = is_nan(a.x) | is_nan(b.x) | one_to_infinity | ((a.x < 0.0) & is_finite(a.x) & !is_whole);
  return select(select(signed, vec2<f32>(not_a_number(), 0.0), none), vec2<f32>(1.0, 0.0), b.x == 0.0);
}`,
  quarter_turns: `
/*
 * x = (n + f) pi/2 with |f| <= 1/2: n modulo 4, and f. The bits of 2/pi that matter are multiplied by the 24 bits of x, so that it is good
 * for every f32 (M. Payne and R. Hanek, 1983).
 */
const TWO_OVER_PI = array<u32, ${TWO_OVER_PI.length}>(${TWO_OVER_PI.map((word) => `${word}u`).join(", ")});
fn quarter_turns(x: f32) -> vec3<f32> {
  let bits = bitcast<u32>(x);
  let exponent = i32((bits >> 23u) & 255u) - 150;
  let fraction = (bits & 0x7fffffu) | 0x800000u;
  /* Position of the bits of weight 2 and 1 in the product of 24 bits. */
  let first = clamp(exponent + 30, 0, ${32 * (TWO_OVER_PI.length - 3) - 1});
  let word = first >> 5u;
  let shift = u32(first & 31);
  var window = vec3<u32>(TWO_OVER_PI[word], TWO_OVER_PI[word + 1], TWO_OVER_PI[word + 2]);
  let behind = vec3<u32>(TWO_OVER_PI[word + 1], TWO_OVER_PI[word + 2], TWO_OVER_PI[word + 3]);
  if shift > 0u { window = (window << vec3<u32>(shift)) | (behind >> vec3<u32>(32u - shift)); }
  let low = window.z * fraction;
  var middle = mulhi_u32(window.z, fraction);
  let product = window.y * fraction;
  middle += product;
  var high = mulhi_u32(window.y, fraction) + select(0u, 1u, middle < product) + window.x * fraction;
  var turns = high >> 30u;
  high = (high << 2u) | (middle >> 30u);
  middle = (middle << 2u) | (low >> 30u);
  let up = high >> 31u;
  turns += up;
  /* The fraction as a signed number of 64 bits: its upper word with the sign, its lower one. */
  let signed = bitcast<i32>(high);
  var part = quick_sum(f32(signed & -65536) * 0x1p-32, f32(signed & 65535) * 0x1p-32);
  part = add_f64(part, quick_sum(f32(middle & 0xffff0000u) * 0x1p-64, f32(middle & 0xffffu) * 0x1p-64));
  let sign = select(1.0, -1.0, (bits >> 31u) == 1u);
  let small = abs(x) < 0x1p-6;
  let exact = mul_f64(vec2<f32>(x, 0.0), ${pairText(2 / Math.PI)});
  return vec3<f32>(select(sign * f32(turns & 3u), 0.0, small), select(sign * part, exact, small));
}`,
  // The sine and cosine of a, in that order.
  turned: `
fn turned(a: vec2<f32>) -> vec4<f32> {
  let high = quarter_turns(a.x);
  let low = quarter_turns(a.y);
  var part = add_f64(high.yz, low.yz);
  let more = round(part.x);
  part = add_f64(part, vec2<f32>(-more, 0.0));
  let turns = u32(i32(high.x + low.x + more) & 3);
  let angle = mul_f64(part, ${pairText(Math.PI / 2)});
  let square = mul_f64(angle, angle);
  let sine = mul_f64(angle, series(1u, 10, square));
  let cosine = series(2u, 10, square);
  let odd = (turns & 1u) == 1u;
  let s = select(sine, cosine, odd) * select(1.0, -1.0, turns >= 2u);
  let c = select(cosine, sine, odd) * select(1.0, -1.0, (turns == 1u) | (turns == 2u));
  let none = vec4<f32>(not_a_number(), 0.0, not_a_number(), 0.0);
  return select(vec4<f32>(s, c), none, !is_finite(a.x));
}`,
  sin_f64: `
fn sin_f64(a: vec2<f32>) -> vec2<f32> { return select(turned(a).xy, a, abs(a.x) < 1e-9); }`,
  cos_f64: `
fn cos_f64(a: vec2<f32>) -> vec2<f32> { return turned(a).zw; }`,
  tan_f64: `
fn tan_f64(a: vec2<f32>) -> vec2<f32> {
  let both = turned(a);
  return select(div_f64(both.xy, both.zw), a, abs(a.x) < 1e-9);
}`,
  // The device's own, corrected by the angle that is left between it and the point.
  atan2_f64: `
fn atan2_f64(y: vec2<f32>, x: vec2<f32>) -> vec2<f32> {
  let size = max(abs(x.x), abs(y.x));
  let scale = bitcast<f32>(0x7f000000u - clamp(bitcast<u32>(size) & 0x7f800000u, 0x01000000u, 0x7e000000u));
  let across = y * scale;
  let along = x * scale;
  let first = atan2(across.x, select(along.x, 0x1p-100, (along.x == 0.0) & (across.x == 0.0)));
  let both = turned(vec2<f32>(first, 0.0));
  let above = add_f64(mul_f64(across, both.zw), -mul_f64(along, both.xy));
  let rest = div_f64(above, add_f64(mul_f64(along, both.zw), mul_f64(across, both.xy)));
  let square = mul_f64(rest, rest);
  let angle = mul_f64(rest, add_f64(vec2<f32>(1.0, 0.0), mul_f64(square, add_f64(${pairText(-1 / 3)}, 0.2 * square))));
  return atan2_special(add_f64(vec2<f32>(first, 0.0), angle), y, x);
}`,
  // Handles a coordinate that is zero, infinite or NaN, and the angle of the quotient.
  atan2_special: `
fn atan2_special(angle: vec2<f32>, y: vec2<f32>, x: vec2<f32>) -> vec2<f32> {
  let sign = select(1.0, -1.0, (bitcast<u32>(y.x) >> 31u) == 1u);
  let behind = (bitcast<u32>(x.x) >> 31u) == 1u;
  let far = vec2<bool>(!is_finite(x.x), !is_finite(y.x));
  var value = angle;
  if y.x == 0.0 { value = select(vec2<f32>(y.x, 0.0), sign * ${pairText(Math.PI)}, behind); }
  else if x.x == 0.0 { value = sign * ${pairText(Math.PI / 2)}; }
  else if far.x & far.y { value = sign * select(${pairText(Math.PI / 4)}, ${pairText((3 * Math.PI) / 4)}, behind); }
  else if far.y { value = sign * ${pairText(Math.PI / 2)}; }
  else if far.x { value = select(vec2<f32>(sign * abs(0.0 * y.x), 0.0), sign * ${pairText(Math.PI)}, behind); }
  else if !behind & (abs(y.x) < 1e-9 * abs(x.x)) { value = div_f64(y, x); }
  else if behind & (abs(y.x) < 1e-25 * abs(x.x)) { value = sign * ${pairText(Math.PI)}; }
  return select(value, vec2<f32>(not_a_number(), 0.0), is_nan(x.x) | is_nan(y.x));
}`,
  atan_f64: `
fn atan_f64(a: vec2<f32>) -> vec2<f32> { return atan2_f64(a, vec2<f32>(1.0, 0.0)); }`,
  // sqrt(1 - a^2).
  beside_one: `
fn beside_one(a: vec2<f32>) -> vec2<f32> {
  let one = vec2<f32>(1.0, 0.0);
  return sqrt_f64(mul_f64(add_f64(one, -a), add_f64(one, a)));
}`,
  asin_f64: `
fn asin_f64(a: vec2<f32>) -> vec2<f32> { return atan2_f64(a, beside_one(a)); }`,
  acos_f64: `
fn acos_f64(a: vec2<f32>) -> vec2<f32> { return atan2_f64(beside_one(a), a); }`,
  // exp(a) / 2, also where exp(a) is too large.
  half_exp: `
fn half_exp(a: vec2<f32>) -> vec2<f32> { return exp_f64(add_f64(a, ${pairText(-Math.LN2)})); }`,
  sinh_f64: `
fn sinh_f64(a: vec2<f32>) -> vec2<f32> {
  let size = abs_f64(a);
  let below = expm1_f64(size);
  let near = 0.5 * add_f64(below, div_f64(below, add_f64(below, vec2<f32>(1.0, 0.0))));
  let value = select(near, half_exp(size), size.x > 20.0);
  return select(select(value, -value, a.x < 0.0), a, (abs(a.x) < 1e-9) | is_nan(a.x));
}`,
  cosh_f64: `
fn cosh_f64(a: vec2<f32>) -> vec2<f32> {
  let size = abs_f64(a);
  let half = half_exp(size);
  return select(add_f64(half, div_f64(vec2<f32>(0.25, 0.0), half)), half, (size.x > 20.0) | is_nan(a.x));
}`,
  tanh_f64: `
fn tanh_f64(a: vec2<f32>) -> vec2<f32> {
  let below = expm1_f64(-2.0 * abs_f64(a));
  let value = -div_f64(below, add_f64(below, vec2<f32>(2.0, 0.0)));
  return select(select(value, -value, a.x < 0.0), a, (abs(a.x) < 1e-9) | is_nan(a.x));
}`,
  // The device's own power, corrected twice by Newton's method, of a number between 1 and 8.
  cbrt_f64: `
fn cbrt_f64(a: vec2<f32>) -> vec2<f32> {
  let exponent = i32((bitcast<u32>(a.x) >> 23u) & 255u) - 127;
  let third = (exponent + 300) / 3 - 100;
  let cube = times_power(abs_f64(a), -3 * third);
  var root = vec2<f32>(pow(cube.x, ${literal(1 / 3)}), 0.0);
  for (var turn = 0; turn < 2; turn += 1) {
    let square = mul_f64(root, root);
    root = add_f64(root, -div_f64(add_f64(mul_f64(square, root), -cube), 3.0 * square));
  }
  let value = times_power(root, third);
  return select(select(value, -value, a.x < 0.0), a, (a.x == 0.0) | !is_finite(a.x));
}`,
  hypot_f64: `
fn hypot_f64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let size = max(abs(a.x), abs(b.x));
  let n = clamp(i32((bitcast<u32>(size) >> 23u) & 255u) - 127, -120, 120);
  let x = times_power(a, -n);
  let y = times_power(b, -n);
  let value = times_power(sqrt_f64(add_f64(mul_f64(x, x), mul_f64(y, y))), n);
  let far = (abs(a.x) == infinity()) | (abs(b.x) == infinity());
  let special = select(not_a_number(), infinity(), far);
  return select(value, vec2<f32>(special, 0.0), !is_finite(a.x) | !is_finite(b.x));
}`,
} satisfies Record<`${InexactFn}_f64`, string> & Record<string, string>;

/** f32 has the functions of the wider type. */
const NARROW = Object.fromEntries(
  Object.entries(MATH).flatMap(([fn, { arguments: count }]) => {
    if (fn === "powi") return [];
    const args = ["a", "b"].slice(0, count);
    const call = `${fn}_f64(${args.map((arg) => `vec2<f32>(${arg}, 0.0)`).join(", ")}).x`;
    return [[`${fn}_f32`, `\nfn ${fn}_f32(${args.map((arg) => `${arg}: f32`).join(", ")}) -> f32 { return ${call}; }`]];
  }),
) as Record<`${InexactFn}_f32`, string>;

export const FUNCTIONS = { ...CORE, ...NARROW };
