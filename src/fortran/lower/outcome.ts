import type { ScalarType } from "../../ir/types.js";
import type { Variable } from "../analyse/symbols.js";
import type { ReductionOp } from "../tree/index.js";

/** A scalar that a kernel gives back. */
export interface Outcome {
  /** The kernel's parameter that gives it. */
  readonly param: string;
  /** The variable in the program. */
  readonly name: string;
  readonly type: ScalarType;
  /** Variable of the code around the kernel, where its name is not `name`. */
  readonly variable?: Variable;
  /** Operation that folds it with its previous value; undefined if it replaces that. */
  readonly op?: ReductionOp;
  /** The kernel's parameter that tells how many iterations have assigned it: where none has, it keeps its value. */
  readonly assigned?: string;
  /** Iterations may leave different values: the kernel's parameter that gives the least, where `param` is the greatest. */
  readonly least?: string;
}
