import { withInitialValues } from "../launch/initial-values.js";
import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { DeviceQueue } from "../launch/device-queue.js";
import { keptData } from "../memory/memory-array.js";
import { BYTES, type TypedArrayOf, type View } from "../memory/view.js";
import { capture, capturing, CpuGraph, note, type RegionHost } from "./graph.js";
import { clearView, copyView, readView, writeView } from "./host-view.js";
import { CpuLaunch } from "./launch.js";
import { tools } from "../tools/tools.js";
import { backlog, type Failure, type WorkSteps, type QueuedWork } from "./backlog.js";
import { eventLoopTurn } from "./turns.js";

/** Bytes of data to be written that wait in copies, and how many may: who writes more waits. */
let copied = 0;
const MOST_COPIED = 16 << 20;

/** Work is done before `submit` returns, but for long work and what comes after it. */
export class CpuQueue extends DeviceQueue<CpuLaunch, CpuGraph> {
  /** The first failure of work that was done later than it was submitted, until somebody waits. */
  private failure: Failure | undefined;

  constructor(readonly device: RegionHost) {
    super();
  }

  protected requireOpen(): void {
    this.device.requireOpen();
  }

  get capturing(): boolean {
    return capturing();
  }

  protected ownLaunch(work: Launch | Graph): CpuLaunch | undefined {
    return work instanceof CpuLaunch && work.device === this.device ? work : undefined;
  }

  protected ownGraph(work: Launch | Graph): CpuGraph | undefined {
    return work instanceof CpuGraph ? work : undefined;
  }

  protected enqueue(launch: CpuLaunch): void {
    if (note(this.device, launch)) return;
    if (!backlog.busy && !launch.isLong) return launch.run();
    launch.requireReady();
    this.put(launch);
  }

  protected enqueueGraph(graph: CpuGraph): void {
    if (backlog.busy || graph.isLong) graph.requireReady();
    this.put(graph);
  }

  /** Does work in its turn, and calls `done` if it has not failed. A failure that is not thrown here is told when somebody waits. */
  put(work: QueuedWork, done?: () => void): void {
    // Tools are told when work begins and ends.
    if (backlog.busy && tools.size > 0) backlog.settle();
    if (!backlog.busy && (!work.isLong || tools.size > 0)) {
      work.run();
      return done?.();
    }
    backlog.put(work, (failure) => {
      if (!failure) done?.();
      else if (work instanceof CpuLaunch && this.isAlone(work)) work.failure = failure;
      else this.failure ??= failure;
    });
  }

  /** The same; the promise is resolved or rejected when the work has ended and others have had their turn where it is time. */
  async untilRun(work: QueuedWork): Promise<void> {
    if (!backlog.busy && (tools.size > 0 || !work.isLong)) work.run();
    else
      await new Promise<void>((resolve, reject) =>
        backlog.put(work, (failure) => {
          if (failure) reject(failure.error as Error);
          else resolve();
        }),
      );
    await eventLoopTurn();
  }

  private throwFailure(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure.error;
  }

  /**
   * Gives `value` once all work so far has ended, before later work begins; now, where it has. Throws the failure of work that was done later than it
   * was submitted.
   */
  private afterWork<T>(value: () => T): T | Promise<T> {
    const give = (): T => {
      this.throwFailure();
      return value();
    };
    if (!backlog.busy) return give();
    return new Promise((resolve, reject) =>
      backlog.afterSoFar(() => {
        try {
          resolve(give());
        } catch (error) {
          reject(error as Error);
        }
      }),
    );
  }

  /** Work that is done at once, in its turn. */
  private inTurn(run: () => void): void {
    if (!backlog.busy) return run();
    this.put({ isLong: false, run, steps: () => oneStep(run) });
  }

  protected capturesWith(other: Queue): boolean {
    return other instanceof CpuQueue;
  }

  protected captureWork(record: () => void): Graph {
    return capture(record);
  }

  protected writeData(target: View, data: ArrayLike<number>): void {
    if (!backlog.busy) return writeView(target, data);
    const bytes = BYTES.f64 * data.length;
    if (copied + bytes > MOST_COPIED) {
      backlog.settle();
      return writeView(target, data);
    }
    // The caller may change its data meanwhile.
    const own = keptData(target.type, data);
    copied += bytes;
    this.inTurn(() => {
      copied -= bytes;
      writeView(target, own);
    });
  }

  protected copyViews(source: View, target: View): void {
    if (!note(this.device, { source, target })) this.inTurn(() => copyView(source, target));
  }

  protected clearView(target: View): void {
    if (!note(this.device, { target })) this.inTurn(() => clearView(target));
  }

  protected readData<T extends ElementType>(source: View<T>): TypedArrayOf<T> | Promise<TypedArrayOf<T>> {
    return this.afterWork(() => readView(source));
  }

  protected resultsOf(launch: Launch): Record<string, number> | Promise<Record<string, number>> | undefined {
    const own = this.ownLaunch(launch);
    if (!own) return undefined;
    const give = (): Record<string, number> | undefined => {
      const { results, latest, binding, failure } = own;
      if (failure) throw failure.error;
      if (latest) return { ...latest };
      return results && withInitialValues(binding, { ...results });
    };
    if (!backlog.busy) {
      this.throwFailure();
      return give();
    }
    return (async () => (await this.afterWork(give)) ?? this.refuseResults(launch))();
  }

  protected recordEvent(): DeviceEvent {
    const event = new CpuEvent();
    this.inTurn(() => event.happen());
    return event;
  }

  /** An event of a CPU has happened before what is submitted now; one of a GPU is waited for here and now. */
  protected waitFor(event: DeviceEvent): void {
    if (event instanceof CpuEvent) return;
    this.refuseInCapture("waiting for another kind of device");
    backlog.settle();
    event.block();
  }

  protected async untilDone(): Promise<void> {
    await this.afterWork(() => {});
    await eventLoopTurn();
  }

  protected override pause(): Promise<void> | undefined {
    return eventLoopTurn();
  }
}

function* oneStep(run: () => void): WorkSteps {
  run();
  yield undefined;
}

class CpuEvent implements DeviceEvent {
  /** Undefined until it has happened. */
  private seconds: number | undefined;

  happen(): void {
    this.seconds = performance.now() / 1000;
  }

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CpuEvent)) throw new LaunchError("the earlier event belongs to another device");
    await Promise.all([this.done(), earlier.done()]);
    return this.seconds! - earlier.seconds!;
  }

  async done(): Promise<void> {
    if (this.seconds === undefined) await backlog.soFar();
    await eventLoopTurn();
  }

  block(): void {
    if (this.seconds === undefined) backlog.settle();
  }
}
