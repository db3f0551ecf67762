/* Names of `associate` that statements assign: the elements and components that they stand for take their places. */

import { blockNames } from "../analyse/blocks.js";
import { eachStatement, mapStatements, namesInTree } from "../analyse/visit.js";
import { withExpressions } from "../analyse/walk.js";
import { writesOf } from "../analyse/writes.js";
import type { Associate, Expr, Stmt } from "../tree/index.js";
import { variableIn, type ProcedureFrame } from "./lowering.js";
import { Unlowerable } from "./values.js";

/** The construct without the names that its statements assign. @throws Unlowerable where an index changes in between */
export function withoutAssigned(stmt: Associate, frame: ProcedureFrame): Associate {
  const written = writesOf(frame.scope, stmt.body);
  let made = stmt;
  for (const { name, value } of stmt.names) {
    if (!written.has(name) || !isPlace(value, frame)) continue;
    const indices = value.kind === "apply" ? namesInTree(value.args) : new Set<string>();
    if (isDeclaredIn(made.body, name) || [...indices].some((each) => written.has(each) || isDeclaredIn(made.body, each)))
      throw new Unlowerable(
        value.at,
        name,
        "it is assigned, and its element is told by what changes in between",
        "assign the element itself",
      );
    const body = mapStatements(made.body, (s) => [withExpressions(s, (e) => (e.kind === "name" && e.name === name ? value : e))]);
    made = { ...made, names: made.names.filter((each) => each.name !== name), body };
  }
  return made;
}

/** Whether an expression is an element of an array, or a component that is a number. */
function isPlace(e: Expr, frame: ProcedureFrame): boolean {
  if (e.kind === "part") return [variableIn(frame, e)].some((variable) => variable && !variable.dims && !variable.derived);
  if (e.kind !== "apply" || e.args.some(({ kind }) => kind !== "value")) return false;
  return (e.base.kind === "name" || e.base.kind === "part") && variableIn(frame, e.base)?.dims !== undefined;
}

/** Whether an inner construct gives a name another meaning. */
function isDeclaredIn(body: readonly Stmt[], name: string): boolean {
  let found = false;
  eachStatement(body, (s) => {
    if (s.kind === "associate") found ||= s.names.some((each) => each.name === name);
    if (s.kind === "block") found ||= blockNames(s.declarations).includes(name);
  });
  return found;
}
