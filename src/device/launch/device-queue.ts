import { DeviceError, LaunchError } from "../../base/errors.js";
import { otherCopies } from "../../base/copies.js";
import { describe } from "../../base/describe.js";
import type { ElementType } from "../../ir/types.js";
import { writtenResults } from "../../kernel/declare/flat.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { overlap, requireApart } from "../memory/overlap.js";
import { captureWrites, noteGraphWrites, noteWrites, type WritingWork } from "../memory/writes.js";
import { requireAlike, requireData, View, type TypedArray, type TypedArrayOf } from "../memory/view.js";
import { CheckedRuns, checkedChunks, errorOf, failedIn, type RunsSoFar } from "./checked-runs.js";
import type { ListLaunch } from "./list-launch.js";
import type { Resubmitted } from "./other-numbers.js";
import { PrintingRuns, readPrinted, readLinesNow } from "./printing-runs.js";
import { faultRecord, recordsAround, type FaultBinding } from "./faults.js";

/** Looks, once an event has happened, whether an index was outside in what its queue had run before. Throws KernelError. Prints lines before. */
export interface FaultsBefore {
  readonly runs: RunsSoFar;
  /** Present where a launch has printed. */
  readonly print?: () => Promise<void>;
  look(): Promise<void>;
  /** The calling thread waits. */
  lookNow(): void;
}

/** An event of a queue that looks for such failures itself. */
export interface CheckingEvent extends DeviceEvent {
  faults?: FaultsBefore;
}

/** Behaviour common to all queues: checks, and the messages of what they refuse. A backend adds the work itself. */
export abstract class DeviceQueue<OwnLaunch extends Launch & Resubmitted & WritingWork, OwnGraph extends Graph> implements Queue {
  abstract readonly device: Device & { readonly closing?: boolean };
  private readonly checked = new CheckedRuns();
  private readonly printing = new PrintingRuns();
  /** Functions that print the lines of queues that this one has waited for. */
  private readonly before = new Set<() => Promise<void>>();

  /** Launches whose end is reported to their caller only. */
  private readonly alone = new WeakSet<object>();

  /** Throws DeviceError once the device is closed. */
  protected abstract requireOpen(): void;

  /** Throws DeviceError once the device is closed or closing: new work is refused. */
  private requireTaking(): void {
    if (this.device.closing) throw new DeviceError(this.device.name, "it is closed", "open it again");
    this.requireOpen();
  }
  /** True while work is noted for a graph instead of run. */
  abstract readonly capturing: boolean;

  /** The launch, where this device has prepared it. */
  protected abstract ownLaunch(work: Launch | Graph): OwnLaunch | undefined;
  /** The graph, where a queue of this kind has captured it. */
  protected abstract ownGraph(work: Launch | Graph): OwnGraph | undefined;
  /** Enqueues a launch, or notes it. Throws LaunchError if it was freed. */
  protected abstract enqueue(launch: OwnLaunch): void;
  protected abstract enqueueGraph(graph: OwnGraph): void;

  submit(work: Launch | Graph): void {
    this.requireTaking();
    if (isSeveral(work)) return work.submitBy((each) => this.submit(each));
    const launch = this.ownLaunch(work);
    if (launch) {
      const { capturing } = this;
      // Before it runs: a launch that fails has written, too.
      noteWrites(launch.written, capturing);
      this.enqueue(launch);
      if (!capturing) this.noteRecords(launch);
      return;
    }
    const graph = this.ownGraph(work);
    if (!graph && !Array.isArray((work as Partial<Graph> | undefined)?.remarks)) {
      const { name } = (work ?? {}) as { name?: string };
      throw new LaunchError(
        `${name ? `"${name}"` : describe(work)} is not a launch, and was submitted to "${this.device.name}"; submit device.prepare(kernel, args, range(n))`,
      );
    }
    if (!graph)
      throw new LaunchError(
        "kernel" in work
          ? `a launch of kernel "${work.kernel.name}" that another device prepared was submitted to "${this.device.name}"${otherCopies()}`
          : `a graph that another kind of device has captured was submitted to "${this.device.name}"${otherCopies()}`,
      );
    if (this.capturing) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
    noteGraphWrites(graph);
    this.enqueueGraph(graph);
    this.noteRecords(graph);
  }

  private noteRecords(work: OwnLaunch | OwnGraph): void {
    const recorded = this.recordedBy(work);
    // Few launches keep records, and the others take less than 100 ns.
    if (recorded.length === 0) return;
    for (const bound of recorded) {
      if (!this.alone.has(work)) this.checked.note(bound);
      this.printing.note(bound);
    }
  }

