import { KernelError } from "../../base/errors.js";
import { arrayAccesses, outside, takenRange } from "./access.js";
import { isConstant } from "./affine.js";
import type { KernelIR } from "../types.js";
import { walkStmts } from "../walk.js";

/** Extents of the kernel's private and scratch arrays and of its tables, by name. */
export function arrayShapes(ir: KernelIR): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>(ir.tables.map((table) => [table.name, table.shape]));
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "array") shapes.set(stmt.name, [stmt.length]);
  });
  return shapes;
}

/**
 * Refuses indices outside a private or scratch array or a table that are known from the code alone: constants wherever they stand, and
 * what the counter of a loop with constant bounds reaches in every element. Throws KernelError.
 */
export function checkBounds(ir: KernelIR): void {
  const shapes = arrayShapes(ir);
  if (shapes.size === 0) return;
  for (const access of arrayAccesses(ir))
    shapes.get(access.view)!.forEach((extent, axis) => {
      const form = access.affine[axis];
      const taken = form && isConstant(form) ? ([form.constant, form.constant] as const) : takenRange(access, axis, () => undefined);
      const index = taken && outside(taken, extent);
      if (index === undefined) return;
      throw new KernelError(
        ir.name,
        access.location,
        `index ${index} of ${access.view}, which has ${extent} elements along axis ${axis}`,
        `use an index from 0 to ${extent - 1}`,
      );
    });
}
