import type { Apply, Bound, CallStatement, Expr, Stmt } from "../tree/index.js";
import { find, findProcedure, namedVariable, type UnitScope, type Variable } from "./symbols.js";
import { eachNode, eachStatement, namesInTree } from "./visit.js";
import { variableName } from "./walk.js";

/** Bounds, and where their names are known. */
interface Allocation {
  readonly bounds: readonly Bound[];
  readonly scope: UnitScope;
}
/** `allocate(a(0:n))`, `p(0:) => a`; or `p => a`, `allocate(b, source=a)` and `call s(a)`, which take the bounds of another array. */
type Origin = Allocation | { readonly like: Variable };

const OF_WORLD = new WeakMap<UnitScope["world"], Map<string, Origin[]>>();

/** Allocation that gives bounds to an array whose declaration leaves them open, as far as it was found; the first one if several differ. */
export function findAllocation(variable: Variable): Allocation | undefined {
  return originsOf(variable)[0];
}

/** Whether only a run tells where an array begins: its allocations differ, or use variables that `reader` does not see. */
export function beginsByRun(variable: Variable, reader: UnitScope): boolean {
  if (!isDeferred(variable.objects ?? variable)) return false;
  const allocation = findAllocation(variable);
  const isCallers = variable.dummy && !variable.component;
  return changesBounds(variable) || (allocation !== undefined && beginsLocally(allocation, isCallers ? undefined : reader));
}

/** Whether the bounds are as a statement of the program has made them. */
export const isDeferred = ({ dims, dummy, component, attributes }: Variable): boolean =>
  dims!.every(({ lower, upper }) => !lower && !upper) &&
  (!dummy || component !== undefined || attributes.has("allocatable") || attributes.has("pointer"));

/** Whether an array has different lower bounds in different places. */
const changesBounds = (variable: Variable): boolean => new Set(originsOf(variable).map(lowersOf)).size > 1;

const lowersOf = ({ bounds, scope }: Allocation): string =>
  bounds
    .map(({ lower }) => {
      if (!lower) return "1";
      if (lower.kind === "literal") return lower.text;
      const places = [...namesInTree(lower)].map((name) => placeOf(find(scope, name)?.scope ?? scope));
      return `${places.join()} ${JSON.stringify(lower, (key, value: unknown) => (key === "at" ? undefined : value))}`;
    })
    .join();

/** Whether variables of a routine tell where an array begins, which others do not know; `reader` is one of these. */
const beginsLocally = ({ bounds, scope }: Allocation, reader?: UnitScope): boolean =>
  bounds.some(({ lower }) =>
    [...namesInTree(lower)].some((name) => {
      const variable = find(scope, name);
      if (variable?.value || variable?.scope.unit.kind === "module") return false;
      return !variable || !reader || find(reader, name) !== variable;
    }),
  );

/** Whether an array begins where another one does: the one that is allocated, pointed to or given. Else at 1, or where its declaration says. */
export const keepsBounds = ({ attributes, dims }: Pick<Variable, "attributes" | "dims">): boolean =>
  (attributes.has("allocatable") || attributes.has("pointer")) && dims!.every(({ lower, upper }) => !lower && !upper);

function originsOf(variable: Variable, seen = new Set<Variable["at"]>()): Allocation[] {
  const { world } = variable.scope;
  const { objects, dims } = variable;
  if (objects) {
    const own = dims!.slice(0, dims!.length - objects.dims!.length);
    return originsOf(objects, seen).map(({ bounds, scope }) => ({ bounds: [...own, ...bounds], scope }));
  }
  if (variable.dummy && !variable.component && !keepsBounds(variable)) return [];
  if (!variable.dims?.every(({ lower, upper }) => !lower && !upper) || seen.has(variable.at)) return [];
  seen.add(variable.at);
  let known = OF_WORLD.get(world);
  if (!known) OF_WORLD.set(world, (known = origins(world)));
  return (known.get(keyOf(variable)) ?? []).flatMap((origin) => {
    if (!("like" in origin)) return [origin];
    const { like } = origin;
    return keepsBounds(like) ? originsOf(like, seen) : [{ bounds: like.dims!, scope: like.scope }];
  });
}

const keyOf = ({ component, scope, name }: Variable): string => component ?? `${placeOf(scope)} ${name}`;

/** Tells scopes apart: procedures of several modules, and programs, may have one name. */
const placeOf = (scope: UnitScope): number => scope.world.scopes.indexOf(scope);

/** The array that an expression is as a whole. */
function wholeArray(scope: UnitScope, e: Expr): Variable | undefined {
  const found = namedVariable(scope, e);
  return found?.dims && found;
}

function origins(world: UnitScope["world"]): Map<string, Origin[]> {
  const found = new Map<string, Origin[]>();
  const put = (variable: Variable, origin: Origin): void =>
    void found.set(keyOf(variable), [...(found.get(keyOf(variable)) ?? []), origin]);
  const keeping = new Set(world.scopes.filter((scope) => keptBy(scope).length > 0).map(({ unit }) => unit.name));
  for (const scope of world.scopes) {
    if (scope.unit.kind === "module") continue;
    const add = (target: Expr, origin: Origin | undefined): void => {
      const variable = origin && wholeArray(scope, target.kind === "apply" ? target.base : target);
      if (variable) put(variable, origin);
    };
    eachStatement(scope.unit.body, (stmt) => originIn(scope, stmt, add));
    if (keeping.size === 0) continue;
    eachNode(scope.unit.body, (node) => {
      if (node.kind !== "call" && node.kind !== "apply") return;
      const { args, ...called } = node as CallStatement | Apply;
      const name = called.kind === "call" ? called.procedure.name : called.base.name;
      const procedure = keeping.has(name) ? findProcedure(scope, name) : undefined;
      if (!procedure) return;
      for (const { dummy, place } of keptBy(procedure)) {
        const given = args.find((arg, n) => arg.kind === "value" && (arg.keyword === undefined ? n === place : arg.keyword === dummy.name));
        const like = given?.kind === "value" ? wholeArray(scope, given.value) : undefined;
        if (like) put(dummy, { like });
      }
    });
  }
  return found;
}

/** The dummy arguments of a procedure that begin where the arrays begin that are given. */
function keptBy({ unit, variables }: UnitScope): { dummy: Variable; place: number }[] {
  if (unit.kind !== "procedure") return [];
  return unit.dummies.flatMap((name, place) => {
    const dummy = variables.get(name);
    return dummy?.dims && keepsBounds(dummy) ? [{ dummy, place }] : [];
  });
}

function originIn(scope: UnitScope, stmt: Stmt, add: (target: Expr, origin: Origin | undefined) => void): void {
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
    else if (value.kind === "apply" && variableName(value) !== "null") {
      const axes = value.args.filter(({ kind }) => kind === "section");
      if (axes.length > 0) add(target, { bounds: axes.map(() => ({ assumed: true })), scope });
    } else add(target, like(value));
  }
}
