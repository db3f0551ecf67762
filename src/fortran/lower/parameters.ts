import type { Expr, ViewParam } from "../../ir/types.js";
import { someExpr } from "../../ir/walk.js";
import { beginsLocally, changesBounds, findAllocation } from "../analyse/allocations.js";
import type { Variable } from "../analyse/symbols.js";
import type { Expr as Tree } from "../tree/index.js";
import { declaredShape, viewArray, type ArrayValue } from "./arrays.js";
import type { FortranLowering } from "./lowering.js";
import { elementType, Unlowerable } from "./values.js";

/** An array of the program as a parameter of the kernel. */
export function arrayParameter(cx: FortranLowering, variable: Variable, wish: string, value: (bound: Tree) => Expr): ArrayValue {
  const name = cx.unique(wish);
  const { type } = variable;
  // The view tells the extents of what is allocated.
  const { attributes, dummy } = variable;
  const allocation = findAllocation(variable);
  if (changesBounds(variable))
    throw new Unlowerable(cx.location, wish, "its allocations have different lower bounds", "use the same lower bounds everywhere");
  const isCallers = dummy && !variable.component;
  if (allocation && beginsLocally(allocation, isCallers ? undefined : cx.scope)) {
    const why = isCallers
      ? "it takes its lower bounds from the caller's array"
      : "its lower bound depends on a variable of another routine";
    throw new Unlowerable(cx.location, wish, why, isCallers ? "give it bounds of its own" : "use a module variable for that bound");
  }
  if (attributes.has("pointer") && !dummy && !allocation)
    throw new Unlowerable(cx.location, `pointer :: ${wish}`, "no assignment of this pointer was found", "give the file with its `=>`");
  // Extents of an allocated array come with it; a component's own axes in front of them are constant.
  const own = variable.objects ? variable.dims!.length - variable.objects.dims!.length : 0;
  const dims = allocation?.bounds.map(({ lower, upper }, n) => ({ ...(lower && { lower }), ...(n < own && { upper }) })) ?? variable.dims!;
  if (dims.length > 7) throw new Unlowerable(variable.at, name, `it has ${dims.length} axes`, "arrays have 1 to 7");
  const param: ViewParam = { kind: "view", name, element: elementType(variable), rank: dims.length, disjoint: cx.written.has(wish) };
  cx.params.push(param);
  const shape = declaredShape(dims, value);
  Object.assign(param, boundsOf(shape));
  cx.sources.set(name, { name: wish, variable, extents: shape.map(({ extent }) => extent) });
  const extents = shape.map(({ extent }, axis): Expr => extent ?? { op: "extent", type: "i32", view: name, axis: dims.length - 1 - axis });
  return viewArray(param, type, { lowers: shape.map(({ lower }) => lower), extents });
}

/** The declared bounds, for messages; the view's axes are in reverse order. Without those that the program keeps in arrays. */
function boundsOf(shape: ReturnType<typeof declaredShape>): Pick<ViewParam, "bounds"> {
  const bounds = shape.map(({ lower, upper }, axis) => ({ axis: axis + 1, lower, ...(upper && { upper }) }));
  const reads = (e: Expr): boolean => someExpr(e, ({ op }) => !KNOWN.includes(op));
  return bounds.some(({ lower, upper }) => reads(lower) || (upper && reads(upper))) ? {} : { bounds: bounds.reverse() };
}

/** Operations whose values are known at the launch. */
const KNOWN: readonly Expr["op"][] = ["const", "param", "extent", "unary", "binary", "cast", "select", "compare"];
