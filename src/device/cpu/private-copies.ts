import { identityOf } from "../../ir/identity.js";
import { isWide } from "../../ir/scalars.js";
import type { ScatterParam } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import { BYTES, typedArray } from "../memory/view.js";
import { addressOf, hostArray, spanOf } from "./host-view.js";
import { foldOf, type FoldedValue, type PartialValues } from "./partials.js";
import type { Allocator, CpuBuffer } from "./storage.js";

/**
 * The private copies of one scatter target: worker 0 works on the target itself, worker w > 0 on a copy of its own with the target's
 * strides, so that only the base address differs. Between launches the copies hold the operation's identity.
 */
export class PrivateCopies {
  readonly buffer: CpuBuffer;
  /** Bytes from one copy to the next. */
  readonly stride: number;
  private readonly span: number;

  constructor(
    private readonly param: ScatterParam,
    private readonly target: Binding["views"][string],
    readonly workers: number,
    allocate: Allocator,
  ) {
    this.span = spanOf(target);
    // An odd number of lines apart, so that the copies' equal elements do not share cache sets.
    this.stride = (Math.ceil((this.span * BYTES[param.element]) / 128) * 2 + 1) * 64;
    this.buffer = allocate(this.stride * (workers - 1));
    const identity = identityOf(param.op, param.element) as FoldedValue;
    if (identity !== 0 && identity !== 0n) for (let worker = 1; worker < workers; worker++) this.copy(worker).fill(identity);
  }

  /** Byte address of the copy of worker 1 or later, in the buffer's host; for worker 0 the target's own. */
  address(worker: number): number {
    return worker === 0 ? addressOf(this.target) : this.buffer.address + (worker - 1) * this.stride;
  }

  /** Adds the copies to the target, copy by copy, and resets them. Places that no worker added to are left as they are. */
  fold(): void {
    const { op, element } = this.param;
    const target = hostArray(this.target) as PartialValues;
    const identity = identityOf(op, element) as FoldedValue;
    const fold = foldOf(op, element);
    for (let worker = 1; worker < this.workers; worker++) {
      const copy = this.copy(worker);
      if (op === "sum" && !isWide(element)) {
        const sums = target as Record<number, number>;
        for (let n = 0; n < copy.length; n++) if (copy[n] !== 0) sums[n] += copy[n] as number;
      } else for (let n = 0; n < copy.length; n++) if (copy[n] !== identity) target[n] = fold(target[n], copy[n]);
      copy.fill(identity);
    }
  }

  free(): void {
    this.buffer.free();
  }

  private copy(worker: number): PartialValues & { readonly length: number; fill(value: FoldedValue): unknown } {
    return typedArray(this.param.element, this.buffer.host, this.address(worker), this.span) as ReturnType<PrivateCopies["copy"]>;
  }
}
