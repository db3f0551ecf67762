import type { KnownIntegers } from "../../ir/analysis/integer-ranges.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KernelIR } from "../../ir/types.js";
import type { CompiledKernel, CompileOptions } from "../../kernel/compile.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Cost, Device, LaunchOptions, PeerStore, Precision, ScatterStrategy } from "../device.js";
import type { View } from "../memory/view.js";
import type { Chosen } from "./chosen.js";
import type { Policy } from "./policy.js";

/** Arguments of `bind`. */
export interface BindArguments {
  readonly device: Device;
  readonly kernel: Kernel;
  readonly args: Readonly<Record<string, unknown>>;
  readonly policy: Policy;
  readonly options: LaunchOptions;
  readonly compile: CompileOptions;
}

/** Names of all options of a launch. */
export const OPTIONS: readonly (keyof LaunchOptions)[] = [
  "precision",
  "deterministic",
  "partials",
  "unfolded",
  "peerStores",
  "sweepBackward",
  "scatter",
  "checked",
  "tuning",
];

/** A kernel as a launch needs it. */
export interface CompiledCall {
  /** The code as written, in which indices are checked. */
  readonly strict: CompiledKernel;
  /** Code that the launch runs, as long as no argument is a blocked view. */
  readonly code: CompiledKernel;
}

/** A launch with all its arguments checked; where every backend's `prepare` begins. */
export interface Binding {
  kernel: Kernel;
  ir: KernelIR;
  access: AccessAnalysis;
  policy: Policy;
  precision: Precision;
  /** Folds come in the order of strict mode: in it, and where the launch is deterministic. */
  ordered: boolean;
  /** Scalar parameters by name (fixed ones are in the code already). */
  scalars: Record<string, number | bigint | boolean>;
  /** View and scatter parameters by name; of blocked views their storage, which `ir` indexes. */
  views: Record<string, View>;
  /** Reduce parameters that were given a view for their result, or for their partials. */
  outputs: Record<string, View | undefined>;
  /** Values that reductions start from, by reduce parameter: see `withInitialValues`. */
  initial: Readonly<Record<string, number | bigint>>;
  /** All outputs take partials, which nothing folds. */
  partials: boolean;
  /** Partials stay with the launch, where its device has `fold`. */
  unfolded: boolean;
  peerStores: readonly PeerStore[];
  /** True where no written view shares memory with another argument: pointers may be `restrict`. */
  disjointMemory: boolean;
  /** The strategy that was asked for, `sorted` where the order is fixed; undefined leaves it to the backend. */
  scatter: Record<string, ScatterStrategy | undefined>;
  /** Counted when it is first asked for. */
  cost: () => Cost;
  /** The same object for launches over the same views that differ in numbers and range alone; undefined where nobody remembers it. */
  place?: object;
  /** Sizes of its integers, found at first use. */
  sizes: () => KnownIntegers;
  /** Call from which it was bound. */
  call: BindArguments;
  tuning: Chosen;
}

/** Findings of the checks, the same for all launches like this one. */
export type Checked = Omit<Binding, "call" | "tuning">;
