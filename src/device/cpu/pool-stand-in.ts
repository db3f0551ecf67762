import { DeviceError } from "../../base/errors.js";
import { Control, EPOCH, Patience, SLEEPERS, TAKE_MESSAGES, WHOLE, type PoolProgram, type Post, type Slice } from "./pool-control.js";
import { isLost, untilEnded } from "./pool-end.js";
import { Thread } from "./pool-thread.js";

/** Means of a pool that its stand-in has, too. */
interface PoolMeans {
  readonly memory: WebAssembly.Memory | undefined;
  /** Undefined for a pool of one thread. */
  readonly control: Control | undefined;
  readonly buffers: readonly (SharedArrayBuffer | undefined)[];
}

/** A run in which the stand-in takes the place of worker 0. */
interface StandInRun {
  readonly id: number;
  readonly program: PoolProgram;
  readonly args: number;
  readonly workers: number;
  readonly slice: Slice;
}

/**
 * A thread that takes the calling thread's place in a pool: it does worker 0's share and then waits for the others, so that the calling thread
 * has its event loop meanwhile. It learns a program when it first runs it.
 */
export class StandIn {
  private readonly control = Control.create(1);
  private readonly thread = Thread.take();
  private readonly patience = new Patience();
  private readonly known = new Set<number>();
  private started = false;
  /** Whether its thread has taken its first message. */
  private ready = false;
  private epoch = 0;
  private failure: string | undefined;
  /** Resolves the promise of the run under way. */
  private resolve: (() => void) | undefined;

  constructor(
    private readonly device: string,
    private readonly means: PoolMeans,
  ) {}

  /** False once its thread has ended. */
  get works(): boolean {
    return this.failure === undefined;
  }

  /**
   * Starts its thread ahead of its first run. True once it is there: a page that waits for one which is not waits for ever, as threads start only while it has
   * its event loop.
   */
  prepare(): boolean {
    if (!this.started) this.startThread([]);
    return this.ready;
  }

  /** Starts a run, the pool's workers having been started already; the promise is resolved when all are through. */
  begin(run: StandInRun): Promise<void> {
    this.teach(run);
    this.start(run.id, run.args, run.workers, run.slice);
    this.thread.ref();
    return new Promise((resolve) => (this.resolve = resolve));
  }

  /** Returns when the run has ended; the calling thread waits. `look` is called now and then, and may throw. */
  wait(look: () => void): void {
    untilEnded(this.control, this.epoch, this.patience, look);
    this.tell();
  }

  private tell(): void {
    this.resolve?.();
    this.resolve = undefined;
  }

  /** True where it has not ended its run and never will. */
  get isLost(): boolean {
    return isLost(this.control, 1, this.epoch);
  }

  /** Text of the error in the stand-in's share. Throws DeviceError where the run did not end at all. */
  takeError(): string | undefined {
    this.check();
    return this.control.takeError(1);
  }

  /** The run under way cannot end any more, because of `reason`. */
  fail(reason: string): void {
    this.failure ??= reason;
    void this.thread.stop();
    this.tell();
  }

  forget(id: number): void {
    this.known.delete(id);
  }

  /** Lets it go, once it has ended what it does. */
  close(): void {
    if (this.failure !== undefined) return;
    if (this.started) this.start(TAKE_MESSAGES);
    this.thread.retire();
  }

  private check(): void {
    if (this.failure !== undefined)
      throw new DeviceError(this.device, `work on other threads did not end: ${this.failure}`, "open the device again");
  }

  private teach({ id, program }: StandInRun): void {
    if (!this.started) this.startThread([[id, program]]);
    else if (!this.known.has(id)) {
      this.start(TAKE_MESSAGES);
      this.wait(() => this.check());
      this.thread.post(this.newsOf([[id, program]]));
    }
    this.known.add(id);
  }

  private startThread(programs: Post["programs"]): void {
    this.started = true;
    const { memory, control } = this.means;
    const start = { memory, control: this.control.buffer, rank: 1, standsIn: { pool: control?.buffer } };
    this.thread
      .begin(
        { start, ...this.newsOf(programs) },
        (reason) => this.fail(reason),
        () => this.heard(),
      )
      .then(() => (this.ready = true))
      // A failure is told to the one who waits for the run.
      .catch(() => {});
  }

  private newsOf(programs: Post["programs"]): Omit<Post, "start"> {
    return { programs, buffers: [...this.means.buffers.entries()], released: [] };
  }

  private start(program: number, args = 0, workers = 1, slice = WHOLE): void {
    const { words } = this.control;
    this.control.setRun(program, args, workers, slice);
    this.epoch = (this.epoch + 1) | 0;
    Atomics.store(words, EPOCH, this.epoch);
    if (Atomics.load(words, SLEEPERS) > 0) Atomics.notify(words, EPOCH);
  }

  /** At each of its messages: it is ready, or some run has ended. */
  private heard(): void {
    if (!this.resolve) return;
    // This one came from an earlier run, for which somebody has waited.
    if (this.control.firstBehind(this.epoch, 1) === 1) return this.thread.ref();
    this.tell();
  }
}
