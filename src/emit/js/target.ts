import type { ElementType, KernelIR } from "../../ir/types.js";
import type { Policy, ScatterStrategy } from "../../ir/launch.js";

/** Place of an array: byte address in the shared memory, or in `buffers[buffer]`. */
export interface Allocation {
  address: number;
  buffer?: number;
}

/** A view or scatter target. Strides count elements; the address belongs to the element that lies lowest in memory. */
export interface AllocatedView extends Allocation {
  element: ElementType;
  shape: readonly number[];
  strides: readonly number[];
}

/** One launch as the JavaScript emitter sees it: everything but the scalars' values is compiled into the code. */
export interface JsTarget {
  ir: KernelIR;
  /** With `anyRange`, of the range's axes alone. */
  policy: Policy;
  /**
   * Begins, extents, and addresses and numbers of partials are arguments, after the scalars and in this order: for ranges without tiles, in kernels
   * without scatter.
   */
  anyRange?: boolean;
  /** Threads that will take part. */
  workers: number;
  views: Record<string, AllocatedView>;
  /** f64 slots of the scalar parameters, in their order among the parameters. */
  scalars: Allocation;
  /** `partialCount` f64 slots for each reduce parameter. */
  partials: Record<string, Allocation>;
  scatter: Record<string, { strategy: ScatterStrategy; copies?: Allocation & { stride: number }; caches?: Allocation }>;
  /** Every index, integer operation and read of a local is checked; the code then throws. */
  checked?: boolean;
}
