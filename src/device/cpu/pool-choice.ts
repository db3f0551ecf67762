import { Pressure, type Timed } from "./pool-pressure.js";

/*
 * A pool runs a program with all its threads, or the calling thread does all shares: the shares are the same, and so are the results. The choice is
 * measured, since other programs, and caches that are not shared, decide what bringing threads together costs. step.ts does so for `native`.
 */

/** Runs on several threads before the first alone, and runs of a trial. */
const FIRST = 4;
const TRIES = 3;
/** Runs from one trial of what is slower to the next, times how much slower it is. */
const SELDOM = 200;
/** Milliseconds alone, at most, of a program that is tried alone, by the calling thread's own share. */
const LONG = 20;

/** A program's times. */
interface Times {
  /** Usual milliseconds on several threads and alone; 0 if unknown. */
  shared: number;
  alone: number;
  /** The calling thread's own share of the last run on several threads. */
  own: number;
  runs: number;
  /** The first of the next runs that try what is slower, and whether these are alone. */
  next: number;
  trial: boolean;
}

/** A usual time after one more run: stalls are seldom, and count little. */
function usual(known: number, took: number): number {
  if (known === 0 || took < known / 2) return took;
  const change = took - known;
  return known + (change > known / 16 ? known / 16 : change / 8);
}

/** Chooses for each run of a program. */
export class PoolChoice {
  private readonly pressure = new Pressure();
  private readonly times = new Map<number, Times>();
  private stalled = false;

  /** Whether the calling thread had better run a program of `shares` shares by itself now. */
  isAlone(program: number, shares: number, now: number): boolean {
    this.stalled = this.pressure.isHigh(program, now);
    const times = this.times.get(program);
    return this.stalled || (times !== undefined && this.isFasterAlone(times, shares));
  }

  private isFasterAlone(times: Times, shares: number): boolean {
    if (times.alone === 0 && shares * times.own > LONG) times.next = times.runs + 1;
    const better = times.alone > 0 && times.alone <= times.shared;
    if (times.runs < times.next) return better;
    if (times.runs === times.next) times.trial = !better;
    if (times.runs === times.next + TRIES - 1) {
      const ratio = times.alone > 0 ? times.alone / times.shared : 1;
      times.next = times.runs + 1 + Math.round(SELDOM * Math.max(ratio, 1 / ratio));
    }
    return times.trial;
  }

  /** Takes note of a run on several threads, which has ended now. */
  noteShared(program: number, shares: number, timed: Timed, now: number): void {
    const times = this.of(program);
    times.shared = usual(times.shared, timed.own + timed.waited);
    times.own = timed.own;
    times.runs++;
    // A trial costs nothing beside waits that are longer than the work.
    if (times.alone === 0 && timed.waited > timed.own) times.next = Math.min(times.next, times.runs);
    this.pressure.note(program, shares, timed, now, times.alone || undefined);
  }

  /** Takes note of a run alone, after `isAlone` has chosen it. */
  noteAlone(program: number, took: number): void {
    const times = this.of(program);
    times.alone = usual(times.alone, took);
    if (!this.stalled) times.runs++;
  }

  forget(program: number): void {
    this.times.delete(program);
    this.pressure.forget(program);
  }

  private of(program: number): Times {
    let times = this.times.get(program);
    if (!times) this.times.set(program, (times = { shared: 0, alone: 0, own: 0, runs: 0, next: FIRST, trial: false }));
    return times;
  }
}
