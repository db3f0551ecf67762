import type { ElementType } from "../../ir/types.js";
import type { CopiedSize } from "../../emit/c/gpu/copy.js";
import { denseMemory, stridedMemory, stridedCopy } from "../gpu/copies.js";
import { setStored, memoryArray, hostValues } from "../memory/memory-array.js";
import { BYTES, type TypedArrayOf, type View } from "../memory/view.js";
import type { OpenclHandle } from "./api.js";
import { Completion } from "./events.js";
import type { OpenclMachine } from "./machine.js";

/** Host data travels to the device in pieces of this size. */
const PIECE = 16 << 20;
/** Writes wait for the oldest piece when this many are on their way. */
const IN_FLIGHT = 8;

/** Copies of host data on their way to a device. */
export class Uploads {
  private readonly pieces: { readonly completion: Completion; readonly held: ArrayBuffer }[] = [];

  constructor(private readonly machine: OpenclMachine) {}

  /** Enqueues the copy of `data`, in `right` order, to a view; `data` may change as soon as this returns. */
  write(target: View, data: ArrayLike<number>, stream: OpenclHandle): void {
    const { machine } = this;
    const { type, shape, size } = target;
    if (size === 0) return;
    if (target.contiguous) return this.writeDense(stridedMemory(target).address, type, data, stream);
    const dense = machine.allocate(size * BYTES[type]);
    this.writeDense(dense.address, type, data, stream);
    const spread = stridedCopy(machine, BYTES[type] as CopiedSize, shape, denseMemory(dense.address, shape), stridedMemory(target));
    spread.enqueue(stream);
    spread.free?.();
    dense.free();
  }

  private writeDense(address: number, type: ElementType, data: ArrayLike<number>, stream: OpenclHandle): void {
    const cl = this.machine.enter();
    const step = PIECE / BYTES[type];
    const { memory, first: start } = this.machine.addresses.find(address);
    for (let first = 0; first < data.length; first += step) {
      this.releaseArrived();
      const count = Math.min(step, data.length - first);
      const held = new ArrayBuffer(count * BYTES[type]);
      setStored(type, memoryArray(type, held, 0, count), data, first);
      const at = start + first * BYTES[type];
      const event = cl.event("clEnqueueWriteBuffer", stream, memory, 0, at, held.byteLength, cl.koffi.address(held), 0, null);
      this.pieces.push({ completion: new Completion(this.machine, event), held });
    }
    cl.call("clFlush", stream);
  }

  /** Lets go of what has arrived. */
  private releaseArrived(): void {
    while (this.pieces.length > 0) {
      const { completion } = this.pieces[0];
      if (this.pieces.length >= IN_FLIGHT) completion.block();
      else if (!completion.ready) break;
      this.pieces.shift();
    }
  }
}

/** Writes host data in `right` order to a view; the calling thread waits until it is there. */
export function fillBuffer(machine: OpenclMachine, target: View, data: ArrayLike<number>): void {
  new Uploads(machine).write(target, data, machine.transfers);
  machine.enter().call("clFinish", machine.transfers);
}

/** Host memory that device memory is copied to; it must be kept until the copy is complete. */
interface Download {
  readonly buffer: ArrayBuffer;
  /** Undefined if there is nothing to copy. */
  readonly completion?: Completion;
}

/** Enqueues the copy of device memory to a new buffer. */
export function enqueueRead(machine: OpenclMachine, address: number, bytes: number, stream: OpenclHandle): Download {
  const cl = machine.enter();
  const buffer = new ArrayBuffer(bytes);
  if (bytes === 0) return { buffer };
  const { memory, first } = machine.addresses.find(address);
  const event = cl.event("clEnqueueReadBuffer", stream, memory, 0, first, bytes, cl.koffi.address(buffer), 0, null);
  cl.call("clFlush", stream);
  return { buffer, completion: new Completion(machine, event) };
}

/** Enqueues the copy of a view's elements to the host; `take` gives them in `right` order, once the copy is complete. */
export function startDownload<T extends ElementType>(
  machine: OpenclMachine,
  source: View<T>,
  stream: OpenclHandle,
): Pick<Download, "completion"> & { take(): TypedArrayOf<T> } {
  const { type, shape, size } = source;
  const bytes = size * BYTES[type];
  const take = (buffer: ArrayBuffer) => hostValues(type, memoryArray(type, buffer, 0, size));
  if (source.contiguous || size === 0) {
    const { buffer, completion } = enqueueRead(machine, size === 0 ? 0 : stridedMemory(source).address, bytes, stream);
    return { completion, take: () => take(buffer) };
  }
  const dense = machine.allocate(bytes);
  const pack = stridedCopy(machine, BYTES[type] as CopiedSize, shape, stridedMemory(source), denseMemory(dense.address, shape));
  pack.enqueue(stream);
  pack.free?.();
  const { buffer, completion } = enqueueRead(machine, dense.address, bytes, stream);
  dense.free();
  return { completion, take: () => take(buffer) };
}

/** The same, with the calling thread waiting. */
export function downloadNow<T extends ElementType>(machine: OpenclMachine, source: View<T>, stream: OpenclHandle): TypedArrayOf<T> {
  const { completion, take } = startDownload(machine, source, stream);
  completion?.block();
  return take();
}
