import { mulhi } from "isoform";

/**
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3; SC11): turns the counter in `r` into four
 * random words, in place. A helper for kernels, and a function for the host.
 */
export function philox(r: Uint32Array, key: number): void {
  let k0 = key >>> 0;
  let k1 = 0 >>> 0;
  for (let round = 0; round < 10; round++) {
    const high0 = mulhi(0xd2511f53, r[0]);
    const low0 = Math.imul(0xd2511f53, r[0]) >>> 0;
    const high1 = mulhi(0xcd9e8d57, r[2]);
    const low1 = Math.imul(0xcd9e8d57, r[2]) >>> 0;
    r[0] = (high1 ^ r[1] ^ k0) >>> 0;
    r[1] = low1;
    r[2] = (high0 ^ r[3] ^ k1) >>> 0;
    r[3] = low0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
}

/** A random word as a number in (0, 1). */
export function unit(word: number): number {
  return (+word + 0.5) * 2.3283064365386963e-10;
}
