import { LaunchError, type KernelError } from "../../base/errors.js";
import type { Graph } from "../device.js";
import { BYTES, type Buffer, type View } from "../memory/view.js";
import { backlog, type WorkSteps, type QueuedWork } from "./backlog.js";
import { clearView, copyView, hostArray } from "./host-view.js";
import { Lasted, pieceCount } from "./lasted.js";
import { CpuLaunch, type CpuHost } from "./launch.js";
import { cpuStorage } from "./storage.js";
import { takeLines } from "./take-lines.js";

/** A copy between views of one shape and type; without a source, a clear. */
export interface Transfer {
  readonly source?: View;
  readonly target: View;
}

/** Work in a graph. */
export type CapturedWork = CpuLaunch | Transfer;

/** A device that runs captured work as one. */
export interface RegionHost extends CpuHost {
  region(items: readonly CapturedWork[]): CapturedRegion;
}

type Noted = { readonly device: RegionHost; readonly item: CapturedWork };

/** Captured work of one device that runs as one; indices outside are looked for when all of a graph is done. */
export interface CapturedRegion {
  readonly remark: string;
  /** The views' memory is known to be there. */
  run(): void;
  free(): void;
}

/** The work one after the other, as if it were submitted so. */
export function loopRegion(work: readonly CapturedWork[]): CapturedRegion {
  const calls = work.map((item) => (item instanceof CpuLaunch ? () => item.runUnseen() : transferCall(item)));
  return {
    remark: `${countOf(work)}, one after the other`,
    run: () => {
      for (const call of calls) call();
    },
    free: () => {},
  };
}

/** A function that does a transfer each time it is called. */
export function transferCall({ source, target }: Transfer): () => void {
  if (!source) return () => clearView(target);
  if (!source.contiguous || !target.contiguous || !cpuStorage().shared) return () => copyView(source, target);
  // A shared memory keeps its place when it grows.
  const [from, to] = [hostArray(source), hostArray(target)];
  return () => to.set(from);
}

/** How much there is of what, in words. */
export function countOf(work: readonly CapturedWork[]): string {
  const count = (n: number, one: string, more: string): string => `${n} ${n === 1 ? one : more}`;
  const launches = work.filter((item) => item instanceof CpuLaunch).length;
  return `${count(launches, "launch", "launches")}, ${count(work.length - launches, "copy", "copies")}`;
}

/** Part of a graph that runs at once, or that is one launch. */
type Piece = CapturedRegion | CpuLaunch;

/** Bytes that a copy moves in a millisecond, on a slow machine. */
const COPIED = 2e6;

const expectedOf = (item: CapturedWork): number =>
  item instanceof CpuLaunch ? item.lasted.expected() : (item.target.size * BYTES[item.target.type]) / COPIED;

/** Items in their order, in pieces that take `each` or contain one item. */
function inPieces(items: readonly CapturedWork[], each: number): CapturedWork[][] {
  const pieces: CapturedWork[][] = [];
  let room = 0;
  for (const item of items) {
    const expected = expectedOf(item);
    if (expected > room) {
      pieces.push([]);
      room = each;
    }
    pieces.at(-1)!.push(item);
    room -= expected;
  }
  return pieces;
}

/** Work on CPU devices in the order in which it was submitted, across all their queues; split where the device changes. */
export class CpuGraph implements Graph, QueuedWork {
  private regions: readonly CapturedRegion[];
  private memory: WebAssembly.Memory | undefined;
  private readonly batches: readonly { device: RegionHost; items: CapturedWork[] }[];
  private readonly devices: ReadonlySet<RegionHost>;
  private readonly launches: ReadonlySet<CpuLaunch>;
  private readonly buffers: readonly Buffer[];
  private freed = false;
  private readonly lasted = new Lasted(() => this.guess());
  /** Pieces of a long graph, and the time for which they were cut. */
  private cut: { readonly milliseconds: number; readonly pieces: readonly Piece[] } | undefined;
  /** `frees` of the storage when all buffers were seen to be live. */
  private liveAt = -1;

  constructor(work: readonly Noted[]) {
    const items = work.map(({ item }) => item);
    this.devices = new Set(work.map(({ device }) => device));
    this.launches = new Set(items.filter((item) => item instanceof CpuLaunch));
    this.buffers = [...new Set(items.flatMap(buffersOf))];
    const batches: { device: RegionHost; items: CapturedWork[] }[] = [];
    for (const { device, item } of work) {
      const last = batches.at(-1);
      if (last && (last.device === device || !(item instanceof CpuLaunch))) last.items.push(item);
      else batches.push({ device, items: [item] });
    }
    this.batches = batches;
    this.regions = this.build();
    this.memory = cpuStorage().memory;
  }

