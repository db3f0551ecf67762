import { NOT_PLAIN } from "../read/refused-syntax.js";
import { labelled, leave, structure } from "../../ir/structure.js";
import type * as acorn from "acorn";
import { bindPattern } from "./assignments.js";
import type { CallFrame, Lowering } from "./lowering.js";
import { declareParts, declaredLater, partsOf, storeParts } from "./records.js";
import { reassigned } from "../read/reassigned.js";
import { alwaysReturns, isPlainFunction } from "../read/syntax.js";
import { toolCall } from "./tool-calls.js";
import { Scope, type LoweredValue } from "./values.js";
import { condition } from "./operands.js";

type Statement = acorn.Statement | acorn.ModuleDeclaration;

/** Lowers a list of statements, as far as control can reach. */
export function lowerStatements(cx: Lowering, list: readonly Statement[], scope: Scope, frame: CallFrame): void {
  for (const node of list)
    if (node.type === "FunctionDeclaration") {
      if (!isPlainFunction(node)) cx.fail(node, ...NOT_PLAIN);
      scope.bind(node.id.name, { kind: "function", name: node.id.name, node: node as acorn.FunctionDeclaration, source: cx.source, scope });
    }

  for (const node of list) {
    if (node.type === "FunctionDeclaration") continue;
    cx.statement(node as acorn.Statement, scope, frame);
    if (node.type === "BreakStatement" || node.type === "ContinueStatement" || alwaysReturns(node)) return;
  }
}

/** A `return`: its value goes to the function's result, and control to the function's end, see `functionBody`. */
export function lowerReturn(cx: Lowering, node: acorn.ReturnStatement, scope: Scope, frame: CallFrame): void {
  if (node.argument) {
    const value = cx.expression(node.argument, scope);
    if (frame.result)
      storeParts(cx, frame.result, value, node, () =>
        cx.fail(node, "this return differs in form from an earlier one", "return the same values everywhere"),
      );
    else if (value.kind === "void") frame.returns.bare = true;
    else if (!cx.knowledge.shapes.has(frame.key)) {
      cx.knowledge.shapes.set(frame.key, partsOf(value));
      cx.knowledge.fresh = true;
    }
  } else frame.returns.bare = true;
  cx.out.push(leave(cx.at(node)));
}

/** Lowers a function's statements; what they return is in locals afterwards. */
export function functionBody(cx: Lowering, name: string, block: acorn.BlockStatement, scope: Scope): LoweredValue {
  const frame: CallFrame = { key: cx.path, returns: {} };
  frame.result = declareParts(cx, cx.knowledge.shapes.get(frame.key), block, `${name}_result`);
  const { stmts } = cx.collect(() => lowerStatements(cx, block.body, scope, frame));
  cx.out.push(...structure(stmts, (wish) => cx.unique(wish), cx.at(block)));
  if (frame.result && (frame.returns.bare || !alwaysReturns(block)))
    cx.fail(block, `${name} returns a value on some paths only`, "return one on every path");
  return frame.result ?? { kind: "void" };
}

/** `var _a;` at the top of a function: so tools declare what they need for syntax that their target lacks. It means what `let` means there. */
function isTemporary({ stack }: Lowering, node: acorn.VariableDeclaration): boolean {
  const { body } = stack[stack.length - 1].node;
  const isPlain = node.declarations.every(({ id, init }) => !init && id.type === "Identifier");
  return node.kind === "var" && isPlain && body.type === "BlockStatement" && body.body.includes(node);
}

/** A loop under a label, which `break` and `continue` inside of it may name. */
export function labelledLoop(cx: Lowering, node: acorn.LabeledStatement, scope: Scope, frame: CallFrame): void {
  const { label, body } = node;
  if (!/^(For|ForOf|While|DoWhile)Statement$/.test(body.type))
    cx.fail(node, `the label ${label.name} is not before a loop`, "label loops only");
  const { stmts } = cx.collect(() => cx.statement(body, scope, frame));
  const loop = stmts[stmts.length - 1];
  if (loop.kind !== "for" && loop.kind !== "while") throw new Error(`a ${body.type} ends in a ${loop.kind}`);
  cx.out.push(...stmts.slice(0, -1), labelled(loop, label.name));
}

export function branch(cx: Lowering, node: acorn.IfStatement, scope: Scope, frame: CallFrame): void {
  const cond = condition(cx, node.test, scope);
  const a = cx.collect(() => lowerStatements(cx, [node.consequent], new Scope(scope), frame));
  const b = cx.collect(() => node.alternate && lowerStatements(cx, [node.alternate], new Scope(scope), frame));
  cx.out.push({ kind: "if", cond, then: a.stmts, else: b.stmts, location: cx.at(node) });
}

export function declaration(cx: Lowering, node: acorn.VariableDeclaration, scope: Scope): void {
  if (node.kind !== "let" && node.kind !== "const" && !isTemporary(cx, node)) {
    for (const { init } of node.declarations) if (init?.type === "CallExpression") toolCall(cx, init, scope);
    const remedy = "declare with let or const; if your file has no var, set the tool's target to es2016 or later";
    cx.fail(node, `${node.kind} is not part of the kernel language`, remedy);
  }
  for (const d of node.declarations) {
    if (d.init) {
      cx.arrayName = d.id.type === "Identifier" ? d.id.name : undefined;
      const value = cx.expression(d.init, scope);
      cx.arrayName = undefined;
      const isList = d.init.type === "ArrayExpression";
      const isConstant = node.kind === "const" || !(isList || reassigned(cx.source.node).has(d));
      bindPattern(cx, d.id, value, scope, isConstant, isList);
    } else if (d.id.type === "Identifier") scope.bind(d.id.name, declaredLater(cx, d.id, d) ?? cx.declare(d.id.name, d));
  }
}
