/** Atomic arrays by the operation that they take. */
export const ATOMICS = ["n_add", "n_sub", "n_min", "n_max", "n_and", "n_or", "n_xor"] as const;

/** Meaning of the operations, by the methods' names. Typed arrays bring results into their type. */
export const CHANGES: Readonly<Record<string, (old: number, value: number) => number>> = {
  add: (old, value) => old + value,
  sub: (old, value) => old - value,
  min: Math.min,
  max: Math.max,
  and: (old, value) => old & value,
  or: (old, value) => old | value,
  xor: (old, value) => old ^ value,
};
