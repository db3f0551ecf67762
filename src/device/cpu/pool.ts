import { processors } from "#engine";
import { DeviceError, IsoformError } from "../../base/errors.js";
import type { Aside } from "./backlog.js";
import { workerShare, RegionRun } from "./pool-region.js";
import {
  ARRIVED,
  Control,
  EPOCH,
  FAILED,
  RELEASED,
  SLEEPERS,
  TAKE_MESSAGES,
  WHOLE,
  loadPoolProgram,
  Patience,
  threadErrorText,
} from "./pool-control.js";
import type { Post, PoolProgram, ProgramStage, PoolRun } from "./pool-control.js";
import { isLost, LOOK_MS, mayWait, untilEnded } from "./pool-end.js";
import { News } from "./pool-news.js";
import { PoolChoice } from "./pool-choice.js";
import { StandIn } from "./pool-stand-in.js";
import { Thread } from "./pool-thread.js";

export type { PoolProgram, PoolRun } from "./pool-control.js";

/** A part of a region: a program on several workers, or what the calling thread does alone. */
export type RegionPart = Omit<ProgramStage, "label"> | (() => void);

const aloneIn = (stage: ProgramStage | (() => void) | undefined): (() => void) | undefined =>
  typeof stage === "function" ? stage : undefined;

interface Registered {
  /** In messages: `kernel "axpy"`. */
  readonly label: string;
  readonly program: PoolProgram;
  readonly run: PoolRun;
  /** Ways of a region: all its stages by the calling thread, and milliseconds that it has waited at barriers in the last run. */
  readonly alone?: () => void;
  readonly waited?: () => number;
}

/**
 * Threads of a pool: as many as are asked for, else what the environment variable ISOFORM_THREADS says, else what the machine offers. Throws
 * IsoformError unless it is a whole number from 1 to 1024, and for several where memory cannot be shared.
 */
export function threadCount(asked?: number): number {
  const shared = typeof SharedArrayBuffer !== "undefined";
  if (asked !== undefined) {
    const threads = checkedCount("threads", asked, asked);
    if (threads > 1 && !shared)
      throw new IsoformError(
        `${threads} threads need shared memory, which pages without COOP and COEP headers lack: serve the page with them, or ask for 1`,
      );
    return threads;
  }
  if (!shared) return 1;
  const wish = globalThis.process?.env?.ISOFORM_THREADS;
  return wish === undefined || wish === "" ? processors() : checkedCount("ISOFORM_THREADS", wish, Number(wish));
}

function checkedCount(what: string, given: number | string, count: number): number {
  if (!(Number.isInteger(count) && count >= 1 && count <= 1024))
    throw new IsoformError(`${what} is ${JSON.stringify(given)}: it needs a whole number from 1 to 1024`);
  return count;
}

/**
 * Threads that run one program after the other, each time all at once, over one memory. The calling thread is worker 0. The others look
 * for work for a while after each region and then sleep; they keep no process alive.
 *
 * A program that throws in some worker leaves the pool in order, and `run` throws a DeviceError. Where a worker died, `run` throws
 * one too, and so does every call after it.
 */
export class WorkerPool {
  private readonly control: Control | undefined;
  private threads: Thread[] = [];
  private readonly programs = new Map<number, Registered>();
  private readonly buffers: (SharedArrayBuffer | undefined)[] = [];
  private readonly news = new News();
  private epoch = 0;
  private readonly patience = new Patience();
  private readonly choice = new PoolChoice();
  private nextProgram = 0;
  private failure: string | undefined;
  private standIn: StandIn | undefined;

  private constructor(
    private held: WebAssembly.Memory | undefined,
    /** Workers, the calling thread included. */
    readonly size: number,
    private readonly device: string,
  ) {
    if (size > 1) this.control = Control.create(size - 1);
  }

