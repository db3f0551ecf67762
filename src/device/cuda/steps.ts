import { unreachable } from "../../base/unreachable.js";
import type { Entry as EntryCode, KernelParam, ValueParam, ValueType } from "../../schedule/program.js";
import type { AnySlot } from "../../schedule/slots.js";
import { valueOf, type Fill, type GridShape, type StreamStep } from "../gpu/steps.js";
import { putValue } from "../../ir/scalars.js";
import type { Handle } from "./calls.js";
import type { Driver } from "./driver.js";
import type { CudaCapture } from "./capture.js";

const SIZE: Record<ValueType, number> = { pointer: 8, f64: 8, i64: 8, u64: 8, long: 8, f32: 4, i32: 4, u32: 4, bool: 1 };

/** The GPU whose streams take steps. */
interface StepGpu {
  readonly driver: Driver;
  /** See `DriverApi.startsEarly`. */
  readonly startsEarly: boolean;
  readonly capture: CudaCapture | undefined;
}

/** Parameters as the driver takes them, and the place of each. */
interface Packed {
  readonly bytes: ArrayBuffer;
  readonly places: readonly { readonly slot: AnySlot; readonly type: ValueType; readonly offset: number }[];
}

/** The values of `params`: in order, each aligned to its size, and not a byte more. */
export function packParams<Slot extends AnySlot>(list: readonly KernelParam<Slot>[], fill: Fill<Slot>): Packed {
  const params = list.filter((param): param is ValueParam<Slot> => param.type !== "shared");
  let end = 0;
  const places = params.map(({ slot, type }) => {
    const offset = Math.ceil(end / SIZE[type]) * SIZE[type];
    end = offset + SIZE[type];
    return { slot, type, offset };
  });
  const packed = { bytes: new ArrayBuffer(end), places };
  writeAll(packed, fill as Fill<AnySlot>);
  return packed;
}

function writeAll({ bytes, places }: Packed, fill: Fill<AnySlot>): void {
  const data = new DataView(bytes);
  for (const { slot, type, offset } of places) write(data, offset, type, valueOf(fill, slot));
}

function write(data: DataView, offset: number, type: ValueType, value: number | bigint): void {
  switch (type) {
    case "pointer":
      return data.setBigUint64(offset, BigInt(value), true);
    case "long":
      return data.setBigInt64(offset, BigInt(value), true);
    case "f64":
    case "f32":
    case "i32":
    case "u32":
    case "i64":
    case "u64":
      return putValue(data, type, offset, value);
    case "bool":
      return data.setUint8(offset, value ? 1 : 0);
    default:
      return unreachable(type);
  }
}

const BUFFER_POINTER = 1n;
const BUFFER_SIZE = 2n;

const PROGRAMMATIC_STREAM_SERIALIZATION = 6;

/** CUlaunchConfig with one attribute: the kernel may start before the one before it in the stream has ended. */
class EarlyLaunch {
  private readonly config = new DataView(new ArrayBuffer(56));
  private readonly attribute = new DataView(new ArrayBuffer(72));

  constructor(
    private readonly driver: Driver,
    private readonly entry: Handle,
    { grid, block, shared = 0 }: GridShape,
  ) {
    [...grid, ...block, shared].forEach((value, n) => this.config.setUint32(4 * n, value, true));
    this.attribute.setUint32(0, PROGRAMMATIC_STREAM_SERIALIZATION, true);
    this.attribute.setInt32(8, 1, true);
    this.config.setBigUint64(40, BigInt(driver.koffi.address(this.attribute.buffer)), true);
    this.config.setUint32(48, 1, true);
  }

  enqueue(stream: Handle, extra: BigUint64Array): void {
    this.config.setBigUint64(32, BigInt(stream), true);
    this.driver.call("cuLaunchKernelEx", this.config.buffer, this.entry, null, extra);
  }
}

/** A kernel with its parameters packed once, so that enqueueing it is one call of the driver. */
export class KernelStep implements StreamStep {
  private readonly driver: Driver;
  private arguments: readonly unknown[];
  /** Made when a graph first asks for it; undefined where it must not start early. */
  private early: (() => EarlyLaunch) | undefined;
  /** The driver's list of what is passed, with addresses in the buffers below; small typed arrays would move with the collector. */
  private readonly extra = new BigUint64Array(new ArrayBuffer(40));
  private readonly kept: readonly ArrayBuffer[];

  constructor(
    private readonly gpu: StepGpu,
    private readonly code: EntryCode<AnySlot>,
    private readonly entry: Handle,
    shape: GridShape,
    private readonly params: Packed,
  ) {
    const { driver } = gpu;
    this.driver = driver;
    const size = new ArrayBuffer(8);
    new DataView(size).setBigUint64(0, BigInt(params.bytes.byteLength), true);
    this.kept = [params.bytes, size];
    const { address } = driver.koffi;
    this.extra.set([BUFFER_POINTER, address(params.bytes), BUFFER_SIZE, address(size), driver.api.endOfExtra]);
    [this.arguments, this.early] = this.over(shape);
  }

  private over(shape: GridShape): [KernelStep["arguments"], KernelStep["early"]] {
    const { driver, entry } = this;
    const { grid, block, shared = 0 } = shape;
    let made: EarlyLaunch | undefined;
    const early = this.code.waits && this.gpu.startsEarly ? () => (made ??= new EarlyLaunch(driver, entry, shape)) : undefined;
    return [[entry, ...grid, ...block, shared], early];
  }

  setScalars(values: Readonly<Record<string, number | bigint | boolean>>): void {
    const data = new DataView(this.params.bytes);
    for (const { slot, type, offset } of this.params.places)
      if (slot.kind === "scalar")
        write(
          data,
          offset,
          type,
          valueOf(() => values[slot.name!], slot),
        );
  }

  refill(shape: GridShape, fill: Fill<AnySlot>): void {
    writeAll(this.params, fill);
    [this.arguments, this.early] = this.over(shape);
  }

  /** In a graph, right after another kernel, it may start early. */
  enqueue(stream: Handle): void {
    const after = this.gpu.capture?.afterKernel;
    if (this.early && after?.has(stream)) return this.early().enqueue(stream, this.extra);
    after?.add(stream);
    this.driver.call("cuLaunchKernel", ...this.arguments, stream, null, this.extra);
  }
}

/** Sets bytes of device memory. */
export class FillStep implements StreamStep {
  constructor(
    private readonly gpu: StepGpu,
    private readonly target: Handle,
    private readonly value: number,
    private readonly bytes: number,
  ) {}

  enqueue(stream: Handle): void {
    this.gpu.capture?.afterKernel.delete(stream);
    this.gpu.driver.call("cuMemsetD8Async", this.target, this.value, this.bytes, stream);
  }
}
