import type { Assign, Procedure, SourceFile, Stmt, TypeSpec, VariableDeclaration } from "../tree/index.js";
import { renamedVariables, uses } from "./blocks.js";
import { mayChange } from "./initial.js";
import { rewriteBodies } from "./rewrite-bodies.js";
import { find, type UnitScope, type World } from "./symbols.js";
import { eachNode, mapStatements, namesInTree, namesUnread } from "./visit.js";
import { writesOf } from "./writes.js";

/*
 * Dummy arguments that are bounds of arrays, and that their procedure assigns: the arrays keep the bounds that they had at first. The statements get a
 * variable of their own in place of the argument, which keeps its first value until the procedure ends.
 */

/** The files with such variables in the procedures that need them. */
export const withEntryValues = (files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] =>
  rewriteBodies(
    files,
    kinds,
    (node) => node.kind === "procedure" && candidates(node as Procedure).some((name) => mayChange(node as Procedure, name)),
    (scope, body) => {
      const { unit } = scope;
      if (unit.kind !== "procedure") return body;
      const written = writesOf(scope, body);
      return candidates(unit)
        .filter((name) => written.has(name) && isReplaceable(scope, name))
        .reduce((made, name) => replaced(scope, made, name), body);
    },
  );

/** Scalar arguments by reference or value that declarations of arrays name, in procedures of the host. */
function candidates({ attributes, dummies, declarations }: Procedure): string[] {
  if (attributes.some((each) => each !== "host")) return [];
  const named = new Set<string>();
  for (const d of declarations)
    if (d.kind === "variables") for (const name of namesInTree([d.dimension, d.names])) named.add(name);
    else if (d.kind === "attributes") for (const name of namesInTree(d)) named.add(name);
  return dummies.filter((name) => named.has(name));
}

function isReplaceable({ unit, variables }: UnitScope, name: string): boolean {
  const variable = variables.get(name);
  if (!variable || variable.dims || variable.derived !== undefined || variable.attributes.has("optional")) return false;
  if (unit.procedures.some((inner) => uses(inner, name) > 0)) return false;
  let isNamed = false;
  eachNode([unit.kind === "module" ? [] : unit.body], (node) => {
    isNamed ||= node.kind === "unsupported" && namesUnread(node as Extract<Stmt, { kind: "unsupported" }>).includes(name);
  });
  const isHeld = unit.declarations.some(
    (d) =>
      d.kind === "other" && d.directive?.clauses.some((clause) => clause.kind === "data" && clause.objects.some((e) => uses(e, name) > 0)),
  );
  return !isNamed && !isHeld && typeOf(unit as Procedure, name) !== undefined;
}

const typeOf = ({ declarations }: Procedure, name: string): TypeSpec | undefined =>
  declarations.flatMap((d) => (d.kind === "variables" && d.names.some((each) => each.name === name) ? [d.type] : []))[0];

function replaced(scope: UnitScope, body: readonly Stmt[], name: string): Stmt[] {
  const unit = scope.unit as Procedure;
  const { at } = unit;
  let own = `${name}_now`;
  for (let n = 2; find(scope, own) || uses(unit, own) > 0; n++) own = `${name}_now_${n}`;
  const assign = (target: string, value: string): Assign => ({
    kind: "assign",
    target: { kind: "name", name: target, at },
    value: { kind: "name", name: value, at },
    at,
  });
  const inside = renamedVariables(body, name, own) as Stmt[];
  const back = scope.variables.get(name)!.attributes.has("value") ? [] : [{ ...assign(name, own), isLast: true as const }];
  const statements = mapStatements(inside, (s) => (s.kind === "return" ? [...back, s] : [s]));
  const declaration: VariableDeclaration = { kind: "variables", type: typeOf(unit, name)!, attributes: [], names: [{ name: own, at }], at };
  return [{ kind: "block", declarations: [declaration], body: [assign(own, name), ...statements, ...back], at }];
}