  /** Submits a launch whose end is reported only to the one who asks for its results. */
  submitAlone(launch: Launch): void {
    if (isSeveral(launch)) return launch.submitBy((each) => this.submitAlone(each));
    this.alone.add(launch);
    this.submit(launch);
  }

  protected isAlone(launch: Launch): boolean {
    return this.alone.has(launch);
  }

  /** Launches in this work that keep records for the host, where it looks at them when somebody waits; elsewhere it does at once. */
  protected recordedBy(_work: OwnLaunch | OwnGraph): readonly FaultBinding[] {
    return [];
  }

  /** Queues that one graph can have work of. */
  protected abstract capturesWith(other: Queue): boolean;
  /** Common property of such queues, in words. */
  protected readonly captureRule: string = "all devices of a graph are of one kind";
  protected abstract captureWork(record: () => void, others: readonly Queue[]): Graph;

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    this.requireTaking();
    for (const other of others)
      if (!this.capturesWith(other))
        throw new LaunchError(
          `queues of "${this.device.name}" and "${other.device.name}" cannot be captured together: ${this.captureRule}`,
        );
    return captureWrites(() => this.captureWork(record, others));
  }

  /** Host data in `right` order, one value for each element. */
  protected abstract writeData(target: View, data: ArrayLike<number>): void;

  write(target: View, data: ArrayLike<number>): void {
    this.requireTaking();
    this.refuseInCapture("a write");
    this.requireViews("write", target);
    requireApart("a write to", target);
    requireData(target.type, target.shape, data);
    this.writeData(target, data);
    noteWrites([target.buffer], false);
  }

  /** Between views of one shape and type. */
  protected abstract copyViews(source: View, target: View): void;

  copy(source: View, target: View): void {
    this.requireTaking();
    this.requireViews("copy", source, target);
    requireAlike(source, target);
    requireApart("a copy to", target);
    if (overlap(source, target)) this.copyInside(source, target);
    else this.copyViews(source, target);
    noteWrites([target.buffer], this.capturing);
    if (!target.buffer.host || source.buffer.host) return;
    this.printNow();
    this.throwFaultsNow(this.checked.soFar());
  }

  /** Between views that share memory: what one element is given must not be what another was given before. */
  private copyInside(source: View, target: View): void {
    if (this.capturing)
      throw new LaunchError(
        `a copy between views of shape [${source.shape}] that share memory cannot be captured on "${this.device.name}", as it takes memory of its own; copy through an array that was made before`,
      );
    // The host's memory is copied by way of a copy anyway.
    if (source.buffer.host) return this.copyViews(source, target);
    const between = this.device.array({ type: source.type }, source.shape);
    try {
      this.copyViews(source, between);
      this.copyViews(between, target);
    } finally {
      between.free();
    }
  }

  protected abstract clearView(target: View): void;

  clear(target: View): void {
    this.requireTaking();
    this.requireViews("clear", target);
    requireApart("a clear of", target);
    this.clearView(target);
    noteWrites([target.buffer], this.capturing);
  }

  protected abstract readData<T extends ElementType>(source: View<T>): TypedArrayOf<T> | Promise<TypedArrayOf<T>>;

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.requireTaking();
    this.requireViews("read", source);
    this.refuseInCapture("a read");
    const values = await this.orFault(() => this.readData(source));
    await this.pause();
    return values;
  }

  /** Gives others their turn on the event loop now and then, on devices whose work is done at once. */
  protected pause(): Promise<void> | undefined {
    return undefined;
  }

  /** The same beside the queue's work: what was there at some time after this call. */
  protected readAside(source: View): Promise<TypedArray> | TypedArray {
    return this.readData(source);
  }

  /** The same; the calling thread waits. */
  protected readBlocking(source: View): TypedArray {
    throw new LaunchError(`"${source.buffer.memory.name}" cannot be read while the calling thread blocks; use await read()`);
  }

  /** Undefined for a launch that has not run here, or was freed. */
  protected abstract resultsOf(launch: Launch): Record<string, number> | Promise<Record<string, number>> | undefined;

  async results(launch: Launch): Promise<Record<string, number>> {
    this.requireTaking();
    const other = (isSeveral(launch) ? launch : this.ownLaunch(launch))?.others?.last;
    if (other) return this.results(other);
    if (isSeveral(launch)) return (await launch.resultsOn(this)) as Record<string, number>;
    const results = this.resultsOf(launch);
    if (!results) return this.refuseResults(launch);
    const given = await (this.alone.has(launch) ? this.resultsAlone(this.ownLaunch(launch)!, results) : this.orFault(() => results));
    await this.pause();
    return writtenResults(launch.kernel, given) as Record<string, number>;
  }

  protected refuseResults({ kernel }: Launch): never {
    throw new LaunchError(`results of a launch of kernel "${kernel.name}" that has not run on "${this.device.name}", or was freed`);
  }

  /** Once all is done that was enqueued so far. It fails by the launch itself and by what was submitted plainly, not by others alone. */
  private async resultsAlone(
    launch: OwnLaunch,
    given: Record<string, number> | Promise<Record<string, number>>,
  ): Promise<Record<string, number>> {
    const checked = this.recordedBy(launch).filter(({ ir }) => ir.checks);
    const runs = [...checked.map((bound) => [bound, 0] as const), ...this.checked.soFar()];
    const quiet = this.capturing || (this.printing.none && this.before.size === 0);
    const waits = [this.untilDone(), quiet ? undefined : this.printLines(), runs.length > 0 ? this.throwFaults(runs) : undefined];
    const results = Promise.resolve(given);
    // The first that fails is told.
    for (const promise of [...waits, results]) promise?.catch(() => {});
    for (const promise of waits) await promise;
    return results;
  }

  protected abstract recordEvent(): DeviceEvent;

  record(): DeviceEvent {
    this.requireTaking();
    const event = this.recordEvent();
    const runs = this.capturing ? [] : this.checked.soFar();
    const prints = !this.capturing && (!this.printing.none || this.before.size > 0);
    if (runs.length > 0 || prints) (event as CheckingEvent).faults = this.faultsOf(runs, prints);
    return event;
  }

  protected abstract waitFor(event: DeviceEvent): void;

  wait(event: DeviceEvent): void {
    this.requireTaking();
    this.waitFor(event);
    // Who waits for this queue has then waited for those, too.
    const { faults } = event as CheckingEvent;
    if (!faults || this.capturing) return;
    for (const [launch] of faults.runs) this.checked.note(launch);
    if (faults.print) this.before.add(faults.print);
  }

  /** Resolves once all that was enqueued is done. */
  protected abstract untilDone(): Promise<void>;

  async finish(): Promise<void> {
    this.requireTaking();
    await this.orFault(() => this.untilDone());
  }

  private get isOpen(): boolean {
    try {
      this.requireOpen();
      return true;
    } catch {
      return false;
    }
  }

  /* Records that launches keep for the host. */

  /** Result of the work, unless an index was outside in earlier work: throws KernelError then. */
  private orFault<T>(work: () => T | Promise<T>): T | Promise<T> {
    const value = work();
    const runs = this.capturing ? [] : this.checked.soFar();
    const quiet = this.capturing || (this.printing.none && this.before.size === 0);
    if (runs.length === 0 && quiet) return value;
    const records = [quiet ? undefined : this.printLines(), runs.length > 0 ? this.throwFaults(runs) : undefined];
    // Told below, where the work itself has not failed.
    for (const record of records) record?.catch(() => {});
    return (async () => {
      const given = await value;
      for (const record of records) await record;
      return given;
    })();
  }

  /* Lines that kernels print. */

  /** Prints the lines of what was run so far. */
  private async printLines(): Promise<void> {
    if (this.capturing) return;
    const before = [...this.before];
    this.before.clear();
    const plainly = (queue: DeviceQueue<OwnLaunch, OwnGraph>) => ({
      read: (view: View) => queue.readData(view),
      clear: (view: View) => queue.clearView(view),
    });
    const own = readPrinted(
      this.printing.take((launch) => this.isOwn(launch)),
      plainly(this),
    );
    const others = this.printing.take(() => true);
    for (const print of before) await print();
    await own;
    // Waits before reading lines of other devices, which have run parts of a graph.
    if (others.length > 0) await this.untilDone();
    for (const launch of others) {
      const { queue } = launch.call.device;
      await readPrinted([launch], queue instanceof DeviceQueue ? plainly(queue) : queue);
    }
  }

  /** The same of this queue's device; the calling thread waits. */
  private printNow(): void {
    if (this.printing.none || this.capturing) return;
    readLinesNow(
      this.printing.take((launch) => this.isOwn(launch)),
      (view) => this.readBlocking(view),
      (view) => this.clearView(view),
    );
  }

  private faultsOf(runs: RunsSoFar, prints: boolean): FaultsBefore {
    const print = prints ? () => this.printLines() : undefined;
    return {
      runs,
      ...(print && { print }),
      look: async () => {
        await print?.();
        const unseen = this.checked.unseen(runs);
        const chunks = await this.chunksOf(unseen, (chunk) => this.readAside(chunk));
        // Later runs may still write to a record.
        if (failedIn(unseen, chunks).length > 0) await this.throwFaults(unseen);
        this.checked.seen(unseen);
      },
      lookNow: () => {
        this.printNow();
        this.throwFaultsNow(this.checked.unseen(runs));
      },
    };
  }

  /** Throws KernelError if an index was outside in one of these runs, whose records are then cleared. */
  private async throwFaults(runs: RunsSoFar): Promise<void> {
    const read = (chunk: View) => this.readData(chunk);
    const chunks = await this.chunksOf(runs, read);
    const failed = failedIn(runs, chunks);
    // Nobody looks at records of a device that was closed meanwhile.
    if (failed.length > 0 && !this.isOpen) throw errorOf(failed, chunks);
    for (const [launch] of failed) {
      if (this.isOwn(launch)) this.clearView(faultRecord(launch));
      else launch.call.device.queue.clear(faultRecord(launch));
    }
    // Nobody else takes them before.
    await this.chunksOf(failed, read);
    this.checked.seen(runs);
    if (failed.length > 0) throw errorOf(failed, chunks);
  }

  /** The same; the calling thread waits, and so others than this queue's device are left for later. */
  private throwFaultsNow(all: RunsSoFar): void {
    const runs = all.filter(([launch]) => this.isOwn(launch));
    const read = () => new Map(checkedChunks(runs).map((chunk) => [chunk, this.readBlocking(chunk)]));
    const chunks = read();
    const failed = failedIn(runs, chunks);
    for (const [launch] of failed) this.clearView(faultRecord(launch));
    if (failed.length > 0) read();
    this.checked.seen(runs);
    if (failed.length > 0) throw errorOf(failed, chunks);
  }

  /** The chunks with the records of these runs; chunks of other devices, which have run parts of a graph, after all of this queue's work. */
  private async chunksOf(
    runs: RunsSoFar,
    read: (chunk: View) => Promise<ArrayLike<number>> | ArrayLike<number>,
  ): Promise<Map<View, ArrayLike<number>>> {
    const [own, others] = [true, false].map((mine) => runs.filter(([launch]) => this.isOwn(launch) === mine));
    const started = checkedChunks(own).map(async (chunk) => [chunk, await read(chunk)] as const);
    if (others.length > 0) {
      await Promise.all([...started, this.untilDone()]);
      const devices = new Map(others.map(([launch]) => [recordsAround(launch), launch.call.device]));
      // Without that queue's own look at records, which would ask this one again.
      const plainly = (queue: Queue, chunk: View) => (queue instanceof DeviceQueue ? queue.readData(chunk) : queue.read(chunk));
      started.push(...[...devices].map(async ([chunk, { queue }]) => [chunk, await plainly(queue, chunk)] as const));
    }
    return new Map(await Promise.all(started));
  }

  private isOwn({ call }: FaultBinding): boolean {
    return call.device.memory === this.device.memory;
  }

  /** Throws LaunchError while work is captured. */
  protected refuseInCapture(what: string): void {
    if (this.capturing)
      throw new LaunchError(`${what} on "${this.device.name}" cannot be captured: a graph holds launches, copies and clears`);
  }

  /** Throws LaunchError for a value that is not a view, DeviceError for a view whose memory was freed. */
  private requireViews(what: string, ...views: readonly View[]): void {
    for (const view of views) {
      if (!(view instanceof View)) throw new LaunchError(`${describe(view)} is given to ${what}; give a view of this device`);
      if (view.buffer.live === false)
        throw new DeviceError(
          this.device.name,
          `a ${what} uses a view of shape [${view.shape}] after its memory was freed`,
          "free arrays only when nothing uses them",
        );
    }
  }

  /** Throws LaunchError for a view in another device's memory. */
  protected requireOwnMemory(views: readonly View[]): void {
    for (const { buffer } of views)
      if (buffer.memory !== this.device.memory)
        throw new LaunchError(
          `a view in the memory of ${buffer.memory.name} was given to "${this.device.name}"; read it, and write it to a view of ${this.device.name}`,
        );
  }
}

/** Whether a launch is several, which are submitted one by one. */
const isSeveral = (work: Launch | Graph | undefined): work is ListLaunch => typeof work === "object" && work !== null && "submitBy" in work;

/** A queue of any backend. */
export type AnyDeviceQueue = DeviceQueue<Launch & WritingWork, Graph>;
