/* Values of `random_number` on the host: the same numbers in each process. */

let state = 1;

/** 32 random bits: a counter, mixed by multiplications and shifts until each bit of it counts for each of the result. */
function bits(): number {
  state = (state + 0x9e3779b9) | 0;
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** A number from 0 up to 1, which it does not reach, with all bits of its type. */
export const randomNumber = (type: "f64" | "f32"): number =>
  type === "f32" ? (bits() >>> 8) / 2 ** 24 : ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
