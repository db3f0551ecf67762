/*
 * Quotient and root of f32, rounded to nearest. WGSL allows a device's own to be off by some units in the last place, wrong of large divisors,
 * and anything of infinities and NaN. So their fractions are whole numbers here: the device's own value is but a first guess, the rest that it
 * leaves is exact modulo 2^32, and what the guess lacks is that rest over the divisor. A guess may be off by 60 units. What is special is told
 * by bits, and the result is made of bits, in which no compiler can find a float to compute otherwise.
 */
export const DIVISION = {
  // The 24 bits of a magnitude that is fraction_of * 2^(exponent_of - 150), of subnormals too.
  fraction_of: `
fn fraction_of(size: u32) -> u32 {
  return select((size & 0x7fffffu) | 0x800000u, size << ((countLeadingZeros(size) - 8u) & 31u), size < 0x800000u);
}`,
  exponent_of: `
fn exponent_of(size: u32) -> i32 { return select(i32(size >> 23u), 9 - i32(countLeadingZeros(size)), size < 0x800000u); }`,
  div_f32: `
fn div_f32(a: f32, b: f32) -> f32 {
  let x = bitcast<u32>(a) & 0x7fffffffu;
  let y = bitcast<u32>(b) & 0x7fffffffu;
  let dividend = fraction_of(x);
  let divisor = fraction_of(y);
  let less = u32(dividend < divisor);
  /* 24 bits and one more: from 2^24 to 2^25. */
  var quotient = u32(f32(dividend << less) / f32(divisor) * 0x1p24f);
  var rest = i32((dividend << (24u + less)) - quotient * divisor);
  quotient += u32(rest / i32(divisor));
  rest %= i32(divisor);
  quotient -= u32(rest < 0);
  /* Results below 2^-126 have fewer bits. What is dropped goes to the top of a word, and a rest below it. */
  let exponent = exponent_of(x) - exponent_of(y) + 127 - i32(less);
  let shift = u32(clamp(2 - exponent, 1, 26));
  let fraction = quotient >> shift;
  let dropped = (quotient << (32u - shift)) | u32(rest != 0);
  let up = u32(dropped + (fraction & 1u) > 0x80000000u);
  var bits = (u32(max(exponent, 1) - 1) << 23u) + fraction + up;
  bits = select(bits, 0x7f800000u, exponent > 254);
  bits = select(bits, 0u, (x == 0u) | (y == 0x7f800000u));
  bits = select(bits, 0x7f800000u, (x == 0x7f800000u) | (y == 0u));
  let none = (x > 0x7f800000u) | (y > 0x7f800000u) | ((x == y) & ((x == 0u) | (x == 0x7f800000u)));
  bits = select(bits, 0x7fc00000u, none);
  return bitcast<f32>(bits | ((bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u));
}`,
  sqrt_f32: `
fn sqrt_f32(a: f32) -> f32 {
  let bits = bitcast<u32>(a);
  let exponent = exponent_of(bits & 0x7fffffffu);
  let even = u32(exponent + 1) & 1u;
  let fraction = fraction_of(bits & 0x7fffffffu);
  let square = fraction << (23u + even);
  var root = u32(sqrt(f32(fraction << even) * 0x1p-23f) * 0x1p23f);
  root += u32(i32(square - root * root) / i32(2u * root));
  let rest = i32(square - root * root);
  /* (root + 1/2)^2 is root^2 + root and a quarter. */
  root = root + u32(rest > i32(root)) - u32(rest <= -i32(root));
  let value = (u32((exponent + 127 - i32(even)) / 2 - 1) << 23u) + root;
  let special = select(bits, 0x7fc00000u, bits > 0x80000000u);
  return bitcast<f32>(select(value, special, (bits == 0u) | (bits >= 0x7f800000u)));
}`,
};
