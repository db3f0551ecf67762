import { localOf } from "../../ir/by-name.js";
import { literal } from "../../ir/simplify.js";
import { FreshNames } from "../../ir/passes/copy.js";
import type { Expr, KernelIR, ReduceParam, Stmt } from "../../ir/types.js";
import { add, binary, compare, index, int } from "../../ir/expressions.js";
import type { CellBox, Parity } from "../grid/region.js";

/** A body that runs only for cells with `active` true; others fold the identity into the reductions, which are at its end. */
export function guard(body: readonly Stmt[], active: Expr, { params, location }: KernelIR, fresh: (wish: string) => string): Stmt[] {
  const folds = body
    .filter((stmt) => stmt.kind === "reduce")
    .map((stmt) => {
      const { type, identity } = params.find((p): p is ReduceParam => p.kind === "reduce" && p.name === stmt.target)!;
      return { stmt, identity: literal(type, identity), value: localOf(fresh(`${stmt.target}_active`), type) };
    });
  const then: Stmt[] = [
    ...body.filter((stmt) => stmt.kind !== "reduce"),
    ...folds.map(({ stmt, value }): Stmt => ({ kind: "assign", name: value.name, value: stmt.value, location: stmt.location })),
  ];
  return [
    ...folds.map(({ value, identity, stmt }): Stmt => ({
      kind: "let",
      name: value.name,
      type: value.type,
      init: identity,
      location: stmt.location,
    })),
    { kind: "if", cond: active, then, else: [], location },
    ...folds.map(({ stmt, value }): Stmt => ({ ...stmt, value })),
  ];
}

/** The code of a container, still over all cells of a grid of such extents, that does nothing outside of a box. */
export function guardBox(ir: KernelIR, { bounds, parity }: CellBox, extents: readonly number[]): KernelIR {
  const last = bounds.length - 1;
  const tests = bounds.flatMap(([first, end], n): Expr[] => [
    ...(first > 0 ? [compare("ge", index(last - n), int(first))] : []),
    ...(end < extents[n] ? [compare("lt", index(last - n), int(end))] : []),
  ]);
  if (parity !== undefined) tests.push(isOf(parity, extents.length));
  if (tests.length === 0) return ir;
  return guardCells(
    ir,
    tests.reduce((a, b): Expr => ({ op: "logical", type: "bool", fn: "and", a, b })),
  );
}

/** The code of a container, over cells of as many axes, that does nothing in cells of the other parity. */
export const guardParity = (ir: KernelIR, parity: Parity, axes: number): KernelIR => guardCells(ir, isOf(parity, axes));

function isOf(parity: Parity, axes: number): Expr {
  const sum = Array.from({ length: axes }, (_, axis) => index(axis)).reduce((a, b) => add(a, b));
  return compare("eq", binary("and", sum, int(1)), int(parity));
}

function guardCells(ir: KernelIR, isInside: Expr): KernelIR {
  const names = new FreshNames(ir);
  return { ...ir, body: guard(ir.body, isInside, ir, (wish) => names.fresh(wish)) };
}
