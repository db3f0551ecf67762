/** Cosine and sine of k of n parts of a full turn, 0 <= k < n. The angle is brought below an eighth of a turn first, so both are right to the last digit or two. */
function partOfTurn(k: number, n: number): [cosine: number, sine: number] {
  const quarters = Math.round((4 * k) / n);
  const angle = (Math.PI / 2) * ((4 * k - quarters * n) / n);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  // Differences, since a negated 0 would be -0.
  return (
    [
      [c, s],
      [0 - s, c],
      [0 - c, 0 - s],
      [s, 0 - c],
    ] as [number, number][]
  )[quarters % 4];
}

/** exp(-2 pi i k / n) */
export function rootOfUnity(k: number, n: number): [re: number, im: number] {
  const [c, s] = partOfTurn(k, n);
  return [c, 0 - s];
}

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

/** exp(-pi i j^2 / n) for j from 0 to n - 1. The squares are counted up modulo 2 n, so that they are exact. */
export function chirpOf(n: number): [re: number, im: number][] {
  const chirp: [number, number][] = [];
  for (let j = 0, square = 0; j < n; j++) {
    chirp.push(rootOfUnity(square, 2 * n));
    square = (square + 2 * j + 1) % (2 * n);
  }
  return chirp;
}
