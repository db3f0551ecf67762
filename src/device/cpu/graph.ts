import { LaunchError } from "../../kernel/errors.js";
import type { Graph } from "../device.js";
import type { CpuDevice } from "./cpu-device.js";
import type { CpuLaunch } from "./launch.js";

/** One thing that was captured: a launch, or a copy or clear that the calling thread does. */
export type Captured = CpuLaunch | (() => void);

/** Captured work that runs as one: what a device makes of it. */
export interface Region {
  readonly decision: string;
  run(): void;
  free(): void;
}

/** The items one after the other, as if they were submitted so. */
export function loopRegion(items: readonly Captured[]): Region {
  return {
    decision: `${describe(items)}, one after the other`,
    run: () => {
      for (const item of items)
        if (typeof item === "function") item();
        else item.run();
    },
    free: () => {},
  };
}

/** How much there is of what. */
export function describe(items: readonly Captured[]): string {
  const launches = items.filter((item) => typeof item !== "function").length;
  const count = (n: number, one: string, more: string) => `${n} ${n === 1 ? one : more}`;
  return `${count(launches, "launch", "launches")} and ${count(items.length - launches, "copy or clear", "copies and clears")}`;
}

/** Work on CPU devices in the order in which it was submitted, which is that of all their queues; cut where the device changes. */
export class CpuGraph implements Graph {
  readonly decisions: readonly string[];
  private readonly regions: readonly Region[];
  private freed = false;

  constructor(work: readonly { device: CpuDevice; item: Captured }[]) {
    const stretches: { device: CpuDevice; items: Captured[] }[] = [];
    for (const { device, item } of work) {
      const last = stretches.at(-1);
      if (last && (last.device === device || typeof item === "function")) last.items.push(item);
      else stretches.push({ device, items: [item] });
    }
    this.regions = stretches.map(({ device, items }) => device.region(items));
    this.decisions = this.regions.map(({ decision }) => decision);
  }

  run(): void {
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const region of this.regions) region.run();
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const region of this.regions) region.free();
  }
}

let captured: { device: CpuDevice; item: Captured }[] | undefined;

/** True while work is noted instead of run. */
export const capturing = (): boolean => captured !== undefined;

/** Notes work during a capture; returns false where there is none, and the work is to be done. */
export function note(device: CpuDevice, item: () => Captured): boolean {
  captured?.push({ device, item: item() });
  return captured !== undefined;
}

/** What the CPU queues are given while `record` runs. Throws LaunchError inside another capture. */
export function capture(record: () => void): CpuGraph {
  if (captured) throw new LaunchError("a capture inside a capture: capture the inner work on its own, before");
  captured = [];
  try {
    record();
    return new CpuGraph(captured);
  } finally {
    captured = undefined;
  }
}
