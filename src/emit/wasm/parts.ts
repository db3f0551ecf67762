import type { BinaryFn, Expr, ScalarType, Stmt } from "../../ir/types.js";
import type { Gap } from "./encoder.js";
import type { KernelCode } from "./kernel-code.js";
import type { LoopTerms, Pointers } from "./linear-address.js";
import type { VectorVariable, Variance } from "./variance.js";

/*
 * Interfaces between the writers of a loop's code: inner-loop.ts has both scalar.ts and vector.ts, and each of these has writers of parts.
 */

/** The loop in which code stands. */
export interface Loop {
  /** Local of the loop variable's value; of the first lane's in a vectorised loop. */
  readonly index: number;
  readonly variable: VectorVariable;
  readonly pointers: Pointers;
  readonly terms: LoopTerms;
  /** Code before the loop. */
  readonly prologue: Gap;
  isVariable(e: Expr): boolean;
  /** Whether the statement is already before the loop. */
  isHoisted(stmt: Stmt): boolean;
  /** True for a value that is the same for all iterations and touches no memory. */
  isInvariant(e: Expr): boolean;
  /** True where the elements of a vector that a masked store leaves alone are nobody else's. */
  ownsLanes(array: string): boolean;
}

/** Code for one element. */
export interface ScalarParts {
  readonly code: KernelCode;
  readonly loop?: Loop;
  /** Leaves the value on the stack. */
  expr(e: Expr): void;
  /** The operation of the two values on the stack. */
  binary(name: BinaryFn, type: ScalarType): void;
  /** Leaves an address on the stack; what to add to it. */
  address(array: string, indices: readonly Expr[]): number;
  /** Adds coefficient * atom for each term to the address on the stack. */
  terms(terms: Record<string, number>): void;
}

/** Code for as many elements as a vector has. */
export interface VectorParts {
  readonly code: KernelCode;
  readonly loop: Loop;
  readonly scalar: ScalarParts;
  readonly variance: Variance;
  readonly width: 2 | 4;
  /** Lanes that are active; undefined if all are. */
  readonly mask: number | undefined;
  /** Which of several elements' vectors in an unrolled loop. */
  readonly copy: number;
  /** True where values of the type lie in the low half of the vector. */
  isNarrow(type: ScalarType): boolean;
  expr(e: Expr): void;
  blend(old: () => void, type: ScalarType): void;
  maskAs(type: ScalarType): void;
  isLanewise(e: Expr): boolean;
  lane(e: Expr, lane: number): void;
}
