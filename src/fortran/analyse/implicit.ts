import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type { Declaration, Expr, Procedure, SourceFile, TypeSpec, Unit, VariableDeclaration } from "../tree/index.js";
import { mayChange } from "./initial.js";
import { find, findProcedure, readSymbols, type UnitScope, type World } from "./symbols.js";
import { eachStatement } from "./visit.js";
import { bindingsOf } from "./visible.js";
import { expressionsOf, visitExpr } from "./walk.js";

/* Variables whose names tell their types, as declarations. */

/** Types by first letters; undefined after `implicit none`, and where a rule could not be read. */
type Rules = ReadonlyMap<string, TypeSpec> | undefined;

/** The files with declarations of all variables that have none. */
export function withImplicit(files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] {
  const isOpen = (unit: Unit): boolean =>
    (!unit.implicitNone && !(unit.kind === "procedure" && unit.ofStatement)) || unit.procedures.some(isOpen);
  if (!files.some(({ units }) => units.some(isOpen))) return files;
  const world = readSymbols(files, kinds, new Problems());
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  return files.map((file) => ({ ...file, units: file.units.map((unit) => declared(unit, defaultRules(unit), new Set(), scopes)) }));
}

function defaultRules({ at }: Unit): Rules {
  const type = (letter: string): TypeSpec =>
    letter >= "i" && letter <= "n" ? { type: "integer", text: "integer", at } : { type: "real", text: "real", at };
  return new Map([..."abcdefghijklmnopqrstuvwxyz"].map((letter) => [letter, type(letter)]));
}

function rulesOf(unit: Unit, outer: Rules): Rules {
  if (unit.implicitNone) return undefined;
  const statements = unit.declarations.flatMap((d) => (d.kind === "other" && d.word === "implicit" ? [d] : []));
  if (statements.length === 0) return outer;
  const rules = new Map(outer ?? defaultRules(unit));
  for (const { implicit } of statements) {
    if (!implicit) return undefined;
    for (const { type, letters } of implicit) for (const letter of letters) rules.set(letter, type);
  }
  return rules;
}

/** `outer`: names that units around have got declarations of. */
function declared<T extends Unit>(unit: T, around: Rules, outer: ReadonlySet<string>, scopes: ReadonlyMap<string, UnitScope>): T {
  const rules = rulesOf(unit, around);
  const scope = scopes.get(unitKey(unit));
  const isStatement = unit.kind === "procedure" && unit.ofStatement;
  const names = scope && rules && !isStatement && knowsAll(scope) ? undeclared(scope, outer) : [];
  const lines = names.map((e): VariableDeclaration => ({
    kind: "variables",
    type: rules!.get(e.name[0]) ?? { type: "real", text: "real", at: e.at },
    attributes: [],
    names: [e],
    at: e.at,
  }));
  const inside = new Set([...outer, ...names.map(({ name }) => name)]);
  const procedures: Procedure[] = unit.procedures.map((inner) => declared(inner, rules, inside, scopes));
  if (lines.length === 0) return { ...unit, procedures };
  const { declarations } = unit;
  const from = declarations.findLastIndex((d) => d.kind === "other" && d.word === "implicit") + 1;
  return { ...unit, procedures, declarations: [...declarations.slice(0, from), ...lines, ...declarations.slice(from)] };
}

type Named = Extract<Expr, { kind: "name" }>;

/** Whether every module that may define a name is read. */
function knowsAll(scope: UnitScope, seen = new Set<UnitScope>()): boolean {
  if (seen.has(scope)) return true;
  seen.add(scope);
  const { unit, world, parent } = scope;
  if (unit.declarations.some((d) => d.kind === "other" && /^include\b/i.test(d.text))) return false;
  if (parent && !knowsAll(parent, seen)) return false;
  return unit.uses.every(({ module, only }) => {
    const found = world.modules.get(module);
    return found ? knowsAll(found, seen) : only !== undefined || INTRINSIC.test(module);
  });
}

const INTRINSIC = /^(iso_|ieee_|omp_lib|openacc)/;
/** Variables that CUDA Fortran has. */
const PREDEFINED: ReadonlySet<string> = new Set(["threadidx", "blockidx", "blockdim", "griddim", "warpsize"]);
const NO_VARIABLES: readonly string[] = ["external", "intrinsic", "procedure"];

/** Variables of a unit that are not declared, each once: arguments, results, and what a statement assigns. */
function undeclared(scope: UnitScope, outer: ReadonlySet<string>): Named[] {
  const { unit } = scope;
  const found = new Map<string, Named>();
  const add = (name: string, at: Named["at"]): void => {
    const own = find(scope, name)?.scope === scope;
    if (!own && !found.has(name)) found.set(name, { kind: "name", name, at });
  };
  for (const d of unit.declarations) {
    if (d.kind === "attributes" && !NO_VARIABLES.includes(d.attribute)) named(d, add);
    if (d.kind === "other") d.common?.forEach((block) => named(block, add));
  }
  if (unit.kind === "module") return [...found.values()];
  const isOthers = (name: string): boolean =>
    PREDEFINED.has(name) ||
    name.startsWith("acc_") ||
    outer.has(name) ||
    bindingsOf(scope, name).length > 0 ||
    findProcedure(scope, name) !== undefined;
  if (unit.kind === "procedure") {
    unit.dummies.forEach((name) => add(name, unit.at));
    if (unit.form === "function" && !unit.type) add(unit.result ?? unit.name, unit.at);
  }
  for (const [name, at] of usedIn(scope)) if (!isOthers(name)) add(name, at);
  const external = new Set(
    unit.declarations
      .flatMap((d) => (d.kind === "attributes" && NO_VARIABLES.includes(d.attribute) ? d.names : []))
      .map(({ name }) => name),
  );
  return [...found.values()].filter(({ name }) => !external.has(name));
}

function named(d: Pick<Extract<Declaration, { kind: "attributes" }>, "names">, add: (name: string, at: Named["at"]) => void): void {
  for (const { name, at } of d.names) add(name, at);
}

/** Names that statements assign, and the places where they first stand. */
function usedIn({ unit }: UnitScope): Map<string, Named["at"]> {
  const used = new Map<string, Named["at"]>();
  const others = new Set<string>();
  if (unit.kind === "module") return used;
  const use = (name: string, at: Named["at"]): void => void (used.has(name) || used.set(name, at));
  const look = (e: Expr): void =>
    visitExpr(e, (node) => {
      if (node.kind === "name") use(node.name, node.at);
      if (node.kind !== "apply") return true;
      for (const arg of node.args)
        for (const inner of arg.kind === "value" ? [arg.value] : [arg.lower, arg.upper, arg.step]) if (inner) look(inner);
      return false;
    });
  const turns = new Set<string>();
  eachStatement(unit.body, (s) => {
    if (s.kind === "do") use(s.variable, s.at);
    if (s.kind === "do-concurrent")
      for (const { variable } of s.axes) {
        use(variable, s.at);
        turns.add(variable);
      }
    if (s.kind === "associate") s.names.forEach(({ name }) => others.add(name));
    expressionsOf(s).forEach(look);
  });
  return new Map([...used].filter(([name]) => !others.has(name) && (turns.has(name) || mayChange(unit, name))));
}
