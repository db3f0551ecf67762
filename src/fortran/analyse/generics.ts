import type { ActualArgument, Expr, Procedure, SourceFile } from "../tree/index.js";
import { typeOfExpression, typeOfVariable, type ExpressionType } from "./expression-types.js";
import { find, findProcedure, specificsOf, type UnitScope, type World } from "./symbols.js";
import { rewriteBodies } from "./rewrite-bodies.js";
import { withParts } from "./visit.js";

/* Calls by generic names, with the procedure in the name's place that takes arguments of these types and ranks. Others stay, and are refused. */

/** The files without generic names, as far as the types of arguments are certain; the same files if they define none. */
export const withSpecifics = (files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] =>
  rewriteBodies(
    files,
    kinds,
    (node) => node.kind === "interface" && (node as { generic?: string }).generic !== undefined,
    (scope, body) => resolved(scope, body),
  );

function resolved<T>(scope: UnitScope, tree: T): T {
  if (Array.isArray(tree)) return tree.map((item) => resolved<unknown>(scope, item)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const made = withParts(tree as unknown as Call | Expr, (part) => resolved(scope, part));
  if (made.kind === "call" && made.procedure?.kind === "name")
    return { ...made, procedure: specific(scope, made.procedure, made.args, "subroutine") } as T;
  if (made.kind === "apply" && made.base.kind === "name") return { ...made, base: specific(scope, made.base, made.args, "function") } as T;
  return made as T;
}

interface Call {
  readonly kind: "call";
  readonly procedure: Expr;
  readonly args: readonly ActualArgument[];
}

/** The name of the one procedure that fits; the name as it is if none does, or several do. */
function specific<N extends Extract<Expr, { kind: "name" }>>(
  scope: UnitScope,
  e: N,
  args: readonly ActualArgument[],
  form: Procedure["form"],
): N {
  const candidates = find(scope, e.name) ? [] : specificsOf(scope, e.name);
  if (candidates.length < 2) return e;
  const given = args.map((arg) => (arg.kind === "value" ? typeOfExpression(scope, arg.value) : undefined));
  if (given.some((type) => type === undefined)) return e;
  const fitting = candidates.filter((procedure) => fits(procedure, args, given as ExpressionType[], form));
  if (fitting.length !== 1) return e;
  const [{ unit, parent }] = fitting;
  if (findProcedure(scope, unit.name) === fitting[0]) return { ...e, name: unit.name };
  return parent?.unit.kind === "module" ? { ...e, name: `${parent.unit.name}::${unit.name}` } : e;
}

function fits(
  { unit, variables }: UnitScope,
  args: readonly ActualArgument[],
  given: readonly ExpressionType[],
  form: Procedure["form"],
): boolean {
  if (unit.kind !== "procedure" || unit.form !== form || args.length > unit.dummies.length) return false;
  const isElemental = unit.prefixes.includes("elemental");
  const taken = new Set<string>();
  const agree = args.every((arg, n) => {
    const name = (arg.kind === "value" ? arg.keyword : undefined) ?? unit.dummies[n];
    const dummy = variables.get(name);
    const wanted = dummy && typeOfVariable(dummy);
    taken.add(name);
    return wanted?.type === given[n].type && (isElemental || wanted.rank === given[n].rank);
  });
  return agree && unit.dummies.every((name) => taken.has(name) || variables.get(name)?.attributes.has("optional"));
}
