import { eventLoopTurn } from "./turns.js";

/*
 * Work on CPUs is done before `submit` returns. Long work is not: other threads do it while the event loop goes on, and what is submitted
 * meanwhile waits here for its turn. So all work on the CPUs of a process comes in the order of its submission. Who needs the values at once
 * settles first.
 */

/** Work that other threads than the calling one are doing. */
export interface Aside {
  /** Resolved when it has ended, well or not. */
  readonly ended: Promise<void>;
  /** Returns when it has ended; the calling thread waits. */
  wait(): void;
  /** To be called once, when it has ended. Throws its error. */
  check(): void;
}

/** Work cut into steps. Before the next one, what is aside has ended, or others have had their turn where it is time. */
export type WorkSteps<T = void> = Generator<Aside | undefined, T, void>;

/** Work in the order of submission. */
export interface QueuedWork {
  /** True where it may hold the event loop for too long. */
  readonly isLong: boolean;
  /** Does it here and now. */
  run(): void;
  /** The same in steps. */
  steps(): WorkSteps;
}

/** Error with which work has ended, whatever was thrown. */
export interface Failure {
  readonly error: unknown;
}

/** Called when work has ended that was not done at once. */
type Ended = (failure?: Failure) => void;

interface Entry {
  readonly work: QueuedWork;
  readonly ended: Ended;
  readonly after: (() => void)[];
}

/** Work that is under way or waits for its turn. */
class Backlog {
  private current: { readonly entry: Entry; readonly steps: WorkSteps } | undefined;
  private readonly waiting: Entry[] = [];
  private readonly afterwards: (() => void)[] = [];
  private aside: Aside | undefined;
  /** Steps so far. */
  private count = 0;
  private stepping = false;
  private pumping = false;

  /** True where work waits or is under way. */
  get busy(): boolean {
    return this.current !== undefined;
  }

  /** Does the work here and now, and throws its error; or later, if it is long or other work comes before it, and calls `ended` then. */
  put(work: QueuedWork, ended: Ended): void {
    if (!this.current && !work.isLong) return work.run();
    this.waiting.push({ work, ended, after: [] });
    if (this.current) return;
    this.next();
    this.step();
    if (!this.pumping) void this.pump();
  }

  /** Resolved when all that was put here so far has ended; undefined where nothing is left of it. */
  soFar(): Promise<void> | undefined {
    return this.current && new Promise((resolve) => this.afterSoFar(resolve));
  }

  /** Calls when all that was put here so far has ended, before anything that was put here later: at once, or later. */
  afterSoFar(call: () => void): void {
    const last = this.waiting.at(-1) ?? this.current?.entry;
    if (last) last.after.push(call);
    else call();
  }

  /** Does all that is left; the calling thread waits for it. */
  settle(): void {
    // A step may read what it has written.
    if (this.stepping) return;
    while (this.current) {
      this.aside?.wait();
      this.step();
    }
  }

  /** Calls when nothing is left: at once, or later. */
  whenIdle(call: () => void): void {
    if (this.current) this.afterwards.push(call);
    else call();
  }

  private async pump(): Promise<void> {
    this.pumping = true;
    while (this.current) {
      const { count, aside } = this;
      const pause = aside ? aside.ended : eventLoopTurn();
      if (pause) await pause;
      // Somebody may have settled meanwhile.
      if (this.current && this.count === count) this.step();
    }
    this.pumping = false;
  }

  private step(): void {
    const { entry, steps } = this.current!;
    this.count++;
    this.aside = undefined;
    this.stepping = true;
    try {
      const { done, value } = steps.next();
      if (done) this.end(entry);
      else this.aside = value as Aside | undefined;
    } catch (error) {
      this.end(entry, { error });
    } finally {
      this.stepping = false;
    }
  }

  private end(entry: Entry, failure?: Failure): void {
    this.next();
    entry.ended(failure);
    for (const call of entry.after) call();
    if (!this.current) for (const call of this.afterwards.splice(0)) call();
  }

  private next(): void {
    const entry = this.waiting.shift();
    this.current = entry && { entry, steps: entry.work.steps() };
  }
}

/** The backlog of all CPU devices of this process, which work on one memory. */
export const backlog = new Backlog();
