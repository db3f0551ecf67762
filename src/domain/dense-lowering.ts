import { choose, compare, differs, indexOf, int, loadInt, localOf, plus, right, scalarOf, times } from "../ir/build.js";
import { literal } from "../ir/simplify.js";
import type { Expr, KernelIR, ReduceParam, ScalarType, Stmt } from "../ir/types.js";
import { placeCells } from "./cell-code.js";
import type { FieldUse } from "./container.js";
import { StorageKernel, type ContainerPlan, type FieldPlan, type StorageShape } from "./storage-kernel.js";

/** What a kernel over a dense box needs beside the container's own parameters. */
export type DenseRole = "mask" | "origin";

export interface DenseFieldPlan extends FieldPlan {
  readonly level: FieldUse["level"];
  /** Of the field's grid, in kernel order. */
  readonly padding: readonly number[];
  readonly outside: number;
}

export interface DensePlan extends ContainerPlan {
  readonly fields: ReadonlyMap<string, DenseFieldPlan>;
  /** Of the container's grid, in kernel order: (z, y, x) or (y, x). */
  readonly padding: readonly number[];
  /** Cells along x. */
  readonly width: number;
  /** Memory has no places for cells beyond the ends of rows: it holds others there. */
  readonly packed: boolean;
  /** Some cells are not active, and the body must not run for them. */
  readonly masked: boolean;
}

/**
 * A container over the cells of one member's box. The range's indices are those of storage: a cell's local coordinates plus the padding.
 * A field is indexed [z][y][x] for cardinality 1, else [k][z][y][x] (soa) or [z][y][x][k] (aos); `mask` is indexed like cardinality 1;
 * `origin` is the global coordinate of the first plane.
 */
export function lowerDense(container: KernelIR, plan: DensePlan): { ir: KernelIR; roles: ReadonlyMap<DenseRole, string> } {
  const kernel = new StorageKernel<DenseRole>(container);
  const { padding } = plan;
  const last = padding.length - 1;

  /** Storage index along a kernel axis of the cell at distance `d` from the own one, or from its first child, or from its parent. */
  const storageIndex = (axis: number, d: number, { level, padding: theirs }: Pick<DenseFieldPlan, "level" | "padding">): Expr => {
    const own = indexOf(axis);
    if (level === "own") return shifted(own, d);
    return level === "child"
      ? shifted(times(own, 2), theirs[axis] - 2 * padding[axis] + d)
      : shifted(right(shifted(own, -padding[axis]), 1), theirs[axis] + d);
  };
  const cellIndex = (offset: readonly number[], of: Pick<DenseFieldPlan, "level" | "padding">): Expr[] =>
    padding.map((_, axis) => storageIndex(axis, offset[last - axis], of));
  /** Whether the cell at distance `dx` along x is there; absent where memory has a place for it in any case. */
  const isInRow = (dx: number): Expr | undefined => {
    if (!plan.packed || dx === 0) return undefined;
    const x = shifted(indexOf(last), -padding[last]);
    return dx < 0 ? compare("ge", x, int(-dx)) : compare("lt", x, int(plan.width - dx));
  };
  const outsideOf = (name: string, type: ScalarType): Expr => {
    const { outside } = plan.fields.get(name)!;
    return literal(type, type === "f32" ? Math.fround(outside) : outside);
  };
  const isActive = (offset: readonly number[]): Expr => {
    const active = differs(loadInt(kernel.view("mask", "u8", padding.length), ...cellIndex(offset, { level: "own", padding })), int(0));
    const inRow = isInRow(offset[0]);
    return inRow ? { op: "logical", type: "bool", fn: "and", a: inRow, b: active } : active;
  };

  const body = placeCells(
    container,
    { fields: plan.fields, mask: plan.mask },
    {
      element: (name, offset, component) => {
        const field = plan.fields.get(name)!;
        const cell = cellIndex(offset, field);
        if (field.cardinality === 1) return cell;
        return field.layout === "soa" ? [component, ...cell] : [...cell, component];
      },
      read: (name, offset, load) => {
        const inRow = plan.fields.get(name)!.level === "own" ? isInRow(offset[0]) : undefined;
        return inRow ? choose(inRow, load, outsideOf(name, load.type)) : load;
      },
      // No branch, so that loops stay vectors; cells that share a place of the padding all put the same there.
      kept: (name, offset, value) => ({
        op: "select",
        type: value.type,
        cond: isActive(offset),
        a: value,
        b: outsideOf(name, value.type),
      }),
      active: isActive,
      coordinate: (n) => {
        const axis = last - n;
        const local = shifted(indexOf(axis), -padding[axis]);
        return axis === 0 ? plus(local, scalarOf(kernel.scalar("origin"), "i32")) : local;
      },
    },
  );
  const guarded = plan.masked ? guard(body, isActive(padding.map(() => 0)), container, (wish) => kernel.fresh(wish)) : body;
  const shape: StorageShape = {
    policy: { kind: "range", rank: padding.length },
    fieldRank: ({ cardinality }) => padding.length + (cardinality === 1 ? 0 : 1),
    cell: padding.map((_, axis) => indexOf(axis)),
  };
  return { ir: kernel.finish(guarded, plan, shape), roles: kernel.roles };
}

const shifted = (expr: Expr, d: number): Expr => (d === 0 ? expr : plus(expr, d));

/** The body for active cells only; others fold the identity into the reductions, which stand at its end. */
function guard(body: readonly Stmt[], active: Expr, { params, location }: KernelIR, fresh: (wish: string) => string): Stmt[] {
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
