import type { Expr, ViewParam } from "../../ir/types.js";
import { someExpr } from "../../ir/walk.js";
import { beginsByRun, findAllocation, isDeferred } from "../analyse/allocations.js";
import { ownerOf, type UnitScope, type Variable } from "../analyse/symbols.js";
import { mapStatements, namesInTree } from "../analyse/visit.js";
import { writesOf } from "../analyse/writes.js";
import type { Expr as Tree } from "../tree/index.js";
import { declaredShape, viewArray, type ArrayValue } from "./arrays.js";
import type { FortranLowering } from "./lowering.js";
import { elementType, Unlowerable } from "./values.js";

/** An array of the program as a parameter of the kernel. */
export function arrayParameter(cx: FortranLowering, variable: Variable, wish: string, value: (bound: Tree) => Expr): ArrayValue {
  const name = cx.unique(wish);
  const { type } = variable;
  if (cx.asksBounds && variable.objects)
    throw new Unlowerable(
      cx.location,
      `${variable.objects.name}%${variable.name.slice(variable.objects.name.length + 1)}`,
      "the objects of the array lie between its elements, and ports to C++ need them side by side",
      "make each component an array",
    );
  // The view tells the extents of what is allocated.
  const isAsked = cx.asksBounds ? isDeferred(variable) || boundsChange(variable) : beginsByRun(variable, cx.scope);
  const allocation = isAsked ? undefined : findAllocation(variable);
  if (!isAsked) refuseBounds(cx, variable, wish);
  // Extents of an allocated array come with it; a component's own axes in front of them are constant.
  const own = variable.objects ? variable.dims!.length - variable.objects.dims!.length : 0;
  const dims = allocation?.bounds.map(({ lower, upper }, n) => ({ ...(lower && { lower }), ...(n < own && { upper }) })) ?? variable.dims!;
  if (dims.length > 7) throw new Unlowerable(variable.at, name, `it has ${dims.length} axes`, "arrays have 1 to 7");
  const param: ViewParam = { kind: "view", name, element: elementType(variable), rank: dims.length, disjoint: cx.written.has(wish) };
  cx.params.push(param);
  const shape: ReturnType<typeof declaredShape> = isAsked
    ? dims.map((_, axis) => ({ lower: askedLower(cx, variable, wish, axis) }))
    : declaredShape(dims, value);
  Object.assign(param, boundsOf(shape));
  cx.sources.set(name, { name: wish, variable, extents: shape.map(({ extent }) => extent) });
  const extents = shape.map(({ extent }, axis): Expr => extent ?? { op: "extent", type: "i32", view: name, axis: dims.length - 1 - axis });
  return viewArray(param, type, { lowers: shape.map(({ lower }) => lower), extents });
}

/** @throws Unlowerable if the bounds are not known where the kernel is launched */
function refuseBounds(cx: FortranLowering, variable: Variable, wish: string): void {
  const { attributes, dummy } = variable;
  const refuse = (why: string, remedy: string): never => {
    throw new Unlowerable(cx.location, wish, why, remedy);
  };
  if (boundsChange(variable))
    refuse(
      "its bounds are as its procedure began, and it is not known which values variables of them had then",
      "copy these variables, and assign the copies",
    );
  const allocation = findAllocation(variable);
  if (attributes.has("pointer") && !dummy && !allocation)
    throw new Unlowerable(cx.location, `pointer :: ${wish}`, "no assignment of this pointer was found", "give the file with its `=>`");
}

const ASSIGNED = new WeakMap<UnitScope, ReadonlySet<string>>();

/** Whether the procedure that declares an array assigns a variable of its bounds: they are as they were at the procedure's beginning. */
function boundsChange(variable: Variable): boolean {
  const names = [...namesInTree(variable.dims)];
  const owner = ownerOf(variable);
  if (names.length === 0 || owner.unit.kind === "module") return false;
  const written =
    ASSIGNED.get(owner) ??
    writesOf(
      owner,
      mapStatements(owner.unit.body, (s) => (s.kind === "assign" && s.isLast ? [] : [s])),
    );
  ASSIGNED.set(owner, written);
  // Bounds that depend on the array itself are refused where they are read.
  return names.some((name) => name !== variable.name && written.has(name));
}

function askedLower(cx: FortranLowering, variable: Variable, wish: string, axis: number): Expr {
  const name = cx.unique(`${wish}_lower${axis + 1}`);
  cx.params.push({ kind: "scalar", name, type: "i32" });
  cx.sources.set(name, { name: wish, variable, lower: axis });
  return { op: "param", type: "i32", name };
}

/** The declared bounds, for messages; the view's axes are in reverse order. Without those that the program keeps in arrays. */
function boundsOf(shape: ReturnType<typeof declaredShape>): Pick<ViewParam, "bounds"> {
  const bounds = shape.map(({ lower, upper }, axis) => ({ axis: axis + 1, lower, ...(upper && { upper }) }));
  const reads = (e: Expr): boolean => someExpr(e, ({ op }) => !KNOWN.includes(op));
  return bounds.some(({ lower, upper }) => reads(lower) || (upper && reads(upper))) ? {} : { bounds: bounds.reverse() };
}

/** Operations whose values are known at the launch. */
const KNOWN: readonly Expr["op"][] = ["const", "param", "extent", "unary", "binary", "cast", "select", "compare"];
