import type { AccessAnalysis } from "../ir/access.js";
import type { KernelIR } from "../ir/types.js";
import type { Kernel } from "../kernel/kernel.js";
import type { Cost, Device, LaunchOptions, Precision, ScatterStrategy } from "./device.js";
import type { Policy } from "./policy.js";
import type { View } from "./view.js";

/** A launch with all its arguments checked; where every backend's `prepare` begins. */
export interface Binding {
  kernel: Kernel;
  ir: KernelIR;
  access: AccessAnalysis;
  policy: Policy;
  precision: Precision;
  /** Scalar parameters by name (fixed ones are in the code already). */
  scalars: Record<string, number | boolean>;
  /** View and scatter parameters by name. */
  views: Record<string, View>;
  /** Reduce parameters that were given a view for their result. */
  outputs: Record<string, View | undefined>;
  /** True where no written view shares memory with another argument: pointers may be `restrict`. */
  disjointMemory: boolean;
  /** The strategy that was asked for, `sorted` in strict mode; undefined leaves it to the backend. */
  scatter: Record<string, ScatterStrategy | undefined>;
  cost: Cost;
}

/** Checks names, types, ranks, extents, memory and overlap, and that every index known before the launch lies inside its view. Throws LaunchError. */
export declare function bind(
  device: Device, kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions,
): Binding;
