import { foldConstantsIn } from "./constant-folding.js";
import { printExpr } from "./kernel-text.js";
import type { DeclaredBounds, Expr, KernelIR } from "./types.js";
import { mapExpr } from "./walk.js";

/** How a message tells where an axis of an array ends, and that an index lies outside. */
interface AxisWords {
  /** Names of the axis and of its index, counted from 0, in the author's terms. */
  readonly axis: number;
  index(at: number): number;
  /** `has extent 4`, or `goes from 1 - ng to nx + ng (-1 to 12)`. */
  readonly extent: string;
  /** Whether the author has declared bounds. */
  readonly declared: boolean;
}

/** The bounds that the author of a view has declared for an axis, if any. */
export function declaredBounds({ params }: Pick<KernelIR, "params">, array: string, axis: number): DeclaredBounds | undefined {
  const param = params.find((p) => p.kind === "view" && p.name === array);
  return param?.kind === "view" ? param.bounds?.[axis] : undefined;
}

/**
 * Words for an axis of a view, an array or a table in messages.
 *
 * @param extent elements along it
 * @param known the value of a parameter or an extent of a view, where it is known
 */
export function axisWords(
  ir: Pick<KernelIR, "params">,
  array: string,
  axis: number,
  extent: number,
  known: (of: Expr) => number | undefined,
): AxisWords {
  const bounds = declaredBounds(ir, array, axis);
  const lower = bounds && valueOf(bounds.lower, known);
  if (!bounds || lower === undefined) return { axis, index: (at) => at, extent: `has extent ${extent}`, declared: false };
  const values = `${lower} to ${lower + extent - 1}`;
  const written = boundsText(bounds);
  const range = written === undefined || written === values ? values : `${written} (${values})`;
  return { axis: bounds.axis, index: (at) => at + lower, extent: `goes from ${range}`, declared: true };
}

/** The bounds as they are written: `1 - ng to nx + ng`; undefined if the author leaves the upper one to the extent. */
export const boundsText = ({ lower, upper }: DeclaredBounds): string | undefined => upper && `${printExpr(lower)} to ${printExpr(upper)}`;

/** The value of a bound; undefined if it depends on unknown values. */
function valueOf(e: Expr, known: (of: Expr) => number | undefined): number | undefined {
  const given = mapExpr(e, (node): Expr => {
    const value = node.op === "param" || node.op === "extent" ? known(node) : undefined;
    return value === undefined ? node : ({ op: "const", type: node.type, value } as Expr);
  });
  const { op, ...rest } = foldConstantsIn(given, []);
  return op === "const" && "value" in rest ? Number(rest.value) : undefined;
}
