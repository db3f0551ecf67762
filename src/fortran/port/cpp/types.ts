/* Loops of a port to C++, as its Fortran and its C++ know them. */

import type { ElementType, ScalarType } from "../../../ir/types.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import type { Expr } from "../../tree/index.js";

/** Parameter of a launch. */
export interface Parameter {
  /** In C++, and in the interface of Fortran. */
  readonly name: string;
  readonly type: ScalarType;
  readonly kind: "value" | "array" | "result";
  /** Whether the kernel writes the array; results are written. */
  readonly written: boolean;
  /** An integer of 64 bits, which has to fit in 32. */
  readonly wide?: true;
  /** A result whose variable has another kind than C's. */
  readonly held?: true;
  /** Value that the host passes, in Fortran. */
  readonly actual: Expr;
}

/** A parallel loop whose kernel is in C++. */
export interface CppLoop {
  /** The loop in the file. */
  readonly region: ParallelRegion;
  /** Name of the function that launches it. */
  readonly launch: string;
  readonly parameters: readonly Parameter[];
  readonly lines: readonly string[];
  /** Variables of the kernel's axes, outermost first. */
  readonly axes: readonly string[];
}

export const CPP_TYPES: Readonly<Record<ScalarType | ElementType, string>> = {
  f64: "double",
  f32: "float",
  i32: "int",
  u32: "unsigned int",
  i64: "long long",
  u64: "unsigned long long",
  u8: "unsigned char",
  i8: "signed char",
  u16: "unsigned short",
  i16: "short",
  f16: "unsigned short",
  bf16: "unsigned short",
  bool: "bool",
};
