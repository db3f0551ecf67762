import { unreachable } from "../../base/unreachable.js";
import type { KernelParam, ParamType } from "../../schedule/program.js";
import type { AnySlot } from "../../schedule/slots.js";
import { valueOf, type Fill, type GridShape, type StreamStep } from "../gpu/steps.js";
import { BYTES } from "../memory/view.js";
import type { BufferAddresses, BufferOffset } from "./addresses.js";
import type { OpenclHandle, Opencl } from "./api.js";

/** Bytes that a parameter takes at most: a pointer comes with an offset. */
export const parameterSize = (type: ParamType): number => (type === "pointer" ? 16 : 8);

/** The bytes of a parameter that is passed by value. */
function packed(type: Exclude<ParamType, "pointer" | "shared">, value: number): ArrayBufferView {
  switch (type) {
    case "f64":
      return new Float64Array([value]);
    case "f32":
      return new Float32Array([value]);
    case "i64":
      return new BigInt64Array([BigInt(value)]);
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

/** A kernel object with its parameters set once, so that enqueueing it is one call. */
export class OpenclKernelStep implements StreamStep {
  private readonly kernel: OpenclHandle;
  /** Addresses of the sizes below, as the call takes them. */
  private readonly sizes: readonly [global: bigint, local: bigint];
  /** Threads along each axis, and of a block. */
  private readonly threads = new BigUint64Array(new ArrayBuffer(48));
  private freed = false;
  /** Numbers of the arguments that are scalars. */
  private readonly scalars: { readonly name: string; readonly index: number; readonly type: Exclude<ParamType, "pointer" | "shared"> }[] =
    [];

  constructor(
    private readonly cl: Opencl,
    private readonly addresses: BufferAddresses,
    program: OpenclHandle,
    name: string,
    private readonly params: readonly KernelParam<AnySlot>[],
    shape: GridShape,
    fill: Fill<AnySlot>,
  ) {
    this.kernel = cl.create("clCreateKernel", program, name);
    const first = BigInt(cl.koffi.address(this.threads.buffer));
    this.sizes = [first, first + 24n];
    this.refill(shape, fill);
    let index = 0;
    for (const param of params) {
      if (param.type !== "shared" && param.type !== "pointer" && param.slot.kind === "scalar")
        this.scalars.push({ name: param.slot.name!, index, type: param.type });
      index += param.type === "pointer" ? 2 : 1;
    }
  }

  refill({ grid, block, shared = 0 }: GridShape, fill: Fill<AnySlot>): void {
    let index = 0;
    const set = (bytes: number, value: ArrayBufferView | null) => this.cl.call("clSetKernelArg", this.kernel, index++, bytes, value);
    const give = (value: ArrayBufferView) => set(value.byteLength, value);
    for (const param of this.params) {
      if (param.type === "shared") {
        set(Math.max(8, shared), null);
        continue;
      }
      const value = valueOf(fill, param.slot);
      if (param.type !== "pointer") give(packed(param.type, value));
      else {
        const { memory, first } = this.addresses.find(value);
        give(new BigUint64Array([BigInt(memory)]));
        give(new BigInt64Array([BigInt(first / (param.element === "i64" ? 8 : BYTES[param.element!]))]));
      }
    }
    this.threads.set([...grid.map((count, axis) => count * block[axis]), ...block].map(BigInt));
  }

  setScalars(values: Readonly<Record<string, number | boolean>>): void {
    for (const { name, index, type } of this.scalars) {
      const value = packed(type, Number(values[name]));
      this.cl.call("clSetKernelArg", this.kernel, index, value.byteLength, value);
    }
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
