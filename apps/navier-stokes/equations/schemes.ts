/*
 * Coefficients of central differences on cells of width 1, by order.
 */

export const ORDERS = [2, 4, 6, 8] as const;
export type Order = (typeof ORDERS)[number];

/** f' = sum over l = 1, 2, ... of c_l (f(i + l) - f(i - l)). */
export const FIRST_DERIVATIVE: Readonly<Record<number, readonly number[]>> = {
  2: [1 / 2],
  4: [2 / 3, -1 / 12],
  6: [3 / 4, -3 / 20, 1 / 60],
  8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
};

/** Coefficients c_l of `FIRST_DERIVATIVE` for any even order: (-1)^(l + 1) m!^2 / (l (m - l)! (m + l)!), m half the order. */
export function firstDerivativeOf(order: number): readonly number[] {
  const half = order / 2;
  let ratio = 1;
  return Array.from({ length: half }, (_, n) => {
    // m!^2 / ((m - l)! (m + l)!), from its value for l - 1.
    ratio *= (half - n) / (half + n + 1);
    return ((n % 2 === 0 ? 1 : -1) * ratio) / (n + 1);
  });
}

/** f'' = d_0 f(i) + sum over l = 1, 2, ... of d_l (f(i + l) + f(i - l)). */
export const SECOND_DERIVATIVE: Readonly<Record<number, readonly number[]>> = {
  2: [-2, 1],
  4: [-5 / 2, 4 / 3, -1 / 12],
  6: [-49 / 18, 3 / 2, -3 / 20, 1 / 90],
  8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560],
};
