import type { Entry as EntryCode, KernelParam, ParamType } from "../../emit/c/cuda/program.js";
import type { Driver, Handle } from "./driver.js";
import type { Entry } from "./gpu.js";

/** What a kernel's parameters are given, by key; see `KernelParam`. */
export type Values = Readonly<Record<string, number | boolean | undefined>>;

const SIZE: Record<ParamType, number> = { pointer: 8, f64: 8, i64: 8, f32: 4, i32: 4, u32: 4, bool: 1 };

/** The values of `params` as the driver takes them: in order, each aligned to its size, and not a byte more. */
export function packParams(params: readonly KernelParam[], values: Values): ArrayBuffer {
  const offsets: number[] = [];
  let end = 0;
  for (const { type } of params) {
    const offset = Math.ceil(end / SIZE[type]) * SIZE[type];
    offsets.push(offset);
    end = offset + SIZE[type];
  }
  const buffer = new ArrayBuffer(end);
  const data = new DataView(buffer);
  params.forEach(({ key, type }, n) => {
    const value = values[key];
    if (value === undefined) throw new Error(`no value for the kernel parameter "${key}"`);
    write(data, offsets[n], type, Number(value));
  });
  return buffer;
}

function write(data: DataView, offset: number, type: ParamType, value: number): void {
  switch (type) {
    case "pointer":
      return data.setBigUint64(offset, BigInt(value), true);
    case "i64":
      return data.setBigInt64(offset, BigInt(value), true);
    case "f64":
      return data.setFloat64(offset, value, true);
    case "f32":
      return data.setFloat32(offset, value, true);
    case "i32":
      return data.setInt32(offset, value, true);
    case "u32":
      return data.setUint32(offset, value, true);
    case "bool":
      return data.setUint8(offset, value ? 1 : 0);
  }
}

/** One piece of work for a stream. */
export interface Step {
  enqueue(stream: Handle): void;
}

export interface Shape {
  /** Blocks, along x, y and z. */
  grid: readonly [number, number, number];
  /** Threads of a block. */
  block: readonly [number, number, number];
  /** Dynamic shared memory in bytes. */
  shared?: number;
}

const END = 0n;
const BUFFER_POINTER = 1n;
const BUFFER_SIZE = 2n;

/** A kernel with its parameters packed once, so that enqueueing it is one call of the driver. */
export class KernelStep implements Step {
  private readonly arguments: readonly unknown[];
  /** The driver's list of what is passed, with addresses in the buffers below; small typed arrays would move with the collector. */
  private readonly extra = new BigUint64Array(new ArrayBuffer(40));
  private readonly kept: readonly ArrayBuffer[];

  constructor(
    private readonly driver: Driver,
    code: EntryCode,
    entry: Entry,
    { grid, block, shared = 0 }: Shape,
    values: Values,
  ) {
    const params = packParams(code.params, values);
    const size = new ArrayBuffer(8);
    new DataView(size).setBigUint64(0, BigInt(params.byteLength), true);
    this.kept = [params, size];
    const { address } = driver.koffi;
    this.extra.set([BUFFER_POINTER, address(params), BUFFER_SIZE, address(size), END]);
    this.arguments = [entry.handle, ...grid, ...block, shared];
  }

  enqueue(stream: Handle): void {
    this.driver.call("cuLaunchKernel", ...this.arguments, stream, null, this.extra);
  }
}

/** Sets bytes of device memory. */
export class FillStep implements Step {
  constructor(
    private readonly driver: Driver,
    private readonly target: Handle,
    private readonly value: number,
    private readonly bytes: number,
  ) {}

  enqueue(stream: Handle): void {
    this.driver.call("cuMemsetD8Async", this.target, this.value, this.bytes, stream);
  }
}

/** Blocks of `size` that cover `count`. */
export const blocks = (count: number, size: number): number => Math.ceil(count / size);
