import { exactPowi } from "../../ir/exact.js";
import { FAULT } from "../../ir/passes/check-indices.js";
import { noteFault } from "./note-fault.js";

/** A stage that is a program, as every thread knows it. */
export interface ProgramStage {
  /** In messages: `kernel "axpy"`. */
  readonly label: string;
  readonly program: number;
  readonly args: number;
  readonly workers: number;
}

/*
 * The block of shared memory through which the pool's main thread and its workers communicate, and what both sides need to run a program.
 * What different threads write lies on different cache lines of 64 bytes.
 */

/** Code that every thread of a pool holds. */
export type PoolProgram =
  /**
   * `source` is the body of a function of `memory` (ArrayBufferLike of the pool's memory, or undefined) and `buffers` (those given to
   * `share`, by their numbers) and `noteFault` that returns `(args, worker, workers) => void`.
   */
  | { kind: "js"; name: string; source: string }
  /** A module that exports `run(args, worker, workers)`, which `divides` if as much is computed with any number of workers, and may import `env.memory`, `env.fault` (`noteFault` of an address), functions of `Math`, and `math`. */
  | { kind: "wasm"; name: string; bytes: Uint8Array; divides?: boolean }
  /** Programs registered before, with a barrier between two of them; undefined stands for what the main thread does alone. */
  | { kind: "region"; name: string; stages: readonly (ProgramStage | undefined)[] };

/** One worker's share of a program: `args` is whatever number the program was run with. */
export type PoolRun = (args: number, worker: number, workers: number) => void;

/** Message of the main thread to a worker: first `memory`, `control` and `rank`, later news. */
export interface Post {
  /** Another memory takes the place of the one that all programs so far work on: they are gone. */
  memory?: WebAssembly.Memory;
  start?: {
    memory: WebAssembly.Memory | undefined;
    control: SharedArrayBuffer;
    rank: number;
    /** It does worker 0's share, waits for the workers of this pool, and says when a run has ended. */
    standsIn?: { pool: SharedArrayBuffer | undefined };
  };
  /** The pool is closed: the worker forgets all that it had of it. */
  retire?: true;
  programs: [id: number, program: PoolProgram][];
  buffers: [id: number, buffer: SharedArrayBuffer | undefined][];
  released: number[];
}

const LINE = 16;
const HEADER_LINES = 6;
const WORDS_PER_WORKER = 32 * LINE;
const MESSAGE_LENGTH = (WORDS_PER_WORKER - LINE) * 2;

/** A new epoch tells the workers that a run is set. In a line of its own, as all of them look at it again and again. */
export const EPOCH = 0;
/** Workers that sleep until the next epoch. */
export const SLEEPERS = LINE;
/** The worker for whose end the main thread sleeps; 0 where it does not sleep. */
export const AWAITED = 2 * LINE;

/** In a region: how often threads have arrived at its barriers, and whether some thread failed. */
export const ARRIVED = 3 * LINE;
export const FAILED = 3 * LINE + 1;
/** The last barrier that all threads have reached, and how many of them sleep there. */
export const RELEASED = 4 * LINE;
export const RELEASED_SLEEPERS = 4 * LINE + 1;

/** A run: program, threads, its argument, the number of its slice and how many slices there are. */
export const PROGRAM = 5 * LINE;
export const WORKERS = 5 * LINE + 1;
const ARGUMENT = 5 * LINE + 2;
export const SLICE_WORD = 5 * LINE + 4;
export const SLICES = 5 * LINE + 5;

/** In place of a program's number: leave the loop and take the messages that were posted. */
export const TAKE_MESSAGES = -1;

/** A part of a run, in which each worker does a part of its share. */
export interface Slice {
  readonly number: number;
  readonly count: number;
}

export const WHOLE: Slice = { number: 0, count: 1 };

