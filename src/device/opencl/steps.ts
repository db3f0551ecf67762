import { unreachable } from "../../base/unreachable.js";
import type { KernelParam, ParamType } from "../../schedule/program.js";
import type { AnySlot } from "../../schedule/slots.js";
import { valueOf, type Fill, type GridShape, type StreamStep } from "../gpu/steps.js";
import { BYTES } from "../memory/view.js";
import type { BufferAddresses, BufferOffset } from "./addresses.js";
import type { OpenclHandle, Opencl } from "./api.js";

/** Bytes that a parameter takes at most: a pointer comes with an offset. */
export const parameterSize = (type: ParamType): number => (type === "pointer" ? 16 : 8);

/** A pointer is a buffer and an offset. */
const argumentsOf = ({ type }: KernelParam<AnySlot>): number => (type === "pointer" ? 2 : 1);

/** The bytes of a parameter that is passed by value. */
function packed(type: Exclude<ParamType, "pointer" | "shared">, given: number | bigint): ArrayBufferView {
  const value = Number(given);
  switch (type) {
    case "i64":
      return new BigInt64Array([BigInt(given)]);
    case "u64":
      return new BigUint64Array([BigInt(given)]);
    case "f64":
      return new Float64Array([value]);
    case "f32":
      return new Float32Array([value]);
    case "long":
      return new BigInt64Array([BigInt(given)]);
    case "i32":
      return new Int32Array([value]);
    case "u32":
      return new Uint32Array([value]);
    case "bool":
      return new Uint8Array([value]);
    default:
      return unreachable(type);
  }
}

/** A parameter, and what the kernel object has been given for it. */
interface Given {
  readonly param: KernelParam<AnySlot>;
  /** Number of its first argument. */
  readonly index: number;
  value?: number | bigint;
}

/** A kernel object that keeps the values of its parameters, so that enqueueing it is one call. */
export class OpenclKernelStep implements StreamStep {
  private readonly kernel: OpenclHandle;
  /** Addresses of the sizes below, as the call takes them. */
  private readonly sizes: readonly [global: bigint, local: bigint];
  /** Threads along each axis, and of a block: numbers of 64 bits, in halves. */
  private readonly threads = new Uint32Array(new ArrayBuffer(48));
  private freed = false;
  private readonly given: readonly Given[];

  constructor(
    private readonly cl: Opencl,
    private readonly addresses: BufferAddresses,
    program: OpenclHandle,
    name: string,
    params: readonly KernelParam<AnySlot>[],
    shape: GridShape,
    fill: Fill<AnySlot>,
  ) {
    this.kernel = cl.create("clCreateKernel", program, name);
    const first = BigInt(cl.koffi.address(this.threads.buffer));
    this.sizes = [first, first + 24n];
    let index = 0;
    this.given = params.map((param) => {
      const each = { param, index };
      index += argumentsOf(param);
      return each;
    });
    this.refill(shape, fill);
  }

  refill({ grid, block, shared = 0 }: GridShape, fill: Fill<AnySlot>): void {
    for (const each of this.given) this.give(each, each.param.type === "shared" ? Math.max(8, shared) : valueOf(fill, each.param.slot));
    for (let axis = 0; axis < 3; axis++) {
      this.setThreads(axis, grid[axis] * block[axis]);
      this.setThreads(3 + axis, block[axis]);
    }
  }

  private setThreads(place: number, count: number): void {
    this.threads[2 * place] = count % 2 ** 32;
    this.threads[2 * place + 1] = Math.floor(count / 2 ** 32);
  }

  setScalars(values: Readonly<Record<string, number | bigint | boolean>>): void {
    for (const each of this.given) {
      const { param } = each;
      if (param.type !== "shared" && param.slot.kind === "scalar")
        this.give(
          each,
          valueOf(() => values[param.slot.name!], param.slot),
        );
    }
  }

  /** Tells the driver, unless it knows: each argument is a call. */
  private give(to: Given, value: number | bigint): void {
    if (Object.is(to.value, value)) return;
    const { param, index } = to;
    const set = (at: number, bytes: number, data: ArrayBufferView | null) => this.cl.call("clSetKernelArg", this.kernel, at, bytes, data);
    if (param.type === "shared") set(index, Number(value), null);
    else if (param.type === "pointer") {
      const { memory, first } = this.addresses.find(Number(value));
      set(index, 8, new BigUint64Array([BigInt(memory)]));
      set(index + 1, 8, new BigInt64Array([BigInt(first / (param.element === "long" ? 8 : BYTES[param.element!]))]));
    } else {
      const data = packed(param.type, value);
      set(index, data.byteLength, data);
    }
    to.value = value;
  }

  enqueue(queue: OpenclHandle): void {
    this.cl.call("clEnqueueNDRangeKernel", queue, this.kernel, 3, null, this.sizes[0], this.sizes[1], 0, null, null);
  }

  free(): void {
    if (!this.freed) this.cl.status("clReleaseKernel", this.kernel);
    this.freed = true;
  }
}

/** Sets bytes of a buffer, four at a time where that is possible. */
export class OpenclFillStep implements StreamStep {
  private readonly pattern: Uint8Array;

  constructor(
    private readonly cl: Opencl,
    private readonly target: BufferOffset,
    value: number,
    private readonly bytes: number,
  ) {
    this.pattern = new Uint8Array(target.first % 4 === 0 && bytes % 4 === 0 ? 4 : 1).fill(value);
  }

  enqueue(queue: OpenclHandle): void {
    const { memory, first } = this.target;
    this.cl.call("clEnqueueFillBuffer", queue, memory, this.pattern, this.pattern.length, first, this.bytes, 0, null, null);
  }
}
