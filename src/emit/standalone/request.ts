import type { AccessAnalysis } from "../../ir/access.js";
import type { Precision } from "../../ir/launch.js";
import type { KernelIR } from "../../ir/types.js";

/** A kernel that is to be written as source files of their own. */
export interface EmitRequest {
  readonly ir: KernelIR;
  readonly access: AccessAnalysis;
  readonly precision: Precision;
  /** Name of the files, without a suffix; an identifier in every language. */
  readonly stem: string;
  /** By view and axis: the stride is 1 and compiled in; all others are arguments of the launch function. */
  readonly unitStrides: Readonly<Record<string, readonly boolean[]>>;
}

/** A file to be written, by its name in the folder. */
export interface EmittedFile {
  readonly name: string;
  readonly text: string;
}

/** Views whose last index is contiguous, as dense arrays in C order are. */
export function contiguousRows(ir: KernelIR): EmitRequest["unitStrides"] {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  return Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)]));
}
