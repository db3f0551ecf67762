/* Scalars that iterations leave for what follows, as results of a kernel: the value, and how many iterations have assigned it. */

import { and, cast, compare, constant, int } from "../../ir/expressions.js";
import { identityOf } from "../../ir/identity.js";
import type { Expr, Location, NumberType, Stmt } from "../../ir/types.js";
import { mapStmts } from "../../ir/walk.js";
import type { Left } from "../analyse/left.js";
import { minus } from "./constants.js";
import type { ProcedureFrame, FortranLowering } from "./lowering.js";
import type { Outcome } from "./outcome.js";
import { memoryType, ONE, Unlowerable } from "./values.js";

/** A scalar of the element's own, and the local that tells whether the element has assigned it. */
interface Kept {
  readonly left: Left;
  /** The kernel's result. */
  readonly param: string;
  readonly local: Extract<Expr, { op: "local" }>;
  readonly isSet: Extract<Expr, { op: "local" }>;
}

/**
 * Declares what tells whether an element has assigned the scalars; they are the element's own by now. `params`: names of the results.
 *
 * @throws Unlowerable
 */
export function keepLeft(
  cx: FortranLowering,
  left: readonly Left[],
  params: readonly string[],
  { meanings }: ProcedureFrame,
  at: Location,
): Kept[] {
  return left.map((each, n): Kept => {
    const meaning = meanings.get(each.name);
    if (meaning?.kind !== "local") throw new Unlowerable(at, each.name, "iterations assign it, and it is not a variable", "use a variable");
    const { name } = cx.local(`${each.name}_is_set`, "bool", constant("bool", false));
    return {
      left: each,
      param: params[n],
      local: { op: "local", type: meaning.type, name: meaning.name },
      isSet: { op: "local", type: "bool", name },
    };
  });
}

/** The element's statements, with those that hand its scalars on; and what they become on the host. */
export function handOn(
  cx: FortranLowering,
  kept: readonly Kept[],
  body: readonly Stmt[],
  trips: readonly (Expr | undefined)[],
  location: Location,
): { readonly body: readonly Stmt[]; readonly outcomes: readonly Outcome[] } {
  if (kept.length === 0) return { body, outcomes: [] };
  const setBy = new Map(kept.map(({ local, isSet }) => [local.name, isSet.name]));
  const marked = mapStmts(body, {
    stmt: (stmt) => {
      const name = stmt.kind === "assign" ? setBy.get(stmt.name) : undefined;
      return name === undefined ? stmt : [stmt, { kind: "assign", name, value: constant("bool", true), location }];
    },
  });
  const isLast = trips.map((count, axis) => compare("eq", { op: "index", type: "i32", axis }, minus(count!, ONE)));
  const ends: Stmt[] = [];
  const outcomes = kept.map(({ left: { name, by }, param, local, isSet }): Outcome => {
    const held = memoryType(local.type);
    const assigned = cx.unique(`${name}_assigned`);
    const least = by === "single" ? cx.unique(`${name}_least`) : undefined;
    const value = local.type === "bool" ? cast("i32", local) : local;
    const cond = by === "last" ? [...isLast, isSet].reduce((a, b) => and(a, b)) : isSet;
    const then: Stmt[] = [];
    const fold = (target: string, type: NumberType, op: "max" | "min" | "sum", e: Expr): void => {
      cx.params.push({ kind: "reduce", name: target, type, op, identity: op === "sum" ? 0 : identityOf(op, type) });
      then.push({ kind: "reduce", target, value: e, location });
    };
    fold(param, held, "max", value);
    if (least !== undefined) fold(least, held, "min", value);
    fold(assigned, "i32", "sum", int(1));
    ends.push({ kind: "if", cond, then, else: [], location });
    return { param, name, type: local.type, assigned, ...(least !== undefined && { least }) };
  });
  return { body: [...marked, ...ends], outcomes };
}
