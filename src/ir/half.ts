/*
 * Numbers of 16 bits by operations on the bits of an f32, rounded to nearest, ties to even; NaN is one value with a sign. f16 is IEEE 754's binary16; bf16 is the
 * upper half of an f32. Emitters write the same formulas in their languages.
 */

const single = new Float32Array(1);
const word = new Uint32Array(single.buffer);

/** The bits of a number rounded to f32. */
function bitsOf(x: number): number {
  single[0] = x;
  return word[0]!;
}

function floatOf(bits: number): number {
  word[0] = bits;
  return single[0]!;
}

/** The bits of the f16 nearest to an f32; 65520 and above give infinity. */
export function bitsOfF16(x: number): number {
  const bits = bitsOf(x);
  const magnitude = bits & 0x7fffffff;
  const sign = (bits >>> 16) & 0x8000;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  // Subnormal: the sum with 1/2 rounds to multiples of 2^-24.
  if (magnitude < 0x38800000) return sign | (bitsOf(floatOf(magnitude) + 0.5) - 0x3f000000);
  const most = Math.min(magnitude, 0x47800000);
  return sign | ((most - 0x38000000 + 0xfff + ((most >>> 13) & 1)) >>> 13);
}

/** The f32 with the value of an f16. */
export function valueOfF16(bits: number): number {
  const shifted = (bits & 0x7fff) << 13;
  const sign = (bits & 0x8000) << 16;
  if (shifted >= 0x00800000) return floatOf(sign | (shifted + 0x38000000 + (shifted >= 0x0f800000 ? 0x38000000 : 0)));
  const value = (bits & 0x7fff) * 2 ** -24;
  return sign ? -value : value;
}

/** The bits of the bf16 nearest to an f32. */
export function bitsOfBf16(x: number): number {
  const bits = bitsOf(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return ((bits >>> 16) & 0x8000) | 0x7fc0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** The f32 with the value of a bf16. */
export const valueOfBf16 = (bits: number): number => floatOf(bits << 16);
