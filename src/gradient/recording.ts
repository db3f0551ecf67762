import type { Device } from "../device/device.js";
import { storageOf, type AnyView } from "../device/memory/blocked-view.js";
import type { Buffer, View } from "../device/memory/view.js";
import { writeCount } from "../device/memory/writes.js";
import { GradientError } from "../base/errors.js";
import type { LaunchOptions } from "../device/device.js";
import type { Policy } from "../device/launch/policy.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import type { DifferentiatedKernel } from "./differentiated.js";
import { KeptValues, type KeptValue } from "./kept-values.js";
import type { TapeScalar } from "./tape-scalar.js";

/** A launch of a tape, with all that its adjoint needs. */
export interface LaunchEntry {
  readonly kind: "launch";
  /** Counted from 1. */
  readonly number: number;
  readonly kernel: Kernel;
  readonly policy: Policy;
  /** Plain arguments, by the names of the flat kernel. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly code: DifferentiatedKernel;
  /** Arguments whose gradient is known to the tape. */
  readonly scalars: ReadonlyMap<string, TapeScalar>;
  readonly results: ReadonlyMap<string, TapeScalar>;
  /** Values of views that the adjoint reads. */
  readonly kept: ReadonlyMap<string, KeptValue>;
  readonly options: LaunchOptions;
}

/** One launch of a function that runs again, to be compared with. */
export type SeenLaunch = Pick<LaunchEntry, "kernel" | "args" | "policy" | "options">;

/** A function that runs again when its launches are reversed. */
export interface SectionEntry {
  readonly kind: "section";
  readonly run: () => unknown;
  /** Memory as it was when the function began. */
  readonly saved: Map<Buffer, View>;
  readonly launches: SeenLaunch[];
  /** Numbers that the function made, in order. */
  readonly scalars: TapeScalar[];
}

/** Reads or writes of memory past the tape that make its gradient wrong. */
interface Spoilt {
  readonly kernel: Kernel;
  readonly number: number;
  readonly name: string;
  readonly before: number;
}

/** Launches in order, and the values that are kept for their adjoints. */
export class Recording {
  readonly entries: (LaunchEntry | SectionEntry)[] = [];
  readonly kept: KeptValues;
  /** The first use of memory that somebody else had written since the tape used it. */
  spoilt: Spoilt | undefined;
  /** The first launch that failed after it was submitted: nobody knows what it has written. */
  failed: Pick<Spoilt, "kernel" | "number"> | undefined;
  /** Memory of floats that launches have used: the writes to it so far, and the launch. */
  private readonly used = new Map<Buffer, { writes: number; readonly number: number }>();

  private readonly stored = new Set<Buffer>();
  /** Memory that some rule leaves out: the kernel. */
  readonly leftOut = new Map<Buffer, string>();

  constructor(device: Device) {
    this.kept = new KeptValues(device);
  }

  /** Looks whether floats that a launch uses are as the tape's last launch left them. */
  noteUses(kernel: Kernel, number: number, views: Readonly<Record<string, AnyView>>): void {
    for (const [name, view] of Object.entries(views)) {
      const { buffer } = storageOf(view);
      const before = this.used.get(buffer);
      if (before && before.writes !== writeCount(buffer)) this.spoilt ??= { kernel, number, name, before: before.number };
      this.used.set(buffer, { writes: writeCount(buffer), number });
    }
  }

  /** Notes floats that a launch stores, and ones that it reads while its author's rule leaves them out. Throws GradientError where earlier launches made these. */
  noteRule({ name, location }: Kernel, unknown: readonly (readonly [param: string, view: AnyView])[], written: Iterable<Buffer>): void {
    for (const [param, view] of unknown) {
      const { buffer } = storageOf(view);
      if (this.stored.has(buffer))
        throw new GradientError(
          name,
          location,
          `it reads "${param}", which earlier launches of the tape stored, and its rule(...) leaves it out`,
          "give a rule that has it",
        );
      this.leftOut.set(buffer, name);
    }
    for (const buffer of written) this.stored.add(buffer);
  }

  /** Runs something that writes memory on behalf of the tape. */
  own<T>(written: Iterable<Buffer>, run: () => T): T {
    const before = new Map([...written].map((buffer) => [buffer, writeCount(buffer)]));
    const result = run();
    this.follow(before);
    return result;
  }

  /** Takes writes since then, by memory, for the tape's own: what is kept there is as it was. */
  follow(before: ReadonlyMap<Buffer, number>): void {
    this.kept.afterWrites(before);
    for (const [buffer, count] of before) {
      const use = this.used.get(buffer);
      if (use?.writes === count) use.writes = writeCount(buffer);
    }
  }

  free(): void {
    this.kept.free();
    for (const entry of this.entries.splice(0)) if (entry.kind === "section") entry.saved.forEach((view) => view.free());
    this.used.clear();
  }
}
