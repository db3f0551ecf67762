import type { Entry as EntryCode, GpuLanguage } from "../../schedule/program.js";
import type { AnySlot } from "../../schedule/slots.js";
import type { Buffer, MemorySpace } from "../memory/view.js";
import type { Fill, GridShape, StreamStep } from "./steps.js";

/** Facts on which the code of a launch depends. */
export interface CodeFacts {
  /** Bytes of shared memory that a block may ask for. */
  readonly sharedBytes: number;
  /** Threads of a block at most. */
  readonly threads: number;
  /** Elements of 8 bytes can be folded into atomically. */
  readonly atomics64: boolean;
  /** Bytes of the cache that all multiprocessors share. */
  readonly l2Bytes: number;
  /** Threads that a multiprocessor holds at a time; undefined where the driver does not tell. */
  readonly residentThreads?: number;
}

/** Resources that the compiler gave an entry: numbers that a driver does not tell are undefined. */
export interface EntryResources {
  /** For a thread. */
  readonly registers?: number;
  readonly localBytes?: number;
  /** For a block, without dynamic shared memory. */
  readonly sharedBytes?: number;
}

/** A kernel's entry point on one GPU. */
export interface GpuEntry {
  /** Blocks of `threads` threads with `sharedBytes` of dynamic shared memory that one multiprocessor holds at a time. */
  residentBlocks(threads: number, sharedBytes: number): number;
  /** Resources that a thread of it takes, in words. */
  readonly needs: string;
  /** The same in numbers. */
  readonly resources: EntryResources;
}

/** Memory of a GPU at a numeric address, which arithmetic may move inside of it. */
export interface GpuMemory extends Buffer {
  readonly address: number;
}

/** Services that a launch needs from the GPU on which it is planned. */
export interface GpuMachine {
  readonly name: string;
  readonly memory: MemorySpace;
  readonly language: GpuLanguage;
  readonly facts: CodeFacts & { readonly multiprocessors: number };
  /** Zeroed memory. Throws DeviceError if it does not fit. */
  allocate(bytes: number): GpuMemory;
  /** The entry points of `source`, compiled for this GPU or found compiled. */
  load(source: string, fast: boolean, name: string, entries: readonly string[]): ReadonlyMap<string, GpuEntry>;
  /** Puts words into memory, before whatever is enqueued later. */
  upload(address: number, words: Uint32Array): void;
  /** A run of an entry that `load` gave. */
  kernelStep<Slot extends AnySlot>(code: EntryCode<Slot>, entry: GpuEntry, shape: GridShape, fill: Fill<Slot>): StreamStep;
  /** Sets every byte of a piece of memory. */
  fillStep(address: number, value: number, bytes: number): StreamStep;
  /** Steps of this kernel are enqueued next. Throws DeviceError once closed. */
  starts(kernel: string): void;
}
