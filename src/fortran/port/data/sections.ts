/* Sections whose elements are not adjacent in memory, row by row. */

import { find, type UnitScope } from "../../analyse/symbols.js";
import { namesInTree } from "../../analyse/visit.js";
import type { ActualArgument, Apply, DataClause, Designator, Expr, Stmt, VariableDeclaration } from "../../tree/index.js";

/** The axis after which only single indices leave elements adjacent; the number of axes, if all are whole. */
function firstCut(args: Apply["args"]): number {
  const cut = args.findIndex((arg) => arg.kind === "value" || arg.lower !== undefined || arg.upper !== undefined);
  return cut < 0 ? args.length : cut;
}

const isIndex = (arg: ActualArgument): boolean => arg.kind === "value";

/** Whether a section is one run of memory, as far as its text tells. */
export const isAdjacent = (object: Designator): boolean =>
  object.kind !== "apply" || object.args.slice(firstCut(object.args) + 1).every(isIndex);

/** Directives for one section, in loops over the axes that are not adjacent. */
export function byRows(clause: DataClause, scope: UnitScope, directive: (clause: DataClause) => Stmt[]): Stmt[] {
  const [object] = clause.objects;
  if (object.kind !== "apply" || isAdjacent(object)) return directive(clause);
  const { at } = clause;
  const cut = firstCut(object.args);
  const used = namesInTree(object);
  const names: string[] = [];
  const free = (): string => {
    let n = names.length + 1;
    while (find(scope, `row_${n}`) || used.has(`row_${n}`)) n++;
    names.push(`row_${n}`);
    return names.at(-1)!;
  };
  const whole = object.base;
  const end = (fn: string, axis: number): Expr => {
    const number: Expr = { kind: "literal", type: "integer", text: String(axis + 1), at };
    return {
      kind: "apply",
      base: { kind: "name", name: fn, at },
      args: [
        { kind: "value", value: whole },
        { kind: "value", value: number },
      ],
      at,
    };
  };
  const loops: { readonly variable: string; readonly start: Expr; readonly stop: Expr }[] = [];
  const args = object.args.map((arg, axis): ActualArgument => {
    if (axis <= cut || arg.kind === "value") return arg;
    const variable = free();
    loops.push({ variable, start: arg.lower ?? end("lbound", axis), stop: arg.upper ?? end("ubound", axis) });
    return { kind: "value", value: { kind: "name", name: variable, at } };
  });
  const inner = directive({ ...clause, objects: [{ ...object, args }] });
  const body = loops.reduce<Stmt[]>((within, loop) => [{ kind: "do", ...loop, body: within, at }], inner);
  const declaration: VariableDeclaration = {
    kind: "variables",
    type: { type: "integer", text: "integer", at },
    attributes: [],
    names: names.map((name) => ({ name, at })),
    at,
  };
  return [{ kind: "block", declarations: [declaration], body, at }];
}
