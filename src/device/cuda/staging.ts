import { setStored, memoryArray, takeStored, type MemoryArray } from "../memory/memory-array.js";
import { BYTES, typedArray, type TypedArray, type TypedArrayOf } from "../memory/view.js";
import type { ElementType } from "../../ir/types.js";
import type { Handle } from "./calls.js";
import type { Driver } from "./driver.js";

/** Pinned host memory, which the GPU's copy engines reach without the driver's detour. */
interface Pinned {
  readonly pointer: Handle;
  readonly bytes: ArrayBuffer;
  /** Recorded after the copy that last used it. */
  readonly event: Handle;
}

/** Host data travels to the device in pieces of this size. */
const CHUNK = 16 << 20;
/** Writes wait for the oldest piece when this many are on their way. */
const IN_FLIGHT = 4;
/** Reads up to this size are one pinned piece and never block; larger ones copy piece by piece, and block meanwhile. */
const LARGEST_READ = 256 << 20;
/** Unused pinned memory that is kept. */
const KEEP = 512 << 20;

/** Copies between host arrays and device memory through pinned memory. */
export class Staging {
  private readonly free: Pinned[] = [];
  private readonly writing: Pinned[] = [];

  /** @param waitNow waits for an event, while the thread blocks */
  constructor(
    private readonly driver: Driver,
    private readonly waitNow: (event: Handle) => void,
  ) {}

  /** Enqueues the copy of `data` to device memory at `target`; `data` may change as soon as this returns. */
  write(target: Handle, type: ElementType, data: ArrayLike<number>, stream: Handle): void {
    const step = CHUNK / BYTES[type];
    for (let first = 0; first < data.length; first += step) {
      const count = Math.min(step, data.length - first);
      const piece = this.pieceForWriting(count * BYTES[type]);
      setStored(type, memoryArray(type, piece.bytes, 0, count), data, first);
      this.driver.call("cuMemcpyHtoDAsync_v2", target + first * BYTES[type], piece.pointer, count * BYTES[type], stream);
      this.driver.call("cuEventRecord", piece.event, stream);
      this.writing.push(piece);
    }
  }

  /** The `count` elements at `source`, as they are once the stream's earlier work is done. */
  async read<T extends ElementType>(
    source: Handle,
    type: T,
    count: number,
    stream: Handle,
    beforePoll: () => void,
  ): Promise<TypedArrayOf<T>> {
    const bytes = count * BYTES[type];
    if (bytes > LARGEST_READ) return this.readNow(source, type, count, stream);
    const result = typedArray(type, count);
    if (bytes === 0) return result;
    const piece = this.take(bytes);
    this.driver.call("cuMemcpyDtoHAsync_v2", piece.pointer, source, bytes, stream);
    this.driver.call("cuEventRecord", piece.event, stream);
    await untilReady(this.driver, "cuEventQuery", piece.event, beforePoll);
    takeStored(type, memoryArray(type, piece.bytes, 0, count) as MemoryArray, result as TypedArray);
    this.give(piece);
    return result;
  }

  /** The same, piece by piece; the calling thread waits. */
  readNow<T extends ElementType>(source: Handle, type: T, count: number, stream: Handle): TypedArrayOf<T> {
    const result = typedArray(type, count);
    const step = CHUNK / BYTES[type];
    const pieces = [this.take(CHUNK), this.take(CHUNK)];
    const start = (first: number, piece: Pinned) => {
      const length = Math.min(step, count - first);
      this.driver.call("cuMemcpyDtoHAsync_v2", piece.pointer, source + first * BYTES[type], length * BYTES[type], stream);
      this.driver.call("cuEventRecord", piece.event, stream);
      return length;
    };
    let length = start(0, pieces[0]);
    for (let first = 0, turn = 0; first < count; first += step, turn ^= 1) {
      const next = first + step < count ? start(first + step, pieces[turn ^ 1]) : 0;
      this.waitNow(pieces[turn].event);
      takeStored(type, memoryArray(type, pieces[turn].bytes, 0, length) as MemoryArray, result as TypedArray, first);
      length = next;
    }
    pieces.forEach((piece) => this.give(piece));
    return result;
  }

  close(): void {
    for (const piece of [...this.free.splice(0), ...this.writing.splice(0)]) this.drop(piece);
  }

  private pieceForWriting(bytes: number): Pinned {
    while (this.writing.length > 0) {
      const oldest = this.writing[0];
      if (this.writing.length < IN_FLIGHT && !this.driver.ready("cuEventQuery", oldest.event)) break;
      this.waitNow(oldest.event);
      this.give(this.writing.shift()!);
    }
    return this.take(bytes);
  }

  private take(bytes: number): Pinned {
    const size = Math.max(4096, 2 ** Math.ceil(Math.log2(bytes)));
    const at = this.free.findIndex((piece) => piece.bytes.byteLength === size);
    if (at >= 0) return this.free.splice(at, 1)[0];
    const pointer = this.driver.handle("cuMemHostAlloc", size, 0);
    return { pointer, bytes: this.driver.koffi.view(BigInt(pointer), size), event: this.driver.handle("cuEventCreate", 2) };
  }

  private give(piece: Pinned): void {
    const kept = this.free.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    if (kept + piece.bytes.byteLength <= KEEP) this.free.push(piece);
    else this.drop(piece);
  }

  private drop(piece: Pinned): void {
    this.driver.call("cuEventDestroy_v2", piece.event);
    this.driver.call("cuMemFreeHost", piece.pointer);
  }
}

/** Polls this many milliseconds without a pause, as short kernels end so soon; then at every turn of the event loop, then once a millisecond. */
const POLLING = { atOnce: 0.01, eagerly: 20 };

/** Resolves once the device has passed an event or emptied a stream, without blocking the event loop. `beforePoll` runs before each look. */
export async function untilReady(
  driver: Driver,
  query: "cuEventQuery" | "cuStreamQuery",
  handle: Handle,
  beforePoll: () => void,
): Promise<void> {
  const begin = performance.now();
  for (;;) {
    beforePoll();
    if (driver.ready(query, handle)) return;
    const waited = performance.now() - begin;
    if (waited < POLLING.atOnce) continue;
    if (waited < POLLING.eagerly) await new Promise<void>((resolve) => setImmediate(resolve));
    else await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}
