import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { noteWrite } from "../device/memory/writes.js";
import { overlap, requireApart } from "../device/memory/overlap.js";
import type { Queue } from "../device/device.js";
import { copyView, readView, writeView } from "../device/cpu/host-view.js";
import {
  BYTES,
  CPU_MEMORY,
  hostBuffer,
  requireAlike,
  requireData,
  stridesOf,
  typedArray,
  View,
  type Buffer,
  type TypedArray,
  type NumberArrayOf,
} from "../device/memory/view.js";
import { codingOf } from "../ir/scalars.js";
import type { ElementType, NumberElement } from "../ir/types.js";
import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";

/**
 * Copies all elements between views of one type and shape, of any layouts, in any memories, or between a view and host data, and resolves when
 * they are there; a number goes to all elements. Inside one memory nothing passes through the host, save between blocks of two sizes.
 *
 * @param queues one of each GPU that takes part, in which its part of the copy is ordered; views of CPU devices need none
 * @throws LaunchError if types, shapes or lengths differ, or a queue is missing
 */
export function deepCopy<T extends NumberElement>(
  target: View<T> | BlockedView<T>,
  source: View<NoInfer<T>> | BlockedView<NoInfer<T>> | ArrayLike<number> | number,
  ...queues: Queue[]
): Promise<void>;
export function deepCopy<T extends NumberElement>(
  target: NumberArrayOf<T>,
  source: View<T> | BlockedView<T>,
  ...queues: Queue[]
): Promise<void>;
export async function deepCopy(
  target: AnyView | TypedArray,
  source: AnyView | ArrayLike<number> | number,
  ...queues: Queue[]
): Promise<void> {
  const like = isView(source) ? source : target;
  if (!isView(like)) throw new LaunchError("deepCopy between two host arrays; use the target's own set");
  const to = isView(target) ? target : hostTarget(target, like);
  const from = isView(source) ? source : typeof source === "number" ? repeated(source, like) : hostView(source, like);
  requireAlike(from, to);
  requireApart("a deepCopy to", to);
  const [blocks, others] = [blockOf(to), blockOf(from)];
  // Pieces of views that share memory would change what is still to be copied.
  const tangled = (blocks ?? others) !== undefined && overlap(storageOf(to), storageOf(from));
  if (tangled || (blocks !== undefined && others !== undefined && blocks !== others)) {
    const values = typedArray(from.type, from.size) as Float64Array;
    await deepCopy(values, from as View<"f64">, ...queues);
    return deepCopy(to as View<"f64">, values, ...queues);
  }
  for (const [part, origin] of pieces(to, from)) await transfer(part, origin, queues);
  for (const queue of queues) await queue.finish();
  // The view of a host array has bits where the array has values.
  if (!isView(target) && codingOf(to.type)) target.set(readView(to as View));
}

const isView = (value: unknown): value is AnyView => value instanceof View || value instanceof BlockedView;

/** Host data as a view of CPU memory, of type and shape of the other side. */
function hostView(data: ArrayLike<number>, { type, shape, size }: AnyView): View {
  requireData(type, shape, data);
  const view = new View(hostBuffer(size * BYTES[type]), type, shape, stridesOf(shape, "right"));
  if (isOf(type, data) && !codingOf(type)) return new View(bufferOf(data), type, shape, view.strides);
  if (size > 0) writeView(view, data);
  return view;
}

/** One number wherever the other side has an element. */
function repeated(value: number, { type, shape }: AnyView): View {
  requireData(type, [1], [value]);
  const one = new View(hostBuffer(BYTES[type]), type, [1], [1]);
  writeView(one, [value]);
  return new View(
    one.buffer,
    type,
    shape,
    shape.map(() => 0),
  );
}

function bufferOf({ buffer: host, byteOffset: address, byteLength: bytes }: TypedArray): Buffer {
  return { memory: CPU_MEMORY, host, address, bytes, free: () => {} };
}

/** The same over the very array, which is written. */
function hostTarget(array: TypedArray, like: AnyView): View {
  if (!isOf(like.type, array))
    throw new LaunchError(`deepCopy from ${like.type} [${like.shape}] to ${describe(array)}: give an array of ${like.type}`);
  return hostView(array, like);
}

const isOf = (type: ElementType, data: ArrayLike<number>): data is TypedArray => data.constructor === typedArray(type, 0).constructor;

/** Pairs of plain views that together have all elements, where the two sides have no blocks of different sizes. */
function pieces(target: AnyView, source: AnyView): [target: View, source: View][] {
  const block = blockOf(target) ?? blockOf(source);
  if (block === undefined) return [[target as View, source as View]];
  const whole = Math.floor(target.length / block);
  const last = target.length - whole * block;
  const pair = (first: number, count: number, width: number): [View, View] => [
    blocks(target, block, first, count, width),
    blocks(source, block, first, count, width),
  ];
  return [...(whole > 0 ? [pair(0, whole, block)] : []), ...(last > 0 ? [pair(whole, 1, last)] : [])];
}

const blockOf = (view: AnyView): number | undefined => (view instanceof BlockedView ? view.block : undefined);

/** `count` blocks from block `first` on, the first `width` elements of each, as [count][width] or [count][components][width]. */
function blocks(view: AnyView, block: number, first: number, count: number, width: number): View {
  if (view instanceof BlockedView) {
    const components = view.shape.slice(1).map((): undefined => undefined);
    return view.storage.slice([first, first + count], ...components, [0, width]);
  }
  const [stride, ...strides] = view.strides;
  const shape = [count, ...view.shape.slice(1), width];
  return new View(view.buffer, view.type, shape, [stride * block, ...strides, stride], view.offset + first * block * stride);
}

/** Copies between plain views. */
async function transfer(target: View, source: View, queues: readonly Queue[]): Promise<void> {
  const [reader, writer] = [queueOf(source, queues), queueOf(target, queues)];
  if (!reader && !writer) {
    noteWrite(target.buffer);
    return copyView(source, target);
  }
  const near = source.buffer.memory === target.buffer.memory;
  const peers = reader?.device.backend === writer?.device.backend && source.contiguous && target.contiguous;
  if (reader && (near || peers)) return reader.copy(source, target);
  const values = reader ? await reader.read(source) : readView(source);
  if (writer) writer.write(target, values);
  else {
    writeView(target, values);
    noteWrite(target.buffer);
  }
}

/** The queue of a view's memory; undefined if the CPU reaches it without one. */
function queueOf({ buffer, shape }: View, queues: readonly Queue[]): Queue | undefined {
  if (buffer.host) return undefined;
  const queue = queues.find(({ device }) => device.memory === buffer.memory);
  if (!queue)
    throw new LaunchError(`deepCopy of a view of shape [${shape}] in the memory of ${buffer.memory.name}: give a queue of that device`);
  return queue;
}
