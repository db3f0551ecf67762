import type { Precision } from "../../device/device.js";

export type RowKind = "kernel" | "graph" | "copy" | "fence";

/** A launch that a graph holds, and how often. */
export interface Inner {
  readonly label: string;
  readonly count: number;
  readonly bytes: number;
  readonly flops: number;
}

/** Subject of a row; rows that are equal in all of it are one. */
export interface Subject {
  readonly kind: RowKind;
  /** Names of the regions around it, the outermost first. */
  readonly region: readonly string[];
  readonly label: string;
  /** Names of the devices that it runs on, most often one. */
  readonly devices: readonly string[];
  readonly precision?: Precision;
  readonly inner?: readonly Inner[];
}

/** Bytes and operations by the counting rule of docs/assessment.md; of a copy the bytes of its source. */
export interface CountedWork {
  readonly bytes: number;
  readonly flops: number;
}

/** Most samples that may wait for their time: devices have a limited number of places for events. */
const MOST_PENDING = 64;

/** Samples of one label, and the measured part of them. */
export class LabelSamples {
  count = 0;
  sampled = 0;
  bytes = 0;
  flops = 0;
  least = Infinity;
  /** Samples without a time so far. */
  pending = 0;
  private stride = 1;
  private taken = 0;
  private lastSample = 0;
  /** Sums over samples, each as often as it stands for launches. */
  private readonly weighted = { count: 0, seconds: 0, bytes: 0, flops: 0 };

  /** After `samples` of them, every second launch is measured; after as many again every fourth, and so on. */
  constructor(
    readonly subject: Subject,
    private readonly samples: number,
  ) {}

  /** Counts one more; returns how many it stands for, or 0 where it is not to be measured. */
  add({ bytes, flops }: CountedWork): number {
    this.count++;
    this.bytes += bytes;
    this.flops += flops;
    if ((this.count - 1) % this.stride !== 0 || this.pending >= MOST_PENDING) return 0;
    const weight = this.count - this.lastSample;
    this.lastSample = this.count;
    if (++this.taken % this.samples === 0) this.stride *= 2;
    return weight;
  }

  measured(seconds: number, weight: number, { bytes, flops }: CountedWork): void {
    this.sampled++;
    this.least = Math.min(this.least, seconds);
    const { weighted } = this;
    weighted.count += weight;
    weighted.seconds += weight * seconds;
    weighted.bytes += weight * bytes;
    weighted.flops += weight * flops;
  }

  /** Mean seconds of one launch; NaN if none was measured. */
  get mean(): number {
    return this.weighted.seconds / this.weighted.count;
  }

  /** Bytes and operations a second, of what was measured. */
  get rates(): CountedWork {
    const { seconds, bytes, flops } = this.weighted;
    return { bytes: bytes / seconds, flops: flops / seconds };
  }
}
