/* Results of a kernel in C++: how they and the values from before the loop make the values after it. */

import type { Outcome } from "../../lower/outcome.js";
import type { ReductionOp } from "../../tree/index.js";

/** Folds a value with what a kernel gives, in which truth values are 0 or 1. */
const FOLDS: Readonly<Record<ReductionOp, (a: string, b: string) => string>> = {
  "+": (a, b) => `${a} + ${b}`,
  "*": (a, b) => `${a} * ${b}`,
  min: (a, b) => `f::min(${a}, ${b})`,
  max: (a, b) => `f::max(${a}, ${b})`,
  ".and.": (a, b) => `${a} && ${b}`,
  ".or.": (a, b) => `${a} || ${b}`,
  ".eqv.": (a, b) => `${a} == bool(${b})`,
  ".neqv.": (a, b) => `${a} != bool(${b})`,
  iand: (a, b) => `${a} & ${b}`,
  ior: (a, b) => `${a} | ${b}`,
  ieor: (a, b) => `${a} ^ ${b}`,
};

/** Lines that give the caller a result. `place` points to it, `part` names what the kernel has given for a parameter. */
export function resultLines(
  { param, name, op, assigned, least }: Outcome,
  place: string,
  part: (param: string) => string,
  at: string,
): string[] {
  const result = part(param);
  if (op) return [`*${place} = ${FOLDS[op](`*${place}`, result)};`];
  if (assigned === undefined) return [`*${place} = ${result};`];
  const times = part(assigned);
  const agreed = least === undefined ? [] : [`f::agreed(${times}, ${part(least)}, ${result}, "${at}: ${name}");`];
  return [...agreed, `if (${times} > 0) *${place} = ${result};`];
}
