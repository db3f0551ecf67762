import { localOf } from "../../ir/by-name.js";
import { literal } from "../../ir/simplify.js";
import { FreshNames } from "../../ir/passes/copy.js";
import type { Expr, KernelIR, ReduceParam, Stmt } from "../../ir/types.js";
import { compare, index, int } from "../../ir/expressions.js";
import type { CellBox } from "../grid/region.js";

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
export function guardBox(ir: KernelIR, { bounds }: CellBox, extents: readonly number[]): KernelIR {
  const last = bounds.length - 1;
  const tests = bounds.flatMap(([first, end], n): Expr[] => [
    ...(first > 0 ? [compare("ge", index(last - n), int(first))] : []),
    ...(end < extents[n] ? [compare("lt", index(last - n), int(end))] : []),
  ]);
  if (tests.length === 0) return ir;
  const names = new FreshNames(ir);
  const isInside = tests.reduce((a, b): Expr => ({ op: "logical", type: "bool", fn: "and", a, b }));
  return { ...ir, body: guard(ir.body, isInside, ir, (wish) => names.fresh(wish)) };
}
