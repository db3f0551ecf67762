import type * as acorn from "acorn";
import { isInteger } from "../../ir/scalars.js";
import { leftByBranches } from "../../ir/left-blocks.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { switchGroups, type SwitchGroup } from "../read/switch-groups.js";
import { knownConstant } from "./constant.js";
import type { CallFrame, Lowering } from "./lowering.js";
import { scalarOf } from "./operands.js";
import { lowerOperator } from "./operators.js";
import { lowerStatements } from "./statements.js";
import { Scope, type ScalarValue } from "./values.js";

/** Lowers a `switch` of an integer over constants to a chain of `if`. */
export function switchStatement(cx: Lowering, node: acorn.SwitchStatement, outer: Scope, frame: CallFrame): void {
  const value = cx.materialiseScalar(scalarOf(cx, node.discriminant, outer), node.discriminant, "value");
  const { type } = value.expr;
  if (!isInteger(type) || value.weak === "float")
    cx.fail(node.discriminant, `switch takes an integer, and is given ${type}`, "write if and else if, or (x) | 0 for the whole part");
  const groups = switchGroups(node);
  if ("from" in groups)
    return cx.fail(groups.from, `${labelOf(groups.from)} runs on into ${labelOf(groups.into)}`, "write both bodies, or group the labels");
  const seen = new Map<unknown, acorn.SwitchCase>();
  const conds = groups.map((group) => conditionOf(cx, value, group, seen, outer));
  // No label of the author has spaces.
  const leaves = `switch at ${node.start}`;
  const bodies = groups.map(({ body }) => cx.collect(() => lowerStatements(cx, body, new Scope(outer), { ...frame, leaves })).stmts);
  const stmts = chain(cx, node, conds, bodies);
  cx.out.push(...leftByBranches(stmts, leaves, (wish) => cx.unique(wish)));
}

/** The groups one inside the other's `else`; the body of `default` comes last, wherever it stands. */
function chain(cx: Lowering, node: acorn.Node, conds: readonly (Expr | undefined)[], bodies: readonly Stmt[][]): Stmt[] {
  const location = cx.at(node);
  const other = conds.indexOf(undefined);
  return conds.reduceRight<Stmt[]>(
    (rest, cond, n) => (cond ? [{ kind: "if", cond, then: bodies[n], else: rest, location }] : rest),
    other < 0 ? [] : bodies[other],
  );
}

/** Whether the value is one of the group's; undefined for the group of `default`. */
function conditionOf(
  cx: Lowering,
  value: ScalarValue,
  { labels }: SwitchGroup,
  seen: Map<unknown, acorn.SwitchCase>,
  scope: Scope,
): Expr | undefined {
  const conds = labels.flatMap((label) => (label.test ? [equals(cx, value, label, label.test, seen, scope)] : []));
  if (conds.length < labels.length) return undefined;
  return conds.reduce((a, b): Expr => ({ op: "logical", type: "bool", fn: "or", a, b }));
}

function equals(
  cx: Lowering,
  value: ScalarValue,
  label: acorn.SwitchCase,
  test: acorn.Expression,
  seen: Map<unknown, acorn.SwitchCase>,
  scope: Scope,
): Expr {
  const { stmts, value: found } = cx.collect(() => scalarOf(cx, test, scope));
  const known = stmts.length > 0 ? undefined : knownConstant(cx, found.expr);
  if (typeof known !== "bigint" && !Number.isInteger(known))
    return cx.fail(test, "a case is not a constant whole number", "write if and else if, or list the number as a capture");
  if (seen.has(known)) return cx.fail(label, `case ${known} stands twice`, "leave one of them out");
  seen.set(known, label);
  return lowerOperator(cx, "===", value, found, test).expr;
}

const labelOf = ({ test }: acorn.SwitchCase): string => (test ? `case ${textOf(test)}` : "default");

/** A label as it is written, where it is a number or a name. */
function textOf(test: acorn.Expression): string {
  if (test.type === "Literal") return String(test.value);
  if (test.type === "UnaryExpression") return `${test.operator}${textOf(test.argument)}`;
  return test.type === "Identifier" ? test.name : "(...)";
}
