import { ARRIVED, FAILED, Patience, RELEASED, RELEASED_SLEEPERS, type Control, type ProgramStage, type PoolRun } from "./pool-control.js";

/*
 * A region: stages that all threads of a pool run together, with a barrier between two of them, so that nobody returns to a host
 * in between. Some stages are a program on several threads, others what the calling thread does alone.
 */

/** Work of one thread in a stage, if any. */
type Share = (() => void) | undefined;

/** A thread's share of a program stage. */
export function workerShare({ args, workers }: ProgramStage, run: PoolRun, rank: number): Share {
  return rank < workers ? () => run(args, rank, workers) : undefined;
}

/**
 * One thread's work in a region. If a share throws on some thread, `fail` hears of it there, and no thread begins another share; all
 * still wait at the barriers.
 */
export class RegionRun {
  private readonly words: Int32Array;
  private readonly patience = new Patience();
  /** Milliseconds of waiting in the last run. */
  waited = 0;

  /**
   * @param team threads of the pool
   * @param sleep sleeps while RELEASED has a value, or for a while; undefined if the thread must not sleep
   */
  constructor(
    { words }: Control,
    private readonly team: number,
    private readonly shares: readonly Share[],
    private readonly fail: (stage: number, error: unknown) => void,
    private readonly sleep: ((released: number) => void) | undefined,
  ) {
    this.words = words;
  }

  run(): void {
    const { words, shares } = this;
    this.waited = 0;
    for (let stage = 0; stage < shares.length; stage++) {
      if (stage > 0) this.awaitOthers(stage);
      const share = shares[stage];
      if (!share || Atomics.load(words, FAILED) !== 0) continue;
      try {
        share();
      } catch (error) {
        this.fail(stage, error);
        Atomics.store(words, FAILED, 1);
      }
    }
  }

  /** The barrier before a stage. */
  private awaitOthers(stage: number): void {
    const { words } = this;
    if (Atomics.add(words, ARRIVED, 1) + 1 === stage * this.team) {
      Atomics.store(words, RELEASED, stage);
      if (Atomics.load(words, RELEASED_SLEEPERS) > 0) Atomics.notify(words, RELEASED);
      return;
    }
    for (let look = 0; look < QUICK_LOOKS; look++) if (Atomics.load(words, RELEASED) >= stage) return;
    const start = performance.now();
    this.patience.wait(() => Atomics.load(words, RELEASED) >= stage, this.sleep && (() => this.sleepUntil(stage)));
    this.waited += performance.now() - start;
  }

  private sleepUntil(stage: number): void {
    const { words } = this;
    Atomics.add(words, RELEASED_SLEEPERS, 1);
    try {
      const released = Atomics.load(words, RELEASED);
      if (released < stage) this.sleep!(released);
    } finally {
      Atomics.sub(words, RELEASED_SLEEPERS, 1);
    }
  }
}

/** Some microseconds: threads with equal shares arrive almost together. */
const QUICK_LOOKS = 500;
