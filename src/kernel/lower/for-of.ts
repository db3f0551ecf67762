import type * as acorn from "acorn";
import { isIndex } from "../../ir/scalars.js";
import type { Expr } from "../../ir/types.js";
import { bindPattern } from "./assignments.js";
import { callsSpan } from "./calls.js";
import { compositeElement } from "./composites.js";
import { arrayElement } from "./expressions.js";
import { knownConstant } from "./constant.js";
import type { CallFrame, Lowering } from "./lowering.js";
import { insideLoop } from "./loops.js";
import { scalarsOf } from "./operands.js";
import { assignedNames } from "../read/reassigned.js";
import { namesOf } from "../read/syntax.js";
import { Scope, constantExpr, type LoweredValue, type ScalarValue } from "./values.js";

/** Numbers that a loop counts, and the value of each turn. */
interface Turns {
  readonly start: Expr;
  readonly stop: Expr;
  readonly step: number;
  value(counter: ScalarValue): LoweredValue;
}

/** Lowers `for (const k of span(a, b))`, and loops over the elements of an array or a table, to a counted loop. */
export function forOfLoop(cx: Lowering, node: acorn.ForOfStatement, outer: Scope, frame: CallFrame): void {
  if (node.await) return cx.fail(node, "for await is not part of the kernel language", "write for (const v of ...)");
  const { left } = node;
  if (left.type !== "VariableDeclaration" || left.kind === "var")
    return cx.fail(node, "for-of takes a variable from outside of the loop", "declare it there: for (const v of ...)");
  const turns = turnsOf(cx, node, outer);
  const pattern = left.declarations[0].id;
  const name = cx.unique(pattern.type === "Identifier" && turns.value === itself ? pattern.name : "k");
  const counter: ScalarValue = { kind: "scalar", expr: { op: "local", type: "i32", name } };
  const scope = new Scope(outer);
  const assigned = assignedNames(node.body);
  const isConstant = left.kind === "const" || ![...namesOf(pattern)].some((each) => assigned.has(each));
  const { stmts } = cx.collect(() => {
    bindPattern(cx, pattern, turns.value(counter), scope, isConstant);
    cx.statement(node.body, new Scope(scope), insideLoop(frame));
  });
  cx.out.push({ kind: "for", name, start: turns.start, stop: turns.stop, step: turns.step, body: stmts, location: cx.at(node) });
}

const itself = (counter: ScalarValue): LoweredValue => counter;

function turnsOf(cx: Lowering, { right }: acorn.ForOfStatement, scope: Scope): Turns {
  if (callsSpan(cx, right, scope)) return counted(cx, right, scope);
  const list = entriesOf(right);
  const of = cx.materialise(cx.expression(list ?? right, scope), right);
  return elements(cx, of, right, list ? (k, v) => ({ kind: "tuple", items: [k, v] }) : (_, v) => v);
}

/** `a` of `a.entries()` */
function entriesOf(node: acorn.Expression): acorn.Expression | undefined {
  if (node.type !== "CallExpression" || node.arguments.length > 0) return undefined;
  const { callee } = node;
  if (callee.type !== "MemberExpression" || callee.computed || callee.object.type === "Super") return undefined;
  return (callee.property as acorn.Identifier).name === "entries" ? callee.object : undefined;
}

/** `span(a, b, step)` */
function counted(cx: Lowering, node: acorn.CallExpression, scope: Scope): Turns {
  if (node.arguments.length < 2 || node.arguments.length > 3)
    return cx.fail(node, `span takes a begin and an end, and is given ${node.arguments.length} arguments`, "write span(0, n)");
  const [begin, end, by] = scalarsOf(cx, node.arguments, scope);
  for (const { expr, weak } of [begin, end])
    if (!isIndex(expr.type) || weak === "float") cx.fail(node, `span is given ${expr.type}, and counts i32`, "write (x) | 0");
  const step = by ? knownConstant(cx, by.expr) : 1;
  if (typeof step !== "number" || !Number.isInteger(step) || step === 0)
    return cx.fail(node, "the step of span is not a constant whole number other than 0", "use for (let k = a; k < b; k += step)");
  const [start, stop] = [begin, end].map((value, n) => cx.materialiseScalar(value, node, n === 0 ? "start" : "stop").expr);
  return { start, stop, step, value: itself };
}

/** The elements of an array, with their places. */
function elements(cx: Lowering, list: LoweredValue, node: acorn.Node, give: (k: ScalarValue, v: LoweredValue) => LoweredValue): Turns {
  const over = (stop: Expr, element: (at: Expr) => LoweredValue): Turns => ({
    start: constantExpr("i32", 0),
    stop,
    step: 1,
    // The element is what it was when its turn began.
    value: (k) => give(k, cx.materialise(element(k.expr), node, "element")),
  });
  const location = cx.at(node);
  switch (list.kind) {
    case "table": {
      const { name: table, type, shape, prefix } = list;
      return over(constantExpr("i32", shape[prefix.length]), (at) => {
        const indices = [...prefix, at];
        if (indices.length < shape.length) return { ...list, prefix: indices };
        return { kind: "scalar", expr: { op: "table", type, table, indices, location } };
      });
    }
    case "array":
      return over(constantExpr("i32", list.length), (at) => arrayElement(cx, list, at, node));
    case "view": {
      const { name: view, element: type, of, prefix } = list;
      const rank = list.rank - (of?.axes.length ?? 0);
      if (prefix.length !== rank - 1)
        return cx.fail(
          node,
          `for-of goes over ${view}, a view of rank ${rank}, given ${prefix.length} indices`,
          "give all indices but the last, or count with for (const i of span(0, n))",
        );
      const stop: Expr = { op: "extent", type: "i32", view, axis: prefix.length };
      if (of) return over(stop, (at) => compositeElement(cx, { name: view, of, element: type }, [...prefix, at], node, "view"));
      return over(stop, (at) => ({ kind: "scalar", expr: { op: "load", type, view, indices: [...prefix, at], location } }));
    }
    // Any other value has no elements to go over.
    default:
      return cx.fail(node, "for-of goes over something else than numbers and arrays", "write span(begin, end), a table or an array");
  }
}
