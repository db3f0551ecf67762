import { systemMemory } from "#engine";
import { DeviceError } from "../../base/errors.js";
import { CPU_MEMORY, type Buffer } from "../memory/view.js";
import { backlog } from "./backlog.js";
import { createMemory, growMemory, isWideMemory, MAX_PAGES, memoryLimits, PAGE } from "./wasm-memory.js";

export { PAGE };

/** Bytes at each end of a memory that are never allocated, so that a vector load a little beyond a view stays inside. */
const MARGIN = PAGE;
const LINE = 64;
/** Left free after each allocation of a page or more, so that arrays of 2^n bytes do not start at equal offsets of their 4 KiB pages. */
const STAGGER = 11 * LINE;
const SMALL = 4096;
const GROWTH = 64 << 20;
/** The system is asked for its free memory before it gives this much: asking takes as long as a small kernel. */
const LOOK_FIRST = 16 << 20;

/** A piece of CPU memory. Addresses count bytes in `host`. */
export interface CpuBuffer extends Buffer {
  readonly address: number;
  /** Asked for anew at each use: a growing memory changes its buffer object. Throws DeviceError after `free`. */
  readonly host: ArrayBufferLike;
  /** False after `free`. */
  readonly live: boolean;
  /** True where it lies in the WebAssembly memory of the storage, false for memory of its own (js and native only). */
  readonly inWasmMemory: boolean;
}

/** Takes memory that a backend can reach. */
export type Allocator = (bytes: number) => CpuBuffer;

interface Hole {
  start: number;
  end: number;
}

/**
 * Memory for the CPU backends: one WebAssembly memory with an allocator of our own, and shared buffers of their own for what does
 * not fit into it. Allocations are zeroed and start on a cache line.
 *
 * The memory begins with 32-bit addresses, which make the faster code. Where WebAssembly needs more, one with 64-bit addresses takes its
 * place, and everything lies in it where it lay before. Who holds the old one must notice that `memory` is another object.
 */
export class CpuStorage {
  /** Shared between threads where the platform has SharedArrayBuffer. */
  readonly shared: boolean;
  private current: WebAssembly.Memory | undefined;
  /** Why there is no WebAssembly memory, in the engine's words: then each piece is a buffer of its own. */
  readonly noMemory: string | undefined;
  /** Bytes allocated and not yet freed. */
  allocated = 0;
  /** Free ranges below `top`, by rising address, never adjacent. */
  private readonly holes: Hole[] = [];
  /** Memory above it was never allocated: it is zero and may not even be committed. */
  private top = MARGIN;

  /** `maxPages` of the memory, and of one that may take its place. */
  /** Pieces given back so far: as long as it stays the same, what was live still is. */
  frees = 0;

  constructor(
    private maxPages = MAX_PAGES,
    readonly mostPages = maxPages,
  ) {
    this.shared = typeof SharedArrayBuffer !== "undefined";
    try {
      this.current = createMemory(Math.min(maxPages, 16), maxPages, this.shared);
    } catch (error) {
      if (error instanceof DeviceError) throw error;
      this.noMemory = (error as Error).message;
    }
  }

  /** Undefined if the engine gives none. */
  get memory(): WebAssembly.Memory | undefined {
    return this.current;
  }

  /** Identity of the memory in which addresses are good: another object once it has moved, or was detached by growing where it is not shared. */
  get place(): object {
    if (!this.current) return this;
    return this.shared ? this.current : this.current.buffer;
  }

  /** The memory has 64-bit addresses. */
  get wide(): boolean {
    return isWideMemory(this.maxPages);
  }

  /**
   * New zeroed memory of at least one byte, aligned to 64 bytes; `onFree` is called once, when it is given back.
   * @throws DeviceError if the system cannot hold it.
   */
  allocate(bytes: number, onFree?: () => void): CpuBuffer {
    const size = sizeFor(bytes);
    if (size >= LOOK_FIRST) this.refuseWhereTooLarge(size);
    const start = this.findHole(size);
    return start === undefined ? this.ownBuffer(bytes, size, onFree) : this.pieceOfMemory(bytes, start, size, onFree);
  }

  /**
   * The same inside the WebAssembly memory, for which this may become one with 64-bit addresses; undefined if it cannot hold that much.
   * @throws DeviceError if the system cannot hold it.
   */
  allocateForWasm(bytes: number, onFree?: () => void): CpuBuffer | undefined {
    const size = sizeFor(bytes);
    if (size >= LOOK_FIRST) this.refuseWhereTooLarge(size);
    const start = this.findHole(size) ?? (this.widenFor(size) ? this.findHole(size) : undefined);
    return start === undefined ? undefined : this.pieceOfMemory(bytes, start, size, onFree);
  }

  private refuseWhereTooLarge(size: number): void {
    const { total, available } = systemMemory();
    if (this.allocated + size <= total && size <= available) return;
    throw new DeviceError(
      "cpu",
      `${gib(size)} do not fit: the system has ${gib(total)} of memory, ${gib(available)} available, and ${gib(this.allocated)} are in views`,
      "free views or choose a smaller size",
    );
  }

