import type { Entry as EntryCode, KernelParam, ParamType } from "../../emit/c/gpu/program.js";
import { valueOf, type Shape, type Step, type Values } from "../gpu/steps.js";
import type { Driver, Handle } from "./driver.js";

/** Types of what the driver takes; memory of a block is no parameter. */
type PackedType = Exclude<ParamType, "shared">;

const SIZE: Record<PackedType, number> = { pointer: 8, f64: 8, i64: 8, f32: 4, i32: 4, u32: 4, bool: 1 };

/** The values of `params` as the driver takes them: in order, each aligned to its size, and not a byte more. */
export function packParams(list: readonly KernelParam[], values: Values): ArrayBuffer {
  const params = list.filter((param): param is KernelParam & { type: PackedType } => param.type !== "shared");
  const offsets: number[] = [];
  let end = 0;
  for (const { type } of params) {
    const offset = Math.ceil(end / SIZE[type]) * SIZE[type];
    offsets.push(offset);
    end = offset + SIZE[type];
  }
  const buffer = new ArrayBuffer(end);
  const data = new DataView(buffer);
  params.forEach(({ key, type }, n) => write(data, offsets[n], type, valueOf(values, key)));
  return buffer;
}

function write(data: DataView, offset: number, type: PackedType, value: number): void {
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
    entry: Handle,
    { grid, block, shared = 0 }: Shape,
    values: Values,
  ) {
    const params = packParams(code.params, values);
    const size = new ArrayBuffer(8);
    new DataView(size).setBigUint64(0, BigInt(params.byteLength), true);
    this.kept = [params, size];
    const { address } = driver.koffi;
    this.extra.set([BUFFER_POINTER, address(params), BUFFER_SIZE, address(size), driver.api.endOfExtra]);
    this.arguments = [entry, ...grid, ...block, shared];
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
