/*
 * Integers of 64 bits as pairs of words, the lower one first. Sums, products and shifts have the same bits with and without a sign.
 */

const PAIR = "vec2<u32>";

const shifts = (type: "i64" | "u64"): string => {
  const [upper, filled] = type === "i64" ? ["u32(bitcast<i32>(a.y) >> n)", "u32(bitcast<i32>(a.y) >> 31u)"] : ["a.y >> n", "0u"];
  return `
fn shr_${type}(a: ${PAIR}, count: u32) -> ${PAIR} {
  let n = count & 31u;
  let upper = ${upper};
  let lower = select((a.x >> n) | (a.y << (32u - n)), a.x, n == 0u);
  return select(${PAIR}(lower, upper), ${PAIR}(upper, ${filled}), (count & 32u) != 0u);
}`;
};

/** The functions that shaders may call. */
export const WIDE = {
  add_wide: `
fn add_wide(a: ${PAIR}, b: ${PAIR}) -> ${PAIR} {
  let low = a.x + b.x;
  return ${PAIR}(low, a.y + b.y + select(0u, 1u, low < a.x));
}`,
  sub_wide: `
fn sub_wide(a: ${PAIR}, b: ${PAIR}) -> ${PAIR} { return ${PAIR}(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x)); }`,
  mul_wide: `
fn mul_wide(a: ${PAIR}, b: ${PAIR}) -> ${PAIR} { return ${PAIR}(a.x * b.x, mulhi_u32(a.x, b.x) + a.x * b.y + a.y * b.x); }`,
  wide_from_i32: `
fn wide_from_i32(a: i32) -> ${PAIR} { return ${PAIR}(u32(a), u32(a >> 31u)); }`,
  shl_wide: `
fn shl_wide(a: ${PAIR}, count: u32) -> ${PAIR} {
  let n = count & 31u;
  let lower = a.x << n;
  let upper = select((a.y << n) | (a.x >> (32u - n)), a.y, n == 0u);
  return select(${PAIR}(lower, upper), ${PAIR}(0u, lower), (count & 32u) != 0u);
}`,
  shr_i64: shifts("i64"),
  shr_u64: shifts("u64"),
  less_i64: `
fn less_i64(a: ${PAIR}, b: ${PAIR}) -> bool {
  return (bitcast<i32>(a.y) < bitcast<i32>(b.y)) | ((a.y == b.y) & (a.x < b.x));
}`,
  less_u64: `
fn less_u64(a: ${PAIR}, b: ${PAIR}) -> bool { return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x)); }`,
  abs_i64: `
fn abs_i64(a: ${PAIR}) -> ${PAIR} { return select(a, sub_wide(${PAIR}(), a), bitcast<i32>(a.y) < 0); }`,
};
