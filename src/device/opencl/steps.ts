import { unreachable } from "../../ir/unreachable.js";
import type { KernelParam, ParamType } from "../../emit/c/gpu/program.js";
import type { AnySlot } from "../../emit/slots.js";
import type { Shape, Step } from "../gpu/steps.js";
import { BYTES } from "../memory/view.js";
import type { Addresses, BufferOffset } from "./addresses.js";
import type { Handle, Opencl } from "./api.js";

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
export class KernelStep implements Step {
  private readonly kernel: Handle;
  /** Addresses of the sizes below, as the call takes them. */
  private readonly sizes: readonly [global: bigint, local: bigint];
  private readonly kept: readonly ArrayBuffer[];
  private freed = false;
  /** Numbers of the arguments that are scalars. */
  private readonly scalars: { readonly name: string; readonly index: number; readonly type: Exclude<ParamType, "pointer" | "shared"> }[] =
    [];

  constructor(
    private readonly cl: Opencl,
    addresses: Addresses,
    program: Handle,
    name: string,
    params: readonly KernelParam<AnySlot>[],
    { grid, block, shared = 0 }: Shape,
    values: readonly number[],
  ) {
    this.kernel = cl.create("clCreateKernel", program, name);
    let index = 0;
    const set = (bytes: number, value: ArrayBufferView | null) => cl.call("clSetKernelArg", this.kernel, index++, bytes, value);
    const give = (value: ArrayBufferView) => set(value.byteLength, value);
    for (const [n, param] of params.entries()) {
      if (param.type === "shared") {
        set(Math.max(8, shared), null);
        continue;
      }
      const { type, element } = param;
      const { kind, name } = param.slot;
      if (type !== "pointer") {
        if (kind === "scalar") this.scalars.push({ name: name!, index, type });
        give(packed(type, values[n]));
      } else {
        const { memory, first } = addresses.find(values[n]);
        give(new BigUint64Array([BigInt(memory)]));
        give(new BigInt64Array([BigInt(first / (element === "i64" ? 8 : BYTES[element!]))]));
      }
    }
    const sizes = [grid.map((count, axis) => count * block[axis]), block].map((list) => new BigUint64Array(list.map(BigInt)));
    this.kept = sizes.map(({ buffer }) => buffer);
    const [global, local] = this.kept.map((buffer) => BigInt(cl.koffi.address(buffer)));
    this.sizes = [global, local];
  }

  setScalars(values: Readonly<Record<string, number | boolean>>): void {
    for (const { name, index, type } of this.scalars) {
      const value = packed(type, Number(values[name]));
      this.cl.call("clSetKernelArg", this.kernel, index, value.byteLength, value);
    }
  }

  enqueue(queue: Handle): void {
    this.cl.call("clEnqueueNDRangeKernel", queue, this.kernel, 3, null, this.sizes[0], this.sizes[1], 0, null, null);
  }

  free(): void {
    if (!this.freed) this.cl.status("clReleaseKernel", this.kernel);
    this.freed = true;
  }
}

/** Sets bytes of a buffer, four at a time where that is possible. */
export class FillStep implements Step {
  private readonly pattern: Uint8Array;

  constructor(
    private readonly cl: Opencl,
    private readonly target: BufferOffset,
    value: number,
    private readonly bytes: number,
  ) {
    this.pattern = new Uint8Array(target.first % 4 === 0 && bytes % 4 === 0 ? 4 : 1).fill(value);
  }

  enqueue(queue: Handle): void {
    const { memory, first } = this.target;
    this.cl.call("clEnqueueFillBuffer", queue, memory, this.pattern, this.pattern.length, first, this.bytes, 0, null, null);
  }
}
