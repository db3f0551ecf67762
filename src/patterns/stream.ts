import { mulhi } from "../kernel/declare/builtins.js";
import { helper } from "../kernel/declare/captures.js";
import { normalPair, normalPair32, philox, uniform, uniform32 } from "./philox.js";

/**
 * Random numbers one after the other. Each method takes 1, 2 or 4 words of Philox's blocks of four. They come from one block: words that are
 * left over, but too few, are skipped.
 */
export interface RandomStream {
  /** The next word, a u32. One word. */
  u32(): number;
  /** An f64 of 53 bits in [0, 1). Two words. */
  uniform(): number;
  /** An f32 of 24 bits in [0, 1). One word. */
  uniform32(): number;
  /** A standard normal f64 by `normalPair`; every other call gives the second number of the pair. Four words for two numbers. */
  normal(): number;
  /** The same of f32 by `normalPair32`. Two words for two numbers. */
  normal32(): number;
  /** An f64 of the exponential distribution with mean 1. Two words. */
  exponential(): number;
  /** The same of f32. One word. */
  exponential32(): number;
  /** An i32 from 0 to n - 1, for a whole n from 1 to 2^31, which is not checked; probabilities differ from 1 / n by less than 2^-64. Two words. */
  below(n: number): number;
}

/** The words of one element, block after block. Compilers know how many are left, except in loops and after branches. */
const wordsOf = helper(
  (seed: number, index: number, step: number) => {
    const words = new Uint32Array(4);
    let block = 0;
    let left = 0;
    const take = (count: number): void => {
      if (left < count) {
        words[0] = index >>> 0;
        words[1] = block >>> 0;
        words[2] = 0;
        words[3] = 0;
        philox(words, seed >>> 0, step >>> 0);
        block += 1;
        left = 4;
      }
      left -= count;
    };
    return {
      one: (): number => {
        take(1);
        return left === 3 ? words[0] : left === 2 ? words[1] : left === 1 ? words[2] : words[3];
      },
      two: (): [number, number] => {
        take(2);
        return [left === 2 ? words[0] : left === 1 ? words[1] : words[2], left === 2 ? words[1] : left === 1 ? words[2] : words[3]];
      },
      four: (): [number, number, number, number] => {
        take(4);
        return [words[0], words[1], words[2], words[3]];
      },
    };
  },
  () => [philox],
);

/** Gives numbers that are made by twos one by one. */
const oneByOne = helper((pair: () => [number, number]) => {
  let spare = 0;
  let hasSpare = false;
  return (): number => {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    const [first, second] = pair();
    spare = second;
    hasSpare = true;
    return first;
  };
});

/** The high word of the product of an integer of two words and n. */
const scaled = helper(
  (high: number, low: number, n: number): number => {
    const carried = mulhi(low, n);
    const middle = ((Math.imul(high, n) >>> 0) + carried) >>> 0;
    return (mulhi(high, n) + ((middle < carried ? 1 : 0) >>> 0)) | 0;
  },
  () => [mulhi],
);

/**
 * The random numbers of one element: Philox4x32-10 with the counter (`index`, block, 0, 0) under the key (`seed`, `step`), where the block counts from 0. They
 * depend on these three integers and on the calls before alone, not on the device or the order of elements. The integers are u32: others count modulo 2^32.
 *
 * @param step Another sequence for each, such as the number of the time step; default 0
 */
export const stream = helper(
  (seed: number, index: number, step = 0): RandomStream => {
    const words = wordsOf(seed, index, step);
    const real = (): number => {
      const [high, low] = words.two();
      return uniform(high, low);
    };
    return {
      u32: words.one,
      uniform: real,
      uniform32: () => uniform32(words.one()),
      normal: oneByOne(() => {
        const [a, b, c, d] = words.four();
        return normalPair(uniform(a, b), uniform(c, d));
      }),
      normal32: oneByOne(() => {
        const [a, b] = words.two();
        return normalPair32(uniform32(a), uniform32(b));
      }),
      exponential: () => -Math.log(1 - real()),
      exponential32: () => -Math.log(Math.fround(1) - uniform32(words.one())),
      below: (n: number) => {
        const [high, low] = words.two();
        return scaled(high, low, n >>> 0);
      },
    };
  },
  () => [wordsOf, oneByOne, scaled, uniform, uniform32, normalPair, normalPair32],
);

/** All functions for random numbers as parameters of a kernel: `kernel("draw", { ...random, seed: u32, x: view(f64) }, ...)`. */
export const random = { mulhi, philox, uniform, uniform32, normalPair, normalPair32, stream };
