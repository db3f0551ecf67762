import { fixedComponents, findTypeNamed, namedVariable, findProcedure, type UnitScope, type World } from "./symbols.js";
import { rewriteBodies } from "./rewrite-bodies.js";
import { mapStatements, namesInTree, rootOf, withParts } from "./visit.js";
import { writesOf } from "./writes.js";
import type { Apply, Assign, Associate, Designator, Expr, SourceFile, Stmt } from "../tree/index.js";
import { componentOfObject, withIndicesLast } from "./object-designators.js";

/*
 * Programs without arrays of objects and without assignments of whole objects: each component of an array of objects is an array, `p(i)%x` is
 * read as `p%x(i)`, and an assignment of an object assigns its components.
 */

/** The files with components in place of objects; the same files if they define no types. */
export const withComponents = (files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] =>
  rewriteBodies(
    files,
    kinds,
    ({ kind }) => kind === "type",
    (scope, body) => {
      const named = mapStatements(body, (stmt) => (stmt.kind === "associate" ? [withoutElements(scope, stmt)] : [stmt]));
      return mapStatements(designators(scope, named), (stmt) => (stmt.kind === "assign" ? assigned(scope, stmt) : [stmt]));
    },
  );

/** Every designator in a part of the tree with the indices of arrays of objects at its end. */
function designators<T>(scope: UnitScope, tree: T): T {
  if (Array.isArray(tree)) return tree.map((item) => designators<unknown>(scope, item)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const made = withIndicesLast(scope, tree as unknown as Expr) ?? aboutOneComponent(scope, tree as unknown as Expr);
  if (made && made.kind !== "apply") return made as T;
  const from = (made ?? tree) as object;
  return withParts(from, (part) => designators(scope, part)) as T;
}

const INQUIRIES: readonly string[] = ["size", "shape", "lbound", "ubound", "allocated"];

/** `size(p)` of an array of objects as `size(p%x)`; undefined of other expressions. */
function aboutOneComponent(scope: UnitScope, e: Expr): Expr | undefined {
  if (e.kind !== "apply" || e.base.kind !== "name" || !INQUIRIES.includes(e.base.name)) return undefined;
  const [first, ...others] = e.args;
  const array = first?.kind === "value" ? first.value : undefined;
  if (!array || namedVariable(scope, e.base) || findProcedure(scope, e.base.name)) return undefined;
  const known = findTypeNamed(scope, array);
  if (!known || axesOf(scope, withIndicesLast(scope, array) ?? array) === 0) return undefined;
  const one = fixedComponents(known.type, known.scope)?.find(({ derived, rank }) => derived === undefined && rank === 0);
  return one && { ...e, args: [{ kind: "value", value: componentOfObject(scope, array, one.name) }, ...others] };
}

/** The construct without names of elements of arrays of objects, in whose places these stand where their indices do not change. */
function withoutElements(scope: UnitScope, stmt: Associate): Associate {
  const written = writesOf(scope, stmt.body);
  return stmt.names.reduce((made, { name, value }) => {
    const object = value.kind === "apply" ? (withIndicesLast(scope, value) ?? value) : value;
    const variable = object.kind === "apply" ? namedVariable(scope, object.base) : undefined;
    if (!variable?.derived || [...namesInTree(value)].some((each) => written.has(each))) return made;
    const body = replaced(made.body, name, value);
    return { ...made, names: made.names.filter((each) => each.name !== name), body };
  }, stmt);
}

/** A part of the tree with an expression in place of a name. */
function replaced<T>(tree: T, name: string, by: Expr): T {
  if (Array.isArray(tree)) return tree.map((item) => replaced<unknown>(item, name, by)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const node = tree as { kind?: string; name?: string };
  if (node.kind === "name" && node.name === name) return by as T;
  return withParts(tree, (part) => replaced(part, name, by));
}

/** Assignments of the components, where whole objects are assigned whose components are numbers and arrays of constant size. */
function assigned(scope: UnitScope, stmt: Assign): Stmt[] {
  const { target, value, at } = stmt;
  const variable = namedVariable(scope, target.kind === "apply" ? target.base : target);
  if (variable?.derived === undefined || variable.derived === "dim3" || hasOwnAssignment(scope.world)) return [stmt];
  const parts = componentsAssigned(scope, target, value, variable.derived);
  if (!parts || namesRoot(target, value)) return [stmt];
  const { before, behind, label } = stmt;
  return parts.map((part, n) => ({
    kind: "assign",
    ...part,
    at,
    ...(n === 0 && { ...(before && { before }), ...(behind !== undefined && { behind }), ...(label !== undefined && { label }) }),
  }));
}

type Pair = Pick<Assign, "target" | "value">;

/** Each component with its value; undefined where that is not certain. */
function componentsAssigned(scope: UnitScope, target: Designator, value: Expr, type: string): Pair[] | undefined {
  const known = findTypeNamed(scope, target);
  const parts = known && fixedComponents(known.type, known.scope);
  if (!known || !parts) return undefined;
  const values = isConstructor(scope, value, type)
    ? given(value, parts)
    : findTypeNamed(scope, value)?.type === known.type
      ? "object"
      : undefined;
  if (!values) return undefined;
  const made: Pair[] = [];
  for (const [n, { name, derived, rank }] of parts.entries()) {
    const to = componentOfObject(scope, target, name) as Designator;
    const from = values === "object" ? componentOfObject(scope, value, name) : values[n];
    // An array of objects takes the arrays of one object in no single assignment.
    if (rank > 0 && axesOf(scope, to) !== rank && axesOf(scope, to) !== axesOf(scope, from)) return undefined;
    const inner = derived === undefined ? [{ target: to, value: from }] : componentsAssigned(scope, to, from, derived);
    if (!inner) return undefined;
    made.push(...inner);
  }
  return made;
}

/** `vec(1.0, 2.0)`, where `vec` is the type and nothing else. */
const isConstructor = (scope: UnitScope, e: Expr, type: string): e is Apply =>
  e.kind === "apply" && e.base.kind === "name" && e.base.name === type && !namedVariable(scope, e.base) && !findProcedure(scope, type);

/** The values that a constructor gives to all components; undefined if one has none. */
function given({ args }: Apply, parts: readonly { readonly name: string }[]): Expr[] | undefined {
  const values = parts.flatMap(({ name }, place) => {
    const arg = args.find((each, n) => each.kind === "value" && (each.keyword === undefined ? n === place : each.keyword === name));
    return arg?.kind === "value" ? [arg.value] : [];
  });
  return values.length === parts.length ? values : undefined;
}

/** Axes that a designator leaves open. */
function axesOf(scope: UnitScope, e: Expr): number {
  if (e.kind === "apply") return e.args.filter(({ kind }) => kind === "section").length;
  return e.kind === "name" || e.kind === "part" ? (namedVariable(scope, e)?.dims?.length ?? 0) : 0;
}

/** Whether a constructor reads components of the object that it is assigned to. */
const namesRoot = (target: Designator, value: Expr): boolean =>
  (value.kind === "apply" && value.base.kind === "name" && namesInTree(value.args).has(rootOf(target)!)) ||
  (rootOf(target) === rootOf(value) &&
    target.kind === "apply" &&
    value.kind === "apply" &&
    target.args.some(({ kind }) => kind === "section"));

/** Whether the program defines `assignment(=)`. */
const hasOwnAssignment = ({ scopes }: World): boolean =>
  scopes.some(({ unit }) => unit.declarations.some((d) => d.kind === "interface" && /^\s*interface\s+assignment\b/i.test(d.text[0] ?? "")));
