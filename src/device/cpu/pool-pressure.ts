/*
 * A worker waits for a core for milliseconds while other programs have them all, and the calling thread waits for the worker. Then it runs short
 * programs by itself, share by share: the shares are the same, and so are the results.
 */

/** Runs over which waits are averaged. */
const MEMORY = 16;
/** Milliseconds of waits, on average, that other programs must have caused. */
const LONG = 1 / MEMORY;
/** Factor by which a share's time grows at most from run to run. */
const SLOWER = 1.1;
/** Milliseconds until several threads are tried again, at first and at most. */
const REST = { first: 20, most: 1000 };
/** Rests that have to go by without long waits before the next rest is a first one: between two waits a busy machine runs many short programs. */
const USEFUL = 4;

/** A run on several threads, in milliseconds: the calling thread's own work, and its waits for others. */
export interface Timed {
  readonly own: number;
  readonly waited: number;
}

/** Other programs' pressure on a pool, by how long its calling thread waits for the others. */
export class Pressure {
  /** Milliseconds that each program would take alone. */
  private readonly alone = new Map<number, number>();
  private rest: number = REST.first;
  private until = -Infinity;
  /** The longest wait, on average, since a rest was last of use. */
  private longest = 0;
  /** Milliseconds of a wait, on average over the last runs: among many threads, one that has no core for once costs less than doing without them. */
  private mean = 0;

  /** Whether the calling thread had better run a program's shares by itself now. */
  isHigh(program: number, now: number): boolean {
    return now < this.until && (this.alone.get(program) ?? Infinity) < this.longest;
  }

  /** Takes note of a run in `shares` shares, which has ended now; `measured`: milliseconds alone, where they are known. */
  note(program: number, shares: number, { own, waited }: Timed, now: number, measured?: number): void {
    // The calling thread's own share takes longer, too, where others have its core.
    const alone = measured ?? Math.min(own * shares, SLOWER * (this.alone.get(program) ?? Infinity));
    this.alone.set(program, alone);
    this.mean += (waited - this.mean) / MEMORY;
    const gain = Math.max(LONG, alone * (1 - 1 / shares));
    if (this.mean <= gain) return;
    const again = now - this.until < USEFUL * this.rest;
    this.rest = again ? Math.min(REST.most, 2 * this.rest) : REST.first;
    this.longest = again ? Math.max(this.longest, this.mean) : this.mean;
    this.until = now + this.rest;
    this.mean = 0;
  }

  forget(program: number): void {
    this.alone.delete(program);
  }
}
