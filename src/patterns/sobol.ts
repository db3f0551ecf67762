/** Primitive polynomials (degree is the count of m, a holds the inner coefficients) and first direction numbers of dimensions 2 to 10: Joe and Kuo, SIAM J. Sci. Comput. 30 (2008). */
const JOE_KUO: readonly { readonly a: number; readonly m: readonly number[] }[] = [
  { a: 0, m: [1] },
  { a: 1, m: [1, 3] },
  { a: 1, m: [1, 3, 1] },
  { a: 2, m: [1, 1, 1] },
  { a: 1, m: [1, 1, 3, 3] },
  { a: 4, m: [1, 3, 5, 13] },
  { a: 2, m: [1, 1, 5, 5, 17] },
  { a: 4, m: [1, 1, 5, 5, 5] },
  { a: 7, m: [1, 1, 7, 11, 19] },
];

/** Direction numbers as binary fractions of 32 bits: [dimension][bit]. Hand them to a kernel as `table(u32, SOBOL_DIRECTIONS)`. */
export const SOBOL_DIRECTIONS: readonly (readonly number[])[] = [
  Array.from({ length: 32 }, (_, bit) => (1 << (31 - bit)) >>> 0),
  ...JOE_KUO.map(({ a, m }) => {
    const s = m.length;
    const v = m.map((number, bit) => (number << (31 - bit)) >>> 0);
    for (let bit = s; bit < 32; bit++) {
      let next = v[bit - s] ^ (v[bit - s] >>> s);
      for (let k = 1; k < s; k++) if ((a >> (s - 1 - k)) & 1) next ^= v[bit - k];
      v.push(next >>> 0);
    }
    return v;
  }),
];

interface Directions {
  readonly [dimension: number]: { readonly [bit: number]: number };
}

/**
 * Coordinate `dimension` of point `index` of Sobol's sequence, in its natural order: an f64 in [0, 1), a multiple of 2^-32, and above 0
 * for every index above 0. A helper for kernels, and a function for the host.
 */
export function sobol(directions: Directions, index: number, dimension: number): number {
  let bits = 0 >>> 0;
  for (let bit = 0; bit < 32; bit++) if (((index >>> bit) & 1) === 1) bits = (bits ^ directions[dimension][bit]) >>> 0;
  return +bits * 2.3283064365386963e-10;
}
