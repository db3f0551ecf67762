import { mulhi } from "../kernel/declare/builtins.js";
import { helper } from "../kernel/declare/captures.js";

/**
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3; SC11): turns the counter in `words` into four
 * random words, in place. Any two counters under one key, and any two keys, give independent words.
 */
export function philox(words: Uint32Array, key0: number, key1: number): void {
  let k0 = key0 >>> 0;
  let k1 = key1 >>> 0;
  for (let round = 0; round < 10; round++) {
    const high0 = mulhi(0xd2511f53, words[0]);
    const low0 = Math.imul(0xd2511f53, words[0]) >>> 0;
    const high1 = mulhi(0xcd9e8d57, words[2]);
    const low1 = Math.imul(0xcd9e8d57, words[2]) >>> 0;
    words[0] = (high1 ^ words[1] ^ k0) >>> 0;
    words[1] = low1;
    words[2] = (high0 ^ words[3] ^ k1) >>> 0;
    words[3] = low0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
}
helper(philox, () => [mulhi]);

/** An f64 in [0, 1) of two random words: a multiple of 2^-53. */
export function uniform(high: number, low: number): number {
  // Each product is exact, and so is the sum. Factors that are not integers make f64 of the words even if a minifier has dropped the plus.
  return +(high >>> 5) * 7.450580596923828e-9 + +(low >>> 6) * 1.1102230246251565e-16;
}

/** An f32 in [0, 1) of one random word: a multiple of 2^-24. */
export function uniform32(word: number): number {
  return Math.fround(word >>> 8) * Math.fround(5.9604644775390625e-8);
}

/** Two independent standard normal f64 of two uniform ones (Box and Muller, Annals of Mathematical Statistics 29, 1958); within some ulp on every device. */
export function normalPair(u: number, v: number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(1 - u));
  const angle = 6.283185307179586 * v;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

/** The same of f32. */
export function normalPair32(u: number, v: number): [number, number] {
  const radius = Math.sqrt(Math.fround(-2) * Math.log(Math.fround(1) - u));
  const angle = Math.fround(6.283185307179586) * v;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}
