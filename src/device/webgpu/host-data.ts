import { isDouble } from "../../ir/scalars.js";
import { pair } from "../../emit/wgsl/body.js";
import type { ElementType } from "../../ir/types.js";
import { setStored, memoryArray, hostValues } from "../memory/memory-array.js";
import { BYTES, typedArray, type TypedArrayOf } from "../memory/view.js";
import type { Gpu } from "./gpu.js";

/** Host data as the device keeps it: a multiple of four bytes; f64 as pairs of f32 where it is emulated. */
export function toDevice({ emulates }: Gpu, type: ElementType, data: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  if (isDouble(type) && emulates) {
    const pairs = new Float32Array(2 * data.length);
    for (let n = 0; n < data.length; n++) [pairs[2 * n], pairs[2 * n + 1]] = pair(data[n]);
    return new Uint8Array(pairs.buffer);
  }
  const host = memoryArray(type, new ArrayBuffer(data.length * BYTES[type]), 0, data.length);
  setStored(type, host, data);
  const bytes = new Uint8Array(host.buffer as ArrayBuffer);
  if (bytes.length % 4 === 0) return bytes;
  const whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  whole.set(bytes);
  return whole;
}

/** The other way round. */
export function fromDevice<T extends ElementType>({ emulates }: Gpu, type: T, bytes: ArrayBuffer, count: number): TypedArrayOf<T> {
  if (!isDouble(type) || !emulates) return hostValues(type, memoryArray(type, bytes, 0, count));
  const pairs = new Float32Array(bytes, 0, 2 * count);
  const result: Float64Array = typedArray("f64", count);
  for (let n = 0; n < count; n++) result[n] = whole(pairs[2 * n], pairs[2 * n + 1]);
  return result as unknown as TypedArrayOf<T>;
}

/** The f64 of two f32; a second part of zero leaves the first as it is, with its sign. */
export const whole = (high: number, low: number): number => (low === 0 || !Number.isFinite(high) ? high : high + low);
