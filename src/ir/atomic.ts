import { unreachable } from "../base/unreachable.js";
import { wrap } from "./scalars.js";
import type { AtomicFn, AtomicType, KernelIR, Stmt } from "./types.js";
import { walkStmts } from "./walk.js";

type Atomic = Extract<Stmt, { kind: "atomic" }>;

/** Operations that give one result in any order, where nobody looks in between. */
const COMMUTES: Readonly<Record<AtomicFn, boolean>> = {
  add: true,
  min: true,
  max: true,
  and: true,
  or: true,
  xor: true,
  exchange: false,
  compareExchange: false,
  load: false,
};

/**
 * Why a kernel's results depend on the order of its elements, as the end of a sentence; undefined if they do not: each atomic array takes one operation that
 * commutes, and no old value is used.
 */
export function dependsOnOrder({ body }: Pick<KernelIR, "body">): { readonly array: string; readonly what: string } | undefined {
  const first = new Map<string, AtomicFn>();
  let found: Atomic | undefined;
  walkStmts(body, (stmt) => {
    if (stmt.kind !== "atomic" || found) return;
    const { target, fn, result } = stmt;
    if (!first.has(target)) first.set(target, fn);
    if (result !== undefined || !COMMUTES[fn] || first.get(target) !== fn) found = stmt;
  });
  return found && { array: found.target, what: `${found.fn} ${found.result === undefined ? "leaves" : "gives"}` };
}

/** Whether the code has atomic statements. */
export function hasAtomicArrays({ params }: Pick<KernelIR, "params">): boolean {
  return params.some((param) => param.kind === "view" && param.atomic);
}

/** A sentence for launches whose results may not depend on the order of elements. */
export const atomicProblem = ({ array, what }: { readonly array: string; readonly what: string }): string =>
  `${array} is atomic, and what ${what} depends on the order of elements`;
export const ATOMIC_REMEDY = "use fast mode, or a scatter and a second kernel";

/** The element after an atomic operation, by what it was and the operands: the value, after the expected one of an exchange that has one. */
export function changedBy(fn: AtomicFn, type: AtomicType, old: number, operands: readonly number[]): number {
  const [first, second] = operands;
  switch (fn) {
    case "add":
      return wrap(type, old + first!);
    case "min":
      return Math.min(old, first!);
    case "max":
      return Math.max(old, first!);
    case "and":
      return wrap(type, old & first!);
    case "or":
      return wrap(type, old | first!);
    case "xor":
      return wrap(type, old ^ first!);
    case "exchange":
      return first!;
    case "compareExchange":
      return old === first ? second! : old;
    case "load":
      return old;
    default:
      return unreachable(fn);
  }
}
