/** Factors of one pass each. */
export type Radix = 16 | 8 | 4 | 2 | 13 | 11 | 7 | 5 | 3;

/** Primes that have passes of their own. */
const PRIMES = [13, 11, 7, 5, 3] as const;

/**
 * The radices whose product is n, in the order of the passes; undefined if n has a greater prime factor. Passes of 4 suit the registers of CPUs, passes
 * of 16 the memory of GPUs, which they cross half as often.
 */
export function radicesOf(n: number, greatest: 4 | 16): Radix[] | undefined {
  const radices: Radix[] = [];
  // A 2 that is left over goes into an 8.
  const isDone = (): boolean => n % greatest !== 0 || (greatest === 4 && n % 16 === 8);
  for (; !isDone(); n /= greatest) radices.push(greatest);
  for (const radix of [8, 4, 2, ...PRIMES] as const) for (; n % radix === 0; n /= radix) radices.push(radix);
  return n === 1 ? radices : undefined;
}

/** The least length from `least` on that is a power of two, or 3, 5, 7 or 9 times one. */
export const lengthFrom = (least: number): number =>
  Math.min(...[1, 3, 5, 7, 9].map((odd) => odd * 2 ** Math.max(0, Math.ceil(Math.log2(least / odd)))));