  get remarks(): readonly string[] {
    return this.regions.map(({ remark }) => remark);
  }

  get isLong(): boolean {
    return this.lasted.isLong();
  }

  run(): void {
    this.requireReady();
    if (this.memory !== cpuStorage().memory) this.followMemory();
    const start = this.lasted.isDue() ? performance.now() : undefined;
    let faults: KernelError[] = [];
    try {
      for (const region of this.regions) region.run();
    } finally {
      faults = this.look();
    }
    if (start !== undefined) this.lasted.note(performance.now() - start);
    if (faults.length > 0) throw faults[0];
  }

  /** A piece after the other, and a long launch on other threads. */
  *steps(): WorkSteps {
    this.requireLive();
    if (this.memory !== cpuStorage().memory) this.followMemory();
    const start = performance.now();
    let faults: KernelError[] = [];
    try {
      for (const piece of this.pieces()) {
        if (piece instanceof CpuLaunch) yield* piece.stepsUnseen();
        else piece.run();
        yield undefined;
      }
    } finally {
      faults = this.look();
    }
    this.lasted.note(performance.now() - start);
    if (faults.length > 0) throw faults[0];
  }

  /** Prints lines of its launches; gives the errors of indices outside. */
  private look(): KernelError[] {
    for (const { binding } of this.launches) takeLines(binding);
    return [...this.launches].flatMap((launch) => launch.takeFault() ?? []);
  }

  /** Throws IsoformError if a device is closed, or the graph, one of its launches or memory that it uses was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const device of this.devices) device.requireOpen();
    for (const launch of this.launches) launch.requireKept();
    this.requireLive();
  }

  private requireLive(): void {
    const { frees } = cpuStorage();
    if (this.liveAt === frees) return;
    for (const buffer of this.buffers) if (buffer.live === false) this.refuseFreedView();
    this.liveAt = frees;
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    backlog.whenIdle(() => {
      for (const region of this.regions) region.free();
      this.forgetPieces();
    });
  }

  private guess(): number {
    return this.batches.reduce((sum, { items }) => sum + items.reduce((of, item) => of + expectedOf(item), 0), 0);
  }

  /** Parts between which others have their turn: regions of some milliseconds, and launches that take longer. */
  private pieces(): readonly Piece[] {
    if (!this.isLong) return this.regions;
    const milliseconds = this.lasted.expected();
    if (this.cut && milliseconds < 2 * this.cut.milliseconds && this.cut.milliseconds < 2 * milliseconds) return this.cut.pieces;
    this.forgetPieces();
    const each = this.guess() / pieceCount(milliseconds);
    const pieces = this.batches.flatMap(({ device, items }) =>
      inPieces(items, each).map((some) => (some.length === 1 && some[0] instanceof CpuLaunch ? some[0] : device.region(some))),
    );
    this.cut = { milliseconds, pieces };
    return pieces;
  }

  private forgetPieces(): void {
    for (const piece of this.cut?.pieces ?? []) if (!(piece instanceof CpuLaunch)) piece.free();
    this.cut = undefined;
  }

  private build(): CapturedRegion[] {
    return this.batches.map((batch) => batch.device.region(batch.items));
  }

  /** Regions hold addresses. */
  private followMemory(): void {
    const regions = this.build();
    for (const region of this.regions) region.free();
    this.forgetPieces();
    this.regions = regions;
    this.memory = cpuStorage().memory;
  }

  private refuseFreedView(): void {
    for (const launch of this.launches) launch.requireReady();
    throw new LaunchError("a graph copies or clears a view whose memory was freed; free arrays only when no graph uses them");
  }
}

function buffersOf(item: CapturedWork): readonly Buffer[] {
  return item instanceof CpuLaunch ? item.buffers : [item.target.buffer, ...(item.source ? [item.source.buffer] : [])];
}

let captured: Noted[] | undefined;

/** True while work is noted instead of run. */
export const capturing = (): boolean => captured !== undefined;

/** Notes work during a capture; returns false where there is none, and the work is to be done. */
export function note(device: RegionHost, item: CapturedWork): boolean {
  captured?.push({ device, item });
  return captured !== undefined;
}

/** Captures the work that the CPU queues are given while `record` runs. Throws LaunchError inside another capture. */
export function capture(record: () => void): CpuGraph {
  if (captured) throw new LaunchError("a capture inside a capture: capture the inner work on its own, before");
  const work: Noted[] = [];
  captured = work;
  try {
    record();
  } finally {
    captured = undefined;
  }
  return new CpuGraph(work);
}
