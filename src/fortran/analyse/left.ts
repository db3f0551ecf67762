/*
 * Scalars that the iterations of a parallel loop leave for later statements: which of them come back, and how. If iterations agree on the
 * value, or only one assigns it, that value is left; otherwise the construct must say which one counts, or the loop is refused.
 */

import type { Expr, Stmt } from "../tree/index.js";
import { blockVariables } from "./blocks.js";
import { find, findProcedure, type UnitScope } from "./symbols.js";
import type { Sharing } from "./sharing.js";
import { eachStatement, mapStatements, namesInTree } from "./visit.js";
import { bare } from "./walk.js";
import { conjuncts, text, writesOf } from "./writes.js";

export interface Left {
  readonly name: string;
  /**
   * `agreed`: all iterations that assign it assign the same value. `single`: one iteration assigns it, or several agree, which a run checks. `last`:
   * the last iteration's value counts.
   */
  readonly by: "agreed" | "single" | "last";
}

/** The body of a parallel loop, and what its iterations differ in. */
interface Iterations {
  readonly scope: UnitScope;
  readonly body: readonly Stmt[];
  readonly axes: readonly { readonly variable: string }[];
  readonly mask?: Expr;
}

/** Scalars that statements assign otherwise than as the variable of a loop. */
export const assignedBesideLoops = (scope: UnitScope, body: readonly Stmt[]): Set<string> =>
  writesOf(
    scope,
    mapStatements(body, (s) => (s.kind === "do" || s.kind === "do-concurrent" ? s.body : [s])),
  );

/** Way in which a scalar that is read after the loop comes back; undefined where iterations leave different values and nothing says which one counts. */
export function leftBy(
  sharing: Exclude<Sharing, "private" | "kept">,
  name: string,
  isOpen: true | undefined,
  loop: Iterations,
): Left["by"] | undefined {
  if (sharing === "last") return "last";
  const { isAlike, conditions } = assignments(name, loop);
  if (isAlike) return "agreed";
  const always = !loop.mask && isAssignedAlways(name, loop.body);
  if (sharing === "ordered" && always) return "last";
  if (always) return undefined;
  // Nothing says that iterations of an open loop are apart: it has to be seen.
  if (!isOpen) return "single";
  return conditions.every((each) => isOneIteration(each, loop)) ? "single" : undefined;
}

/** Whether all assignments of a scalar assign one value that no iteration changes, and the conditions that each assignment stands under. */
function assignments(name: string, loop: Iterations): { readonly isAlike: boolean; readonly conditions: readonly (readonly Expr[])[] } {
  const { scope, body } = loop;
  const varying = varyingIn(loop);
  const conditions: Expr[][] = [];
  const values = new Set<string>();
  let isAlike = true;
  const look = (list: readonly Stmt[], under: readonly Expr[]): void => {
    for (const s of list) {
      const isIt = s.kind === "assign" && s.target.kind === "name" && s.target.name === name;
      if (isIt) {
        values.add(text(s.value));
        isAlike &&= !isVarying(scope, s.value, varying);
        conditions.push([...under]);
      } else if (writesOf(scope, [withoutBodies(s)]).has(name)) {
        isAlike = false;
        conditions.push([...under]);
      }
      if (s.kind === "if") {
        s.branches.forEach((branch, n) => look(branch.body, n === 0 ? [...under, branch.cond] : under));
        look(s.otherwise ?? [], under);
      } else bodies(s).forEach((part) => look(part, under));
    }
  };
  look(body, []);
  return { isAlike: isAlike && values.size === 1, conditions };
}

const withoutBodies = (s: Stmt): Stmt => ("body" in s || "branches" in s || s.kind === "select" ? { kind: "continue", at: s.at } : s);

function bodies(s: Stmt): (readonly Stmt[])[] {
  if (s.kind === "select") return s.cases.map((part) => part.body);
  if (s.kind === "where") return [...s.branches.map((branch) => branch.body), s.otherwise ?? []];
  return "body" in s ? [s.body] : [];
}

/** Names whose values differ from iteration to iteration, or may. */
function varyingIn({ scope, body, axes }: Iterations): Set<string> {
  const varying = new Set([...writesOf(scope, body), ...axes.map(({ variable }) => variable), ...blockVariables(body)]);
  eachStatement(body, (s) => {
    if (s.kind === "associate") for (const { name } of s.names) varying.add(name);
  });
  return varying;
}

/** Whether iterations may find different values in an expression: by what it names, or by functions of the program. */
function isVarying(scope: UnitScope, e: Expr, varying: ReadonlySet<string>): boolean {
  return [...namesInTree(e)].some((name) => varying.has(name) || (!find(scope, name) && findProcedure(scope, name) !== undefined));
}

/** Whether every iteration assigns the scalar: nothing leaves it before, and no condition stands around. */
function isAssignedAlways(name: string, body: readonly Stmt[]): boolean {
  let leaves = false;
  eachStatement(body, (s) => void (leaves ||= ["cycle", "exit", "return", "stop"].includes(s.kind)));
  return !leaves && assignsAlways(name, body);
}

function assignsAlways(name: string, body: readonly Stmt[]): boolean {
  return body.some((s) => {
    switch (s.kind) {
      case "assign":
        return s.target.kind === "name" && s.target.name === name;
      case "if":
        return (
          s.otherwise !== undefined && [...s.branches.map((branch) => branch.body), s.otherwise].every((part) => assignsAlways(name, part))
        );
      case "directed":
      case "block":
      case "associate":
        return assignsAlways(name, s.body);
      // Any other statement may run without assigning.
      default:
        return false;
    }
  });
}

/** Whether conditions hold for one iteration at most: `i == e` for each axis. */
function isOneIteration(conditions: readonly Expr[], loop: Iterations): boolean {
  const varying = varyingIn(loop);
  const all = conditions.flatMap(conjuncts);
  const isFixed = (variable: string): boolean =>
    all.some((e) => {
      if (e.kind !== "binary" || e.op !== "==") return false;
      const [a, b] = [bare(e.a), bare(e.b)];
      const isIt = (side: Expr): boolean => side.kind === "name" && side.name === variable;
      return (isIt(a) && !isVarying(loop.scope, b, varying)) || (isIt(b) && !isVarying(loop.scope, a, varying));
    });
  return loop.axes.every(({ variable }) => isFixed(variable));
}
