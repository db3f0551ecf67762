/*
 * Variables that keep the values from before a construct, though statements in it assign them. Ports leave the construct's directive out, so that the
 * statements would assign the variables of the routine: they are saved before it and restored after it.
 */

import type { ScalarType } from "../../ir/types.js";
import { isReadBehind } from "../analyse/behind.js";
import { ownOf } from "../analyse/own.js";
import type { ParallelRegion } from "../analyse/regions.js";
import { find, findNamed, ownerOf, type UnitScope, type Variable } from "../analyse/symbols.js";
import { bodiesOf, namesInTree } from "../analyse/visit.js";
import type { Problems } from "../errors.js";
import type { Bound, Directive, Expr, Stmt, TypeSpec, VariableDeclaration } from "../tree/index.js";
import { sourceKey } from "../tree/keys.js";

/** Names of such variables, by the place of the construct. */
export type KeptNames = ReadonlyMap<string, readonly string[]>;

/**
 * Variables of one unit that keep their values.
 *
 * @param isSerial whether parallel loops become serial ones, which assign the variables of the routine
 */
export function keptIn(scope: UnitScope, regions: readonly ParallelRegion[], isSerial: boolean): KeptNames {
  const found = new Map<string, readonly string[]>();
  if (scope.unit.kind === "module") return found;
  const byStatement = new Map(regions.flatMap((region) => (region.stmt ? [[region.stmt, region] as const] : [])));
  const add = ({ at }: Stmt, names: readonly string[]): void => void (names.length > 0 && found.set(sourceKey(at), names));
  const look = (body: readonly Stmt[], around: readonly Directive[]): void => {
    for (const s of body) {
      const region = byStatement.get(s);
      if (region && (isSerial || region.isOpen)) add(s, region.kept);
      if (region) continue;
      if (s.kind === "directed")
        add(
          s,
          ownOf(scope, s, around, (each) => byStatement.get(each)).filter((name) => isReadBehind(scope, s, name)),
        );
      const inside = s.kind === "directed" ? [...around, s.directive] : around;
      for (const part of bodiesOf(s)) look(part, inside);
    }
  };
  look(scope.unit.body, []);
  return found;
}

/** The statements of a construct, between statements that save and restore some variables. */
export function withKept(body: readonly Stmt[], names: readonly string[], scope: UnitScope, problems: Problems): Stmt[] {
  const [first] = body;
  if (names.length === 0 || !first) return [...body];
  const { at, before } = first;
  const used = namesInTree(body);
  const declarations: VariableDeclaration[] = [];
  const saved: Stmt[] = [];
  const restored: Stmt[] = [];
  for (const name of names) {
    const variable = findNamed(scope, name);
    const type = variable && typeIn(scope, variable);
    if (!variable || !type) {
      problems.add(
        at,
        name,
        "the construct has it for itself, and its type cannot be written here",
        "use another variable inside the construct",
      );
      continue;
    }
    let copy = `${name}_before`;
    for (let n = 2; find(scope, copy) || used.has(copy); n++) copy = `${name}_before_${n}`;
    const rank = variable.dims?.length ?? 0;
    const open = Array.from({ length: rank }, (): Bound => ({ assumed: true }));
    declarations.push({
      kind: "variables",
      type,
      attributes: rank > 0 ? ["allocatable"] : [],
      names: [{ name: copy, at, ...(rank > 0 && { dimension: open }) }],
      at,
    });
    const [own, other] = [name, copy].map((each): Extract<Expr, { kind: "name" }> => ({ kind: "name", name: each, at }));
    saved.push({ kind: "assign", target: other, value: own, at });
    restored.push({ kind: "assign", target: own, value: other, at });
  }
  const inside = [...saved, { ...first, before: undefined }, ...body.slice(1), ...restored];
  return [{ kind: "block", declarations, body: inside, at, ...(before && { before }) }];
}

const TYPES: Readonly<Record<ScalarType, string>> = {
  f64: "real(8)",
  f32: "real(4)",
  i32: "integer(4)",
  u32: "integer(4)",
  i64: "integer(8)",
  u64: "integer(8)",
  bool: "logical",
};

/** The type of a variable as a scope can write it: as declared, if the scope sees what the declaration does. */
export function typeIn(scope: UnitScope, variable: Variable): TypeSpec | undefined {
  const owner = ownerOf(variable);
  for (let around: UnitScope | undefined = scope; around; around = around.parent) {
    if (around.unit !== owner.unit) continue;
    for (const d of owner.unit.declarations)
      if (d.kind === "variables" && d.names.some(({ name }) => name === variable.name)) return d.type;
  }
  const { at, type, refused, wide, byte } = variable;
  if (wide || byte) return { type: "integer", text: wide ? "integer(8)" : "integer(1)", at };
  if (refused || variable.derived) return undefined;
  return { type: type === "bool" ? "logical" : type === "i32" || type === "u32" ? "integer" : "real", text: TYPES[type], at };
}
