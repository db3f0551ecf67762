import type { OpenclHandle } from "./api.js";

/** Somewhere in a buffer. */
export interface BufferOffset {
  readonly memory: OpenclHandle;
  /** Bytes from the buffer's start. */
  readonly first: number;
}

/** Least alignment of buffers by drivers; the planner of launches counts on lines of this size. */
const ALIGNMENT = 4096;

/**
 * Numbers for the places in buffers, which OpenCL knows by handle and offset only: each buffer gets a range of its own, never used again.
 * Address 0 is not memory.
 */
export class BufferAddresses {
  private next = ALIGNMENT;
  /** By rising address. */
  private readonly ranges: { readonly begin: number; readonly end: number; readonly memory: OpenclHandle }[] = [];

  /** The address of a new buffer's first byte. */
  take(memory: OpenclHandle, bytes: number): number {
    const begin = this.next;
    this.next += Math.ceil((bytes + 1) / ALIGNMENT) * ALIGNMENT;
    this.ranges.push({ begin, end: this.next, memory });
    return begin;
  }

  /** Forgets the buffer at `begin`; false where there is none. */
  give(begin: number): boolean {
    const at = this.position(begin);
    if (this.ranges[at]?.begin !== begin) return false;
    this.ranges.splice(at, 1);
    return true;
  }

  find(address: number): BufferOffset {
    if (address === 0) return { memory: 0, first: 0 };
    const range = this.ranges[this.position(address)];
    if (!range || address >= range.end) throw new Error(`address ${address} is in no buffer`);
    return { memory: range.memory, first: address - range.begin };
  }

  handles(): OpenclHandle[] {
    return this.ranges.map(({ memory }) => memory);
  }

  /** The last range that begins at `address` or before. */
  private position(address: number): number {
    let [low, high] = [0, this.ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle].begin <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