/** The control block; the same object is made on each thread over the same memory. */
export class Control {
  readonly words: Int32Array<SharedArrayBuffer>;
  /** Threads beside the main thread. */
  readonly workers: number;
  private readonly args: Float64Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
    this.args = new Float64Array(buffer, 4 * ARGUMENT, 1);
    this.workers = (this.words.length - HEADER_LINES * LINE) / WORDS_PER_WORKER;
  }

  static create(workers: number): Control {
    return new Control(new SharedArrayBuffer(4 * (HEADER_LINES * LINE + workers * WORDS_PER_WORKER)));
  }

  get argument(): number {
    return this.args[0];
  }

  /** Sets what a run is; a new epoch starts it. What stays the same is not written: it would take the line from all workers. */
  setRun(program: number, args: number, workers: number, slice: Slice): void {
    this.set(PROGRAM, program);
    this.set(WORKERS, workers);
    this.set(SLICE_WORD, slice.number);
    this.set(SLICES, slice.count);
    if (this.args[0] !== args) this.args[0] = args;
  }

  private set(word: number, value: number): void {
    if (this.words[word] !== value) this.words[word] = value;
  }

  /** The first worker from `rank` on that has not finished an epoch; `workers` + 1 if all have. */
  firstBehind(epoch: number, rank: number): number {
    while (rank <= this.workers && Atomics.load(this.words, this.done(rank)) === epoch) rank++;
    return rank;
  }

  /** Says that a worker has finished an epoch. */
  finish(rank: number, epoch: number): void {
    Atomics.store(this.words, this.done(rank), epoch);
    if (Atomics.load(this.words, AWAITED) === rank) Atomics.notify(this.words, this.done(rank));
  }

  /** Says that a worker dies, and wakes the main thread for whichever worker it waits. */
  leave(rank: number): void {
    Atomics.store(this.words, this.dead(rank), 1);
    for (let awaited = 1; awaited <= this.workers; awaited++) Atomics.notify(this.words, this.done(awaited));
  }

  /** Word of the last epoch that the worker finished. Each has its own: a count of them would go from core to core. */
  done(rank: number): number {
    return HEADER_LINES * LINE + (rank - 1) * WORDS_PER_WORKER;
  }
  /** Word of the worker's thread number as the kernel counts, 0 where unknown. */
  thread(rank: number): number {
    return this.done(rank) + 1;
  }

  /** Word that a worker sets when it ends, by `process.exit` or an uncaught error. */
  dead(rank: number): number {
    return this.done(rank) + 3;
  }

  /** The text of an error that a worker met, read once. */
  takeError(rank: number): string | undefined {
    const length = Atomics.exchange(this.words, this.done(rank) + 2, 0);
    return length === 0 ? undefined : String.fromCharCode(...this.message(rank).subarray(0, length));
  }
  setError(rank: number, text: string): void {
    const cut = (text || "unknown error").slice(0, MESSAGE_LENGTH);
    const message = this.message(rank);
    for (let k = 0; k < cut.length; k++) message[k] = cut.charCodeAt(k);
    Atomics.store(this.words, this.done(rank) + 2, cut.length);
  }

  private message(rank: number): Uint16Array {
    return new Uint16Array(this.buffer, 4 * (this.done(rank) + LINE), MESSAGE_LENGTH);
  }
}

const imports = {
  Math: Math as unknown as WebAssembly.ModuleImports,
  math: {
    fmod: (a: number, b: number) => a % b,
    exp2: (a: number) => Math.pow(2, a),
    powi_f64: (x: number, n: number) => exactPowi(x, n),
    powi_f32: (x: number, n: number) => exactPowi(x, n, Math.fround),
  },
};

/** Compiles a program on this thread. */
export function loadPoolProgram(
  program: Exclude<PoolProgram, { kind: "region" }>,
  memory: WebAssembly.Memory | undefined,
  buffers: readonly (SharedArrayBuffer | undefined)[],
): PoolRun {
  if (program.kind === "js")
    return new Function("memory", "buffers", "noteFault", program.source)(memory?.buffer, buffers, noteFault) as PoolRun;
  const module = new WebAssembly.Module(program.bytes as Uint8Array<ArrayBuffer>);
  const fault = (address: number | bigint, ...what: [number, number, ...number[]]) =>
    noteFault(new Int32Array(memory!.buffer, Number(address), FAULT.length), ...what);
  const instance = new WebAssembly.Instance(module, { ...imports, env: memory ? { memory, fault } : {} });
  return instance.exports.run as PoolRun;
}

/** An error in words; of a trap, with what tells more. */
export function threadErrorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return typeof WebAssembly === "object" && error instanceof WebAssembly.RuntimeError
    ? `${text}; run it with checked: true or ISOFORM_CHECKED=1, which tell the index`
    : text;
}

/** Milliseconds that a thread looks again and again before it sleeps: longer than a host takes between two launches. */
const LONGEST_SPIN = 0.2;
const SHORTEST_SPIN = 0.01;
/** A wait this long was for a thread that had no core, or for a host with other work. A shorter one may owe its length to sleeping itself. */
const LONG_WAIT = 1;

/**
 * How one thread waits for others: it looks for a while and then sleeps. The while gets shorter where it was in vain, since another
 * thread may need this core, and longer again where a sleep was short.
 */
export class Patience {
  private spin = LONGEST_SPIN;

  /** `sleep` may return before `done` says so; without it the thread does not sleep. */
  wait(done: () => boolean, sleep?: () => void): void {
    const start = performance.now();
    if (this.look(done, start + this.spin)) {
      this.spin = Math.min(LONGEST_SPIN, 2 * this.spin);
      return;
    }
    while (!done())
      if (sleep) sleep();
      else this.look(done, performance.now() + LONGEST_SPIN);
    const inVain = performance.now() - start > LONG_WAIT;
    this.spin = inVain ? Math.max(SHORTEST_SPIN, this.spin / 2) : Math.min(LONGEST_SPIN, 2 * this.spin);
  }

  private look(done: () => boolean, end: number): boolean {
    do {
      for (let k = 0; k < 100; k++) if (done()) return true;
    } while (performance.now() < end);
    return false;
  }
}
