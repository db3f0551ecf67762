import type { Bound, Expr, Stmt } from "../tree/index.js";
import { variableOf, type Scope, type Variable } from "./symbols.js";
import { eachStatement } from "./visit.js";
import { nameOf } from "./walk.js";

/** Bounds, and where their names are known. */
export interface Allocation {
  readonly bounds: readonly Bound[];
  readonly scope: Scope;
}
/** `allocate(a(0:n))`, `p(0:) => a`; or `p => a` and `allocate(b, source=a)`, by which the bounds are those of another array. */
type Origin = Allocation | { readonly like: Variable };

const OF_WORLD = new WeakMap<Scope["world"], Map<string, Origin[]>>();

/** Where an array whose declaration leaves its bounds open gets them, as far as that is read; the first of those that do not agree. */
export function findAllocation(variable: Variable): Allocation | undefined {
  return originsOf(variable)[0];
}

/** Whether an array has different lower bounds in different places. */
export const changesBounds = (variable: Variable): boolean => new Set(originsOf(variable).map(lowersOf)).size > 1;

const lowersOf = ({ bounds, scope }: Allocation): string =>
  bounds
    .map(({ lower }) =>
      !lower ? "1" : lower.kind === "literal" ? lower.text : `${scope.unit.name} ${JSON.stringify({ ...lower, at: 0 })}`,
    )
    .join();

function originsOf(variable: Variable, seen = new Set<Variable["at"]>()): Allocation[] {
  const { world } = variable.scope;
  if (variable.dummy && !variable.component) return [];
  if (!variable.dims?.every(({ lower, upper }) => !lower && !upper) || seen.has(variable.at)) return [];
  seen.add(variable.at);
  let known = OF_WORLD.get(world);
  if (!known) OF_WORLD.set(world, (known = origins(world)));
  return (known.get(keyOf(variable)) ?? []).flatMap((origin) => {
    if (!("like" in origin)) return [origin];
    const { like } = origin;
    const isOpen = like.dims!.every(({ lower, upper }) => !lower && !upper) && !like.dummy;
    return isOpen ? originsOf(like, seen) : [{ bounds: like.dims!, scope: like.scope }];
  });
}

const keyOf = ({ component, scope, name }: Variable): string => component ?? `${scope.unit.name} ${name}`;

/** The array that an expression is as a whole. */
function wholeArray(scope: Scope, e: Expr): Variable | undefined {
  const found = variableOf(scope, e);
  return found?.dims && found;
}

function origins(world: Scope["world"]): Map<string, Origin[]> {
  const found = new Map<string, Origin[]>();
  for (const scope of world.scopes) {
    if (scope.unit.kind === "module") continue;
    const add = (target: Expr, origin: Origin | undefined): void => {
      const variable = origin && wholeArray(scope, target.kind === "apply" ? target.base : target);
      if (variable) found.set(keyOf(variable), [...(found.get(keyOf(variable)) ?? []), origin]);
    };
    eachStatement(scope.unit.body, (stmt) => originIn(scope, stmt, add));
  }
  return found;
}

function originIn(scope: Scope, stmt: Stmt, add: (target: Expr, origin: Origin | undefined) => void): void {
  const like = (e: Expr): Origin | undefined => {
    const variable = wholeArray(scope, e);
    return variable && { like: variable };
  };
  const bounds = (args: Extract<Expr, { kind: "apply" }>["args"]): Allocation => ({
    bounds: args.map((arg): Bound => {
      if (arg.kind === "value") return { upper: arg.value, assumed: false };
      return { ...(arg.lower && { lower: arg.lower }), ...(arg.upper && { upper: arg.upper }), assumed: !arg.upper };
    }),
    scope,
  });
  if (stmt.kind === "allocate") {
    const model = stmt.options.find(({ keyword }) => keyword === "source" || keyword === "mold")?.value;
    for (const { target } of stmt.arrays) add(target, target.kind === "apply" ? bounds(target.args) : model && like(model));
  } else if (stmt.kind === "pointer-assign") {
    const { target, value } = stmt;
    if (target.kind === "apply") add(target, bounds(target.args));
    // A section begins at 1.
    else if (value.kind === "apply" && nameOf(value) !== "null") {
      const axes = value.args.filter(({ kind }) => kind === "section");
      if (axes.length > 0) add(target, { bounds: axes.map(() => ({ assumed: true })), scope });
    } else add(target, like(value));
  }
}