  /**
   * Starts the workers and waits until they are ready. `memory` must be shared for more than one thread.
   * `device` is the name in error messages. Throws DeviceError if a worker does not start.
   */
  static async open(options: { memory?: WebAssembly.Memory; threads?: number; device?: string } = {}): Promise<WorkerPool> {
    const pool = new WorkerPool(options.memory, options.threads ?? threadCount(), options.device ?? "cpu");
    try {
      await Promise.all(Array.from({ length: pool.size - 1 }, (_, k) => pool.startWorker(k + 1)));
    } catch (error) {
      await pool.close();
      throw new DeviceError(
        pool.device,
        `a worker did not start: ${(error as Error).message}`,
        "where a bundler has put isoform into its output, mark it external (esbuild --external:isoform, vite ssr.external, webpack externals)",
      );
    }
    // Long work of a page should find it there.
    if (!mayWait && typeof SharedArrayBuffer !== "undefined") pool.workingStandIn().prepare();
    return pool;
  }

  /** Memory that programs work on. */
  get memory(): WebAssembly.Memory | undefined {
    return this.held;
  }

  /** Goes on with this memory; if it is another one, forgets all programs and returns true. */
  follow(memory: WebAssembly.Memory | undefined): boolean {
    if (!memory || memory === this.held) return false;
    this.held = memory;
    this.programs.clear();
    this.dismiss();
    if (this.control) this.news.useMemory(memory);
    return true;
  }

  /** False once a worker has died or the pool was closed. */
  get works(): boolean {
    return this.failure === undefined;
  }

  /** Compiles the program here now, on the workers before they need it; returns its number for `run`. */
  register(program: Exclude<PoolProgram, { kind: "region" }>): number {
    return this.add({ label: `kernel "${program.name}"`, program, run: loadPoolProgram(program, this.memory, this.buffers) });
  }

  /**
   * Runs `parts`, with programs registered before, one after the other as one: workers go from one to the next without waiting for the
   * caller. `label` says what failed, in messages.
   */
  region(label: string, parts: readonly RegionPart[]): { run(): void; barriers: number; free(): void } {
    const stages = this.stagesOf(parts);
    // Runs the caller's own work before and after all programs without the workers.
    const first = aloneIn(stages[0]);
    if (first) stages.shift();
    const last = aloneIn(stages.at(-1));
    if (last) stages.pop();
    const id = stages.length > 0 ? this.registerRegion(label, stages) : undefined;
    return {
      barriers: Math.max(0, stages.length - 1),
      run: () => {
        this.refuseWhereBroken();
        first?.();
        if (id !== undefined) this.run(id, 0);
        last?.();
      },
      free: () => id !== undefined && this.release(id),
    };
  }

  /** Forgets a program. */
  release(id: number): void {
    this.choice.forget(id);
    this.standIn?.forget(id);
    if (this.programs.delete(id) && this.control) this.news.release(id);
  }

  /** Makes a buffer known to programs registered later, as `buffers[n]`; returns n. */
  share(buffer: SharedArrayBuffer): number {
    const id = this.buffers.push(buffer) - 1;
    if (this.control) this.news.share(id, buffer);
    return id;
  }

  /** Lets go of a shared buffer; its number is not given again. */
  unshare(id: number): void {
    this.buffers[id] = undefined;
    if (this.control) this.news.unshare(id);
  }

  /** Programs and buffers that the workers are yet to be told of. */
  get untold(): number {
    return this.news.size;
  }

  /** Runs the program on workers 0 to `workers` - 1 at once and returns when all are through. */
  run(id: number, args: number, workers = this.size): void {
    this.refuseWhereBroken();
    const program = this.programs.get(id)!;
    const { label } = program;
    if (workers <= 1 || !this.control) {
      this.participate(program, args, 0, 1);
      return;
    }
    const start = performance.now();
    if (this.choice.isAlone(id, workers, start)) {
      if (program.alone) program.alone();
      else this.runAlone(program, args, workers);
      return this.choice.noteAlone(id, performance.now() - start);
    }
    if (this.news.size > 0) this.spreadNews(label);
    this.begin(id, args, workers);
    let failed: unknown;
    try {
      this.participate(program, args, 0, workers);
    } catch (error) {
      failed = error;
    }
    const own = performance.now();
    this.waitForWorkers(label);
    const end = performance.now();
    const inside = program.waited?.() ?? 0;
    this.choice.noteShared(id, workers, { own: own - start - inside, waited: end - own + inside }, end);
    failed ??= this.errorOfWorkers(label);
    if (failed !== undefined) throw failed;
  }

