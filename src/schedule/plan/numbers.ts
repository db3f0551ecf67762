/**
 * Whole numbers of a plan and their arithmetic. Devices compute with numbers; launch functions that are written into files, with expressions
 * for what is known when they run.
 */
export interface Numbers<N> {
  of(value: number): N;
  sum(a: N, b: N): N;
  product(...factors: readonly N[]): N;
  /** A quotient of numbers from 0 on, rounded down, or up. */
  floor(a: N, b: N): N;
  ceil(a: N, b: N): N;
  least(a: N, b: N): N;
  greatest(a: N, b: N): N;
  /** The least power of two that reaches `value`, or `most` if that is less; with a name like `wish`. */
  powerUpTo(wish: string, value: N, most: number): N;
  /** `value` where `count` is above zero, else 0. */
  ifSome(count: N, value: N): N;
  /** The same number, with a name like `wish` where it is text: for one that is used several times. */
  keep(wish: string, value: N): N;
}

/** Numbers themselves. */
export const NUMBERS: Numbers<number> = {
  of: (value) => value,
  sum: (a, b) => a + b,
  product: (...factors) => {
    let all = 1;
    for (const factor of factors) all *= factor;
    return all;
  },
  floor: (a, b) => Math.floor(a / b),
  ceil: (a, b) => Math.ceil(a / b),
  least: (a, b) => Math.min(a, b),
  greatest: (a, b) => Math.max(a, b),
  powerUpTo: (_wish, value, most) => Math.min(most, 2 ** Math.ceil(Math.log2(Math.max(1, value)))),
  ifSome: (count, value) => (count > 0 ? value : 0),
  keep: (_wish, value) => value,
};
