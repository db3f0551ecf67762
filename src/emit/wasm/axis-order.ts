import type { Expr } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";
import type { RangePolicy } from "../../ir/launch.js";
import { BYTES } from "../../ir/scalars.js";
import type { KernelCode } from "./kernel-code.js";

/**
 * In which order the axes of a range are nested, outermost first. The last axis is innermost, as it is contiguous in `right` layout,
 * unless more accesses are contiguous along another one and the result does not depend on the order of the elements.
 */
export function axisOrder(code: KernelCode, { extents }: RangePolicy): number[] {
  const axes = [...extents.keys()];
  const ordered = (code.ordered && code.reductions.length > 0) || Object.values(code.spec.scatter).includes("sorted");
  if (ordered || axes.length === 1) return axes;
  const contiguous = axes.map((axis) => contiguousAccesses(code, axis));
  const best = axes.findLast((axis) => contiguous[axis] === Math.max(...contiguous))!;
  if (best === axes.at(-1)) return axes;
  code.remarks.push(`innermost loop: axis ${best}, along which ${contiguous[best]} accesses are contiguous`);
  // The axes of `left` layout, which is the usual case, are best nested the other way round.
  return best === 0 ? axes.reverse() : [...axes.filter((axis) => axis !== best), best];
}

function contiguousAccesses(code: KernelCode, axis: number): number {
  let count = 0;
  const terms = { variable: `index:${axis}`, isFixed: () => true };
  const access = (array: string, indices: readonly Expr[]): void => {
    const { step, leaves } = code.linearAddress(array, indices, terms);
    if (step === BYTES[code.arrays.get(array)!.type] && leaves.length === 0) count++;
  };
  walkExprs(code.spec.ir.body, (e) => {
    if (e.op === "load") access(e.view, e.indices);
  });
  walkStmts(code.spec.ir.body, (stmt) => {
    if (stmt.kind === "store") access(stmt.view, stmt.indices);
  });
  return count;
}
