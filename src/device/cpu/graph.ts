import { LaunchError, type KernelError } from "../../ir/errors.js";
import type { Graph } from "../device.js";
import type { Buffer, View } from "../memory/view.js";
import { clearView, copyView, hostArray } from "./host-view.js";
import { CpuLaunch, type CpuHost } from "./launch.js";
import { cpuStorage } from "./storage.js";
import { takeLines } from "./take-lines.js";

/** A copy between views of one shape and type; without a source, a clear. */
export interface Transfer {
  readonly source?: View;
  readonly target: View;
}

/** Work in a graph. */
export type Captured = CpuLaunch | Transfer;

/** A device that runs captured work as one. */
export interface RegionHost extends CpuHost {
  region(items: readonly Captured[]): Region;
}

type Noted = { readonly device: RegionHost; readonly item: Captured };

/** Captured work of one device that runs as one; indices outside are looked for when all of a graph is done. */
export interface Region {
  readonly remark: string;
  /** The views' memory is known to be there. */
  run(): void;
  free(): void;
}

/** The work one after the other, as if it were submitted so. */
export function loopRegion(work: readonly Captured[]): Region {
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
export function countOf(work: readonly Captured[]): string {
  const count = (n: number, one: string, more: string): string => `${n} ${n === 1 ? one : more}`;
  const launches = work.filter((item) => item instanceof CpuLaunch).length;
  return `${count(launches, "launch", "launches")}, ${count(work.length - launches, "copy", "copies")}`;
}

/** Work on CPU devices in the order in which it was submitted, across all their queues; split where the device changes. */
export class CpuGraph implements Graph {
  private regions: readonly Region[];
  private memory: WebAssembly.Memory | undefined;
  private readonly batches: readonly { device: RegionHost; items: Captured[] }[];
  private readonly devices: ReadonlySet<RegionHost>;
  private readonly launches: ReadonlySet<CpuLaunch>;
  private readonly buffers: readonly Buffer[];
  private freed = false;
  /** `frees` of the storage when all buffers were seen to be live. */
  private liveAt = -1;

  constructor(work: readonly Noted[]) {
    const items = work.map(({ item }) => item);
    this.devices = new Set(work.map(({ device }) => device));
    this.launches = new Set(items.filter((item) => item instanceof CpuLaunch));
    this.buffers = [...new Set(items.flatMap(buffersOf))];
    const batches: { device: RegionHost; items: Captured[] }[] = [];
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

  run(): void {
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const device of this.devices) device.requireOpen();
    for (const launch of this.launches) launch.requireKept();
    const { frees } = cpuStorage();
    if (this.liveAt !== frees) {
      for (const buffer of this.buffers) if (buffer.live === false) this.refuseFreedView();
      this.liveAt = frees;
    }
    if (this.memory !== cpuStorage().memory) this.followMemory();
    let faults: KernelError[] = [];
    try {
      for (const region of this.regions) region.run();
    } finally {
      for (const { binding } of this.launches) takeLines(binding);
      faults = [...this.launches].flatMap((launch) => launch.takeFault() ?? []);
    }
    if (faults.length > 0) throw faults[0];
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const region of this.regions) region.free();
  }

  private build(): Region[] {
    return this.batches.map((batch) => batch.device.region(batch.items));
  }

  /** Regions hold addresses. */
  private followMemory(): void {
    const regions = this.build();
    for (const region of this.regions) region.free();
    this.regions = regions;
    this.memory = cpuStorage().memory;
  }

  private refuseFreedView(): void {
    for (const launch of this.launches) launch.requireReady();
    throw new LaunchError("a graph copies or clears a view whose memory was freed; free arrays only when no graph uses them");
  }
}

function buffersOf(item: Captured): readonly Buffer[] {
  return item instanceof CpuLaunch ? item.buffers : [item.target.buffer, ...(item.source ? [item.source.buffer] : [])];
}

let captured: Noted[] | undefined;

/** True while work is noted instead of run. */
export const capturing = (): boolean => captured !== undefined;

/** Notes work during a capture; returns false where there is none, and the work is to be done. */
export function note(device: RegionHost, item: Captured): boolean {
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
