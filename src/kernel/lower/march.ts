import type * as acorn from "acorn";
import { int } from "../../ir/expressions.js";
import type { Lowering } from "./lowering.js";
import { inline } from "./inline.js";
import type { CellValue, Scope, LoweredValue } from "./values.js";

/**
 * A call of what the cell of a container offers: `c.march((cell) => ...)`. It is a loop over as many cells as a scalar parameter says, which
 * containers know by being the loop's end.
 */
export function cellMethod(cx: Lowering, cell: CellValue, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const location = cx.at(node);
  if (name !== "march")
    return cx.fail(
      node,
      `the cell has no method "${name}"`,
      `fields take offsets: write u.at(c, ${"dx, dy, dz".slice(0, 4 * cell.dimension - 2)}) for a neighbour's value`,
    );
  if (cx.marching) return cx.fail(node, "c.march inside of c.march", "march once, along one axis");
  if (cell.marches === undefined)
    return cx.fail(node, "c.march in a container without an axis to march along", 'declare one after the captures: { march: "y" }');
  const [argument, ...more] = node.arguments;
  const fn = argument && more.length === 0 ? cx.expression(argument, scope) : undefined;
  if (fn?.kind !== "function") return cx.fail(node, "c.march takes a function", "write c.march((cell) => ...)");
  const [cells, counter] = [cx.unique("cells"), cx.unique("step")];
  cx.ir.params.push({ kind: "scalar", name: cells, type: "i32" });
  cx.marching = true;
  const { stmts } = cx.collect(() =>
    inline(cx, fn, [{ kind: "cell", dimension: cell.dimension, at: { axis: cell.marches!, counter } }], argument),
  );
  cx.marching = false;
  cx.out.push({
    kind: "for",
    name: counter,
    start: int(0),
    stop: { op: "param", type: "i32", name: cells },
    step: 1,
    body: stmts,
    location,
  });
  return { kind: "void" };
}