  /**
   * Starts the program on the same workers; another thread takes the place of the calling one. Until it has ended, nothing else may be run here.
   * Undefined where threads do not share memory, and in a page whose other thread has yet to start. Of a `slice` each worker does a part of its share, as if there were `slice.count` times as many.
   */
  aside(id: number, args: number, workers = this.size, slice = WHOLE): Aside | undefined {
    const { control } = this;
    if (typeof SharedArrayBuffer === "undefined") return undefined;
    this.refuseWhereBroken();
    const standIn = this.workingStandIn();
    if (!mayWait && !standIn.prepare()) return undefined;
    const { label, program } = this.programs.get(id)!;
    if (this.news.size > 0) this.spreadNews(label);
    if (control) this.begin(id, args, workers, slice);
    const ended = standIn.begin({ id, program, args, workers, slice });
    const check = (): void => {
      const own = standIn.takeError();
      const failed = (control && this.errorOfWorkers(label)) ?? (own === undefined ? undefined : this.failed(label, 0, own));
      if (failed) throw failed;
    };
    const look = (): void => {
      this.lookForDead(label);
      if (standIn.isLost) this.lose(`the thread in place of worker 0 died in ${label}`);
    };
    return { ended, wait: () => standIn.wait(look), check };
  }

  private workingStandIn(): StandIn {
    const { memory, control, buffers } = this;
    if (!this.standIn?.works) this.standIn = undefined;
    return (this.standIn ??= new StandIn(this.device, { memory, control, buffers }));
  }

  private dismiss(): void {
    this.standIn?.close();
    this.standIn = undefined;
  }

  /** Lets the workers go. */
  async close(): Promise<void> {
    const { threads, works } = this;
    this.dismiss();
    this.threads = [];
    this.failure ??= "it is closed";
    if (!works) await Promise.all(threads.map((thread) => thread.stop()));
    else if (threads.length > 0) {
      this.begin(TAKE_MESSAGES, 0, this.size);
      for (const thread of threads) thread.retire();
    }
  }

  private add(registered: Registered): number {
    const id = this.nextProgram++;
    this.programs.set(id, registered);
    if (this.control) this.news.register(id, registered.program);
    return id;
  }

  /** Programs on several workers one by one; between them, as one stage, what the calling thread does alone. */
  private stagesOf(parts: readonly RegionPart[]): (ProgramStage | (() => void))[] {
    const stages: (ProgramStage | (() => void))[] = [];
    let alone: (() => void)[] = [];
    const close = (): void => {
      const calls = alone;
      if (calls.length > 0) stages.push(() => calls.forEach((call) => call()));
      alone = [];
    };
    for (const part of parts) {
      if (typeof part === "function") alone.push(part);
      else {
        const program = this.programs.get(part.program)!;
        if (part.workers <= 1 || !this.control) alone.push(() => this.participate(program, part.args, 0, 1));
        else {
          close();
          stages.push({ ...part, label: program.label });
        }
      }
    }
    close();
    return stages;
  }