  private pieceOfMemory(bytes: number, start: number, size: number, onFree?: () => void): CpuBuffer {
    this.allocated += size;
    let live = true;
    const memory = () => this.current!;
    return {
      memory: CPU_MEMORY,
      bytes,
      address: start,
      inWasmMemory: true,
      writes: 0,
      get host() {
        if (!live) throw freed();
        return memory().buffer;
      },
      get live() {
        return live;
      },
      free: () => {
        if (!live) return;
        backlog.settle();
        live = false;
        this.frees++;
        this.allocated -= size;
        this.release(start, start + size);
        onFree?.();
      },
    };
  }

  private ownBuffer(bytes: number, size: number, onFree?: () => void): CpuBuffer {
    let host: ArrayBufferLike | undefined;
    try {
      host = this.shared ? new SharedArrayBuffer(size + 2 * MARGIN) : new ArrayBuffer(size + 2 * MARGIN);
    } catch {
      throw new DeviceError("cpu", `the engine refuses a buffer of ${gib(size)}`, "split the array, or use a newer engine");
    }
    this.allocated += size;
    return {
      memory: CPU_MEMORY,
      bytes,
      address: MARGIN,
      inWasmMemory: false,
      writes: 0,
      get host() {
        if (!host) throw freed();
        return host;
      },
      get live() {
        return host !== undefined;
      },
      free: () => {
        if (!host) return;
        backlog.settle();
        host = undefined;
        this.frees++;
        this.allocated -= size;
        onFree?.();
      },
    };
  }

  /** First address for `size` bytes, taken from the free memory; undefined if the memory cannot hold them. */
  private findHole(size: number): number | undefined {
    const n = this.holes.findIndex((hole) => hole.end - hole.start >= size);
    if (n >= 0) {
      const hole = this.holes[n];
      const { start } = hole;
      hole.start += size;
      if (hole.start === hole.end) this.holes.splice(n, 1);
      new Uint8Array(this.current!.buffer, start, size).fill(0);
      return start;
    }
    const start = this.top;
    if (!this.reach(start + size + MARGIN)) return undefined;
    this.top = start + size;
    return start;
  }

  /** Grows the memory to at least `bytes`; by large steps where it can, as growing detaches an unshared buffer. */
  private reach(bytes: number): boolean {
    if (!this.current) return false;
    const have = this.current.buffer.byteLength;
    if (bytes <= have) return true;
    const needed = Math.ceil((bytes - have) / PAGE);
    const possible = this.maxPages - have / PAGE;
    if (needed > possible) return false;
    for (const step of [Math.min(possible, Math.max(needed, GROWTH / PAGE)), needed]) {
      try {
        growMemory(this.current, step);
        return true;
      } catch {
        // The engine could not commit that much; the exact need may still fit.
      }
    }
    return false;
  }

  /** Moves to a memory with 64-bit addresses, if `size` bytes fit into it and not into this one; what is in use is copied. */
  private widenFor(size: number): boolean {
    if (!this.current || this.maxPages === this.mostPages || this.top + size + MARGIN > this.mostPages * PAGE) return false;
    backlog.settle();
    const used = this.usedRanges();
    // Until it is copied, everything is there twice.
    this.refuseWhereTooLarge(used.reduce((sum, { start, end }) => sum + end - start, size));
    let memory: WebAssembly.Memory;
    try {
      memory = createMemory(Math.ceil((this.top + MARGIN) / PAGE), this.mostPages, this.shared);
    } catch {
      return false;
    }
    for (const { start, end } of used)
      new Uint8Array(memory.buffer, start, end - start).set(new Uint8Array(this.current.buffer, start, end - start));
    this.current = memory;
    this.maxPages = this.mostPages;
    return true;
  }

  /** Ranges between the holes. */
  private usedRanges(): Hole[] {
    const bounds = [MARGIN, ...this.holes.flatMap(({ start, end }) => [start, end]), this.top];
    return Array.from({ length: bounds.length / 2 }, (_, n) => ({ start: bounds[2 * n], end: bounds[2 * n + 1] })).filter(
      ({ start, end }) => start < end,
    );
  }

  private release(start: number, end: number): void {
    const { holes } = this;
    let n = holes.findIndex((h) => h.start > start);
    if (n < 0) n = holes.length;
    const before = holes[n - 1];
    const after = holes[n];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    if (joinsBefore && joinsAfter) {
      before.end = after.end;
      holes.splice(n, 1);
    } else if (joinsBefore) before.end = end;
    else if (joinsAfter) after.start = start;
    else holes.splice(n, 0, { start, end });
  }
}

/** Size of an allocation for `bytes` bytes. */
const sizeFor = (bytes: number): number => Math.max(LINE, Math.ceil(bytes / LINE) * LINE) + (bytes >= SMALL ? STAGGER : 0);

let storage: CpuStorage | undefined;

/** The storage of this process, made on first use. */
export function cpuStorage(): CpuStorage {
  if (!storage) {
    const { first, most } = memoryLimits();
    storage = new CpuStorage(first, most);
  }
  return storage;
}

const freed = () => new DeviceError("cpu", "a view is used after its memory was freed", "free arrays only when no launch uses them");
const gib = (bytes: number) => (bytes < 1 << 30 ? `${(bytes / (1 << 20)).toPrecision(4)} MiB` : `${(bytes / 2 ** 30).toPrecision(4)} GiB`);
