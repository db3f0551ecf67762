import { KernelError } from "../kernel/errors.js";
import type { Expr, KernelIR, Location } from "./types.js";
import { walkExprs, walkStmts } from "./walk.js";

/** Refuses constant indices outside a private or scratch array or a table. Throws KernelError. */
export function checkBounds(ir: KernelIR): void {
  const shapes = new Map(ir.tables.map((table) => [table.name, table.shape]));
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "array") shapes.set(stmt.name, [stmt.length]);
  });
  const check = (name: string, indices: readonly Expr[], location: Location) =>
    indices.forEach((index, axis) => {
      const extent = shapes.get(name)![axis];
      if (index.op === "const" && !((index.value as number) >= 0 && (index.value as number) < extent))
        throw new KernelError(
          ir.name,
          location,
          `index ${index.value} of ${name}, which has ${extent} elements along axis ${axis}`,
          `use an index from 0 to ${extent - 1}`,
        );
    });
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "setElement") check(stmt.array, [stmt.index], stmt.location);
  });
  walkExprs(ir.body, (node, stmt) => {
    if (node.op === "element") check(node.array, [node.index], node.location ?? stmt.location);
    if (node.op === "table") check(node.table, node.indices, stmt.location);
  });
}