  private registerRegion(label: string, stages: readonly (ProgramStage | (() => void))[]): number {
    let failure: unknown;
    const shares = stages.map((stage) => {
      if (typeof stage === "function") return stage;
      const program = this.programs.get(stage.program)!;
      return workerShare(stage, (args, rank, workers) => this.participate(program, args, rank, workers), 0);
    });
    const sleep = (released: number): void => {
      if (Atomics.wait(this.control!.words, RELEASED, released, LOOK_MS) === "timed-out") this.lookForDead(label);
    };
    const regionRun = new RegionRun(this.control!, this.size, shares, (_, error) => (failure ??= error), mayWait ? sleep : undefined);
    const known = stages.map((stage) => (typeof stage === "function" ? undefined : stage));
    const run = (): void => {
      failure = undefined;
      regionRun.run();
      if (failure !== undefined) throw failure;
    };
    const alone = (): void => {
      for (const stage of stages)
        if (typeof stage === "function") stage();
        else this.runAlone(this.programs.get(stage.program)!, stage.args, stage.workers, label);
    };
    return this.add({ label, program: { kind: "region", name: label, stages: known }, run, alone, waited: () => regionRun.waited });
  }

  /** One share, run by the calling thread; in messages, what another thread would have run is a worker's of `region`. */
  private participate(program: Registered, args: number, rank: number, workers: number, region?: string): void {
    try {
      program.run(args, rank, workers);
    } catch (error) {
      if (error instanceof IsoformError) throw error;
      const text = threadErrorText(error);
      throw region && rank > 0 ? this.failed(region, rank, `${program.label}: ${text}`) : this.failed(program.label, rank, text);
    }
  }

  /** All shares by the calling thread; as one, where no bit depends on the number. If some throw, the first is told when all are through, as where each has its thread. */
  private runAlone(program: Registered, args: number, workers: number, region?: string): void {
    if (program.program.kind === "wasm" && program.program.divides) return this.participate(program, args, 0, 1, region);
    const errors: unknown[] = [];
    for (let rank = 0; rank < workers; rank++)
      try {
        this.participate(program, args, rank, workers, region);
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  }

  private errorOfWorkers(label: string): DeviceError | undefined {
    let failed: DeviceError | undefined;
    for (let rank = 1; rank < this.size; rank++) {
      const text = this.control!.takeError(rank);
      if (text !== undefined) failed ??= this.failed(label, rank, text);
    }
    return failed;
  }

  private failed(label: string, worker: number, message: string): DeviceError {
    return new DeviceError(this.device, `${label} failed in worker ${worker}: ${message}`);
  }

  private refuseWhereBroken(): void {
    if (this.failure !== undefined) throw new DeviceError(this.device, `it takes no more work: ${this.failure}`, "open the device again");
  }

  private begin(program: number, args: number, workers: number, slice = WHOLE): void {
    const { words } = this.control!;
    this.control!.setRun(program, args, workers, slice);
    words[ARRIVED] = 0;
    words[RELEASED] = 0;
    words[FAILED] = 0;
    this.epoch = (this.epoch + 1) | 0;
    Atomics.store(words, EPOCH, this.epoch);
    if (Atomics.load(words, SLEEPERS) > 0) Atomics.notify(words, EPOCH);
  }

  /** The workers leave their loop, take what is posted to them, and go back. */
  private spreadNews(label: string): void {
    this.begin(TAKE_MESSAGES, 0, this.size);
    this.waitForWorkers(label);
    const post = this.news.take();
    for (const thread of this.threads) thread.post(post);
  }

  private waitForWorkers(label: string): void {
    untilEnded(this.control!, this.epoch, this.patience, () => this.lookForDead(label));
  }

  /** Throws DeviceError for a worker that has died. */
  private lookForDead(label: string): void {
    for (let rank = 1; rank < this.size; rank++) if (isLost(this.control!, rank, this.epoch)) this.lose(`worker ${rank} died in ${label}`);
  }

  private lose(reason: string): never {
    this.failure ??= reason;
    throw new DeviceError(this.device, reason, "open the device again");
  }

  private startWorker(rank: number): Promise<void> {
    const thread = Thread.take();
    this.threads.push(thread);
    const first: Post = { start: { memory: this.memory, control: this.control!.buffer, rank }, programs: [], buffers: [], released: [] };
    return thread.begin(first, (reason) => {
      this.failure ??= `worker ${rank} ended: ${reason}`;
      this.standIn?.fail(this.failure);
    });
  }
}
