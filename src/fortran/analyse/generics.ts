import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type { ActualArgument, Expr, Procedure, SourceFile, Unit } from "../tree/index.js";
import { typeOfExpression, typeOfVariable, type ExpressionType } from "./expression-types.js";
import { find, findProcedure, readSymbols, specificsOf, type UnitScope, type World } from "./symbols.js";
import { eachNode, withParts } from "./visit.js";

/* Calls by generic names, with the procedure in the name's place that takes arguments of these types and ranks. Others stay, and are refused. */

/** The files without generic names, as far as the types of arguments are certain; the same files if they define none. */
export function withSpecifics(files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] {
  let definesNames = false;
  eachNode(
    files.map(({ units }) => units),
    (node) => void (definesNames ||= node.kind === "interface" && (node as { generic?: string }).generic !== undefined),
  );
  if (!definesNames) return files;
  const world = readSymbols(files, kinds, new Problems());
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  return files.map((file) => ({ ...file, units: file.units.map((unit) => rewritten(unit, scopes)) }));
}

function rewritten<T extends Unit>(unit: T, scopes: ReadonlyMap<string, UnitScope>): T {
  const procedures = unit.procedures.map((procedure) => rewritten(procedure, scopes));
  const scope = scopes.get(unitKey(unit));
  // The unit with its blocks' variables as its own.
  const from = (scope?.unit ?? unit) as T;
  return scope && "body" in from ? { ...from, procedures, body: resolved(scope, from.body) } : { ...from, procedures };
}

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
