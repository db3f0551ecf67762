import { jump } from "../../ir/structure.js";
import type * as acorn from "acorn";
import { assignTo, updateTarget } from "./assignments.js";
import { lowerCall } from "./calls.js";
import { lowerBinary, conditional, identifier, lowerLogical, member, newArray } from "./expressions.js";
import { forOfLoop } from "./for-of.js";
import { doWhileLoop, forLoop, whileLoop } from "./loops.js";
import type { ExpressionNode, CallFrame, Lowering } from "./lowering.js";
import { condition, scalarOf } from "./operands.js";
import { prefix } from "./operators.js";
import { record } from "./records.js";
import { branch, declaration, lowerReturn, labelledLoop, lowerStatements } from "./statements.js";
import { switchStatement } from "./switch.js";
import { isCoverage } from "../read/coverage.js";
import { NOT_NUMBER, NOT_PLAIN, NULLISH, refusedSyntax } from "../read/refused-syntax.js";
import { isPlainFunction } from "../read/syntax.js";
import { literalExpr } from "./types.js";
import { Scope, constantExpr, type LoweredValue } from "./values.js";
import { bigintLiteral } from "./wide-operators.js";

/*
 * Dispatch of each kind of node to its lowering. The modules that lower come back here for inner nodes, by the methods of `Lowering`.
 */

/** Lowers an expression. What it does besides giving a value goes before the statement in which it stands. */
export function expression(cx: Lowering, node: ExpressionNode, scope: Scope): LoweredValue {
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "number") return literalExpr(node.value);
      if (typeof node.value === "bigint") return bigintLiteral(cx, node.value, node);
      if (typeof node.value === "boolean") return { kind: "scalar", expr: constantExpr("bool", node.value) };
      return cx.fail(node, `${node.raw ?? "this literal"} is not a number`, NOT_NUMBER);
    case "Identifier":
      return identifier(cx, node, scope);
    case "MemberExpression":
      return member(cx, node, scope);
    case "UnaryExpression":
      if (node.operator === "void") {
        effect(cx, node.argument, scope);
        return { kind: "void" };
      }
      if (node.operator === "!")
        return { kind: "scalar", expr: { op: "unary", type: "bool", fn: "not", a: condition(cx, node.argument, scope) } };
      return prefix(cx, node.operator, scalarOf(cx, node.argument, scope), node);
    case "BinaryExpression":
      return lowerBinary(cx, node, scope);
    case "LogicalExpression":
      return lowerLogical(cx, node, scope);
    case "ConditionalExpression":
      return conditional(cx, node, scope);
    case "CallExpression":
      return lowerCall(cx, node, scope);
    case "NewExpression":
      return newArray(cx, node, scope);
    case "ArrayExpression":
      return {
        kind: "tuple",
        items: node.elements.map((e) => cx.materialise(expression(cx, e ?? cx.fail(node, "an element is missing"), scope), node)),
      };
    case "ObjectExpression":
      return record(cx, node, scope);
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      if (!isPlainFunction(node)) return cx.fail(node, ...NOT_PLAIN);
      return { kind: "function", name: "", node, source: cx.source, scope };
    case "AssignmentExpression":
      return assignTo(cx, node, scope, true);
    case "UpdateExpression":
      return updateTarget(cx, node, scope, true);
    case "SequenceExpression": {
      const last = node.expressions.length - 1;
      for (const part of node.expressions.slice(0, last)) effect(cx, part, scope, true);
      return expression(cx, node.expressions[last], scope);
    }
    // Any other expression is refused.
    default:
      return cx.fail(node, ...refusedSyntax(node.type));
  }
}

/**
 * An expression that stands as a statement. Minifiers write `a && b()` for `if (a) b()`; bundlers, too, leave what a local was given that nobody reads.
 * @param left it may be a comparison, which elsewhere was to be an assignment
 */
export function effect(cx: Lowering, node: acorn.Expression, scope: Scope, left = cx.source.minified): void {
  const location = cx.at(node);
  switch (node.type) {
    case "AssignmentExpression":
      assignTo(cx, node, scope);
      return;
    case "UpdateExpression":
      if (!isCoverage(node)) updateTarget(cx, node, scope);
      return;
    case "CallExpression":
      if (!isCoverage(node)) lowerCall(cx, node, scope);
      return;
    case "SequenceExpression":
      for (const part of node.expressions) effect(cx, part, scope, true);
      return;
    case "ConditionalExpression": {
      const cond = condition(cx, node.test, scope);
      const a = cx.collect(() => effect(cx, node.consequent, scope, left));
      const b = cx.collect(() => effect(cx, node.alternate, scope, left));
      cx.out.push({ kind: "if", cond, then: a.stmts, else: b.stmts, location });
      return;
    }
    case "LogicalExpression": {
      if (node.operator === "??") cx.fail(node, ...NULLISH);
      const cond = condition(cx, node.left, scope);
      const { stmts } = cx.collect(() => effect(cx, node.right, scope, left));
      cx.out.push({ kind: "if", cond, then: node.operator === "&&" ? stmts : [], else: node.operator === "&&" ? [] : stmts, location });
      return;
    }
    case "UnaryExpression":
      effect(cx, node.argument, scope, left);
      return;
    case "Literal":
      return;
    // Any other expression has no effect.
    default:
      if (left || !(node.type === "BinaryExpression" && /^([=!]=|[<>]=?$)/.test(node.operator))) return void expression(cx, node, scope);
      cx.fail(node, "this statement has no effect", "assign its value");
  }
}

export function statement(cx: Lowering, node: acorn.Statement, scope: Scope, frame: CallFrame): void {
  switch (node.type) {
    case "EmptyStatement":
      return;
    case "BlockStatement":
      return lowerStatements(cx, node.body, new Scope(scope), frame);
    case "ReturnStatement":
      return lowerReturn(cx, node, scope, frame);
    case "VariableDeclaration":
      return declaration(cx, node, scope);
    case "ExpressionStatement":
      return effect(cx, node.expression, scope);
    case "IfStatement":
      return branch(cx, node, scope, frame);
    case "ForStatement":
      return forLoop(cx, node, scope, frame);
    case "WhileStatement":
      return whileLoop(cx, node, scope, frame);
    case "DoWhileStatement":
      return doWhileLoop(cx, node, scope, frame);
    case "ForOfStatement":
      return forOfLoop(cx, node, scope, frame);
    case "SwitchStatement":
      return switchStatement(cx, node, scope, frame);
    case "BreakStatement":
      cx.out.push(jump("break", node.label?.name ?? frame.leaves, cx.at(node)));
      return;
    case "ContinueStatement":
      cx.out.push(jump("continue", node.label?.name, cx.at(node)));
      return;
    case "LabeledStatement":
      return labelledLoop(cx, node, scope, frame);
    // Any other statement is refused.
    default:
      cx.fail(node, ...refusedSyntax(node.type));
  }
}
