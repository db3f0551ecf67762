import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type { SourceFile, Stmt, Unit } from "../tree/index.js";
import { readSymbols, type UnitScope, type World } from "./symbols.js";
import { eachNode } from "./visit.js";

type Change = (scope: UnitScope, body: readonly Stmt[]) => readonly Stmt[];

/** The files with the body of each unit changed; the same files if nothing in them is `wanted`. */
export function rewriteBodies(
  files: readonly SourceFile[],
  kinds: World["kinds"],
  wanted: (node: { readonly kind: string }) => boolean,
  change: Change,
): readonly SourceFile[] {
  let found = false;
  eachNode(
    files.map(({ units }) => units),
    (node) => void (found ||= wanted(node)),
  );
  if (!found) return files;
  const world = readSymbols(files, kinds, new Problems());
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  return files.map((file) => ({ ...file, units: file.units.map((unit) => rewritten(unit, scopes, change)) }));
}

function rewritten<T extends Unit>(unit: T, scopes: ReadonlyMap<string, UnitScope>, change: Change): T {
  const procedures = unit.procedures.map((procedure) => rewritten(procedure, scopes, change));
  const scope = scopes.get(unitKey(unit));
  // The unit with its blocks' variables as its own.
  const from = (scope?.unit ?? unit) as T;
  return scope && "body" in from ? { ...from, procedures, body: change(scope, from.body) } : { ...from, procedures };
}
