import { affineOf, coefficient, definitionsOf, isConstant, without } from "../../ir/analysis/affine.js";
import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { printExpr } from "../../ir/kernel-text.js";
import { mapBlocks, mapChildren, mapExpr, mapOwnExprs, walkExprs } from "../../ir/walk.js";
import type { Offset } from "../grid/parts.js";
import { cast } from "../../ir/expressions.js";

type Load = Extract<Expr, { op: "load" }>;

/** Storage of the parts of a grid that a container refers to, as expressions in the kernel. */
export interface CellCode {
  /** Indices of a component of a field in the cell at an offset [dx, dy, dz] from the own one; for fields of other grids, from its first fine cell or its coarse one. */
  element(field: string, offset: Offset, component: Expr): Expr[];
  /** The value of an access to a field; `load` reads its memory. If omitted: the load itself. */
  read?(field: string, offset: Offset, load: Load): Expr;
  /** Value in memory after a component of another cell was set to `value`: that value, or the fill value if the cell is not active. */
  kept?(field: string, offset: Offset, value: Expr): Expr;
  /** Whether the cell at the offset is active: bool. */
  active(offset: Offset): Expr;
  /** The own cell's global coordinate along x (0), y (1) or z (2): i32. */
  coordinate(axis: number): Expr;
}

/** The view parameters of a container that stand for cells; all others keep their accesses. */
interface CellParams {
  readonly fields: { has(param: string): boolean };
  readonly mask?: string;
}

/**
 * The body of a container over a grid's storage.
 * @param ir the container's code over (z, y, x) or (y, x), in which every field is one global array of cells
 */
export function substituteCells(ir: KernelIR, { fields, mask }: CellParams, code: CellCode): Stmt[] {
  const rank = cellAxes(ir);
  const offsetOf = offsetsIn(ir);
  const element = (view: string, indices: readonly Expr[]) => code.element(view, offsetOf(view, indices), substitute(indices[rank]));
  const substitute = (expr: Expr): Expr => {
    if (expr.op === "load" && fields.has(expr.view)) {
      const load: Load = { ...expr, indices: element(expr.view, expr.indices) };
      return code.read?.(expr.view, offsetOf(expr.view, expr.indices), load) ?? load;
    }
    if (expr.op === "load" && expr.view === mask) return cast("i32", code.active(offsetOf(expr.view, expr.indices)));
    return expr.op === "index" ? code.coordinate(rank - 1 - expr.axis) : mapChildren(expr, substitute);
  };
  const stored = (view: string, indices: readonly Expr[], value: Expr): Expr => {
    const offset = offsetOf(view, indices);
    if (offset.every((d) => d === 0)) return value;
    if (!code.kept) throw new Error(`container "${ir.name}" writes ${view} in another cell`);
    return code.kept(view, offset, value);
  };
  const substituteIn = (stmt: Stmt): Stmt =>
    stmt.kind === "store" && fields.has(stmt.view)
      ? { ...stmt, indices: element(stmt.view, stmt.indices), value: stored(stmt.view, stmt.indices, substitute(stmt.value)) }
      : mapBlocks(mapOwnExprs(stmt, substitute), (block) => block.map(substituteIn));
  return ir.body.map(substituteIn);
}

/** Distinct elements of fields that a container reads in cells at another x than its own. */
export function sidewaysReads(ir: KernelIR, fields: CellParams["fields"]): number {
  const offsetOf = offsetsIn(ir);
  const reads = new Set<string>();
  walkExprs(ir.body, (node) => {
    if (node.op !== "load" || !fields.has(node.view)) return;
    const offset = offsetOf(node.view, node.indices);
    if (offset[0] !== 0) reads.add([node.view, ...offset, ...node.indices.slice(cellAxes(ir)).map((index) => printExpr(index))].join());
  });
  return reads.size;
}

/** Number of axes of a container's cells. */
const cellAxes = (ir: KernelIR): number => (ir.policy.kind === "range" ? ir.policy.rank : 0);

/**
 * Reads the offset [dx, dy, dz] off the indices of an access to a field or the mask: from the own cell, or in fields of other grids from
 * its first fine cell or its coarse one.
 */
export function offsetsIn(ir: KernelIR): (view: string, indices: readonly Expr[]) => Offset {
  const definitions = definitionsOf(ir.body);
  return (view, indices) =>
    indices
      .slice(0, cellAxes(ir))
      .map((index, axis) => {
        const form = affineOf(mapExpr(index, halfAsWhole), definitions);
        const offset = form && without(form, `index:${axis}`);
        if (!offset || !isConstant(offset) || coefficient(form, `index:${axis}`) < 1)
          throw new Error(`container "${ir.name}" reaches ${view} at an offset that is not constant`);
        return offset.constant;
      })
      .reverse();
}

/** Parents are at index >> 1. */
const halfAsWhole = (expr: Expr): Expr => (expr.op === "binary" && expr.fn === "shr" && expr.a.op === "index" ? expr.a : expr);
