/** RAND_MAX of the GNU C library. */
const RAND_MAX = 2147483647;

const DEGREE = 31;
const SEPARATION = 3;
const DISCARDED = 310;
const BLOCK = 4096;

/**
 * rand() of the GNU C library as seeded by srand(seed): its default additive feedback generator (TYPE_3, x^31 + x^3 + 1),
 * r[i] = r[i - 31] + r[i - 3] modulo 2^32; the upper 31 bits are returned. Seed 0 behaves as seed 1.
 */
export class GlibcRandom {
  /** The last 31 terms of the sequence, then a block of new ones. */
  private readonly sequence = new Int32Array(DEGREE + BLOCK);
  private next: number;

  constructor(seed: number) {
    const state = new Int32Array(DEGREE);
    state[0] = seed || 1;
    for (let i = 1; i < DEGREE; i++) {
      // 16807 x modulo 2^31 - 1 without leaving 32 bits (Schrage), also for negative x.
      const word = 16807 * (state[i - 1] % 127773) - 2836 * Math.trunc(state[i - 1] / 127773);
      state[i] = word < 0 ? word + 2147483647 : word;
    }
    // The term at SEPARATION is the first to be replaced, so it is the oldest.
    for (let i = 0; i < DEGREE; i++) this.sequence[BLOCK + i] = state[(i + SEPARATION) % DEGREE];
    this.next = this.sequence.length;
    for (let i = 0; i < DISCARDED; i++) this.integer();
  }

  /** As rand(): 0 to RAND_MAX. */
  integer(): number {
    if (this.next === this.sequence.length) this.advance();
    return this.sequence[this.next++] >>> 1;
  }

  /** rand() / RAND_MAX, in [0, 1]. */
  uniform(): number {
    return this.integer() / RAND_MAX;
  }

  private advance(): void {
    const r = this.sequence;
    r.copyWithin(0, BLOCK);
    for (let i = DEGREE; i < r.length; i++) r[i] = r[i - DEGREE] + r[i - SEPARATION];
    this.next = DEGREE;
  }
}
