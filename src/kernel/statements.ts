import type * as acorn from "acorn";
import type { Expr, Stmt } from "../ir/types.js";
import { assignTo, bindPattern, condition, expression, scalar, updateTarget } from "./expressions.js";
import { callStatement } from "./calls.js";
import { Restart, read, type Frame, type Lowering, type Shape } from "./lowering.js";
import { Scope, constant, isLeaf, walkSyntax, type ScalarValue, type Value } from "./values.js";

type Statement = acorn.Statement | acorn.ModuleDeclaration;

/**
 * Lowers a list of statements. A `return` becomes plain control flow: what follows an `if` that returns moves into its other branch;
 * where that cannot say it (a return inside a loop) a flag does.
 */
export function statements(cx: Lowering, list: readonly Statement[], scope: Scope, frame: Frame): void {
  for (let n = 0; n < list.length; n++) {
    const node = list[n];
    if (node.type === "FunctionDeclaration") {
      scope.bind(node.id!.name, { kind: "function", name: node.id!.name, node: node as acorn.FunctionDeclaration, source: cx.source, scope });
      continue;
    }
    if (!returns(node)) {
      statement(cx, node as acorn.Statement, scope, frame);
      if (node.type === "BreakStatement" || node.type === "ContinueStatement") return;
      continue;
    }
    const rest = list.slice(n + 1);
    if (node.type === "ReturnStatement") return finish(cx, node, scope, frame);
    if (node.type === "IfStatement" && frame.loops === 0) {
      const [a, b] = [alwaysReturns(node.consequent), node.alternate ? alwaysReturns(node.alternate) : false];
      if (a || b || rest.length === 0) {
        branch(cx, node, scope, [node.consequent, ...(a ? [] : rest)], [...(node.alternate ? [node.alternate] : []), ...(b ? [] : rest)], frame);
        return;
      }
    }
    if (frame.loops === 0) {
      const flag = (frame.returned ??= cx.flag("returned", node));
      statement(cx, node as acorn.Statement, scope, frame);
      if (rest.length) {
        const { stmts } = cx.collect(() => statements(cx, rest, scope, frame));
        cx.out.push({ kind: "if", cond: { op: "unary", type: "bool", fn: "not", a: read(flag).expr }, then: stmts, else: [], location: cx.at(rest[0]) });
      }
      return;
    }
    statement(cx, node as acorn.Statement, scope, frame);
    if (hasLoop(node)) cx.out.push({ kind: "if", cond: read(frame.returned!).expr, then: [{ kind: "break", location: cx.at(node) }], else: [], location: cx.at(node) });
  }
}

function finish(cx: Lowering, node: acorn.ReturnStatement, scope: Scope, frame: Frame): void {
  if (node.argument) {
    const value = expression(cx, node.argument, scope);
    const key = `${frame.key}:result`;
    if (!frame.result) {
      cx.knowledge.shapes.set(key, shapeOf(value));
      throw new Restart();
    }
    store(cx, frame.result, value, node);
  }
  if (frame.loops === 0 && !frame.returned) return;
  if (frame.returned) cx.assign(frame.returned, { kind: "scalar", expr: constant("bool", true) }, node);
  if (frame.loops > 0) cx.out.push({ kind: "break", location: cx.at(node) });
}

/** Declares the locals that take a function's result, if an earlier attempt saw one. */
export function declareResult(cx: Lowering, shape: Shape | undefined, node: acorn.Node, name: string, part = ""): Value | undefined {
  if (!shape || shape.kind === "void") return undefined;
  if (shape.kind === "scalar") return cx.declare(name, node, undefined, false, `:result${part}`);
  if (shape.kind === "tuple") return { kind: "tuple", items: shape.items.map((s, i) => declareResult(cx, s, node, `${name}_${i}`, `${part}.${i}`)!) };
  return { kind: "record", fields: new Map([...shape.fields].map(([f, s]) => [f, declareResult(cx, s, node, `${name}_${f}`, `${part}.${f}`)!])) };
}

function shapeOf(value: Value): Shape {
  if (value.kind === "tuple") return { kind: "tuple", items: value.items.map(shapeOf) };
  if (value.kind === "record") return { kind: "record", fields: new Map([...value.fields].map(([f, v]) => [f, shapeOf(v)])) };
  return value.kind === "void" ? { kind: "void" } : { kind: "scalar" };
}

function store(cx: Lowering, target: Value, value: Value, node: acorn.Node): void {
  if (target.kind === "tuple" && value.kind === "tuple" && target.items.length === value.items.length)
    target.items.forEach((t, i) => store(cx, t, value.items[i], node));
  else if (target.kind === "record" && value.kind === "record") target.fields.forEach((t, f) => store(cx, t, value.fields.get(f) ?? { kind: "void" }, node));
  else if (target.kind === "variable") cx.assign(target, scalar(cx, value, node), node);
  else cx.fail(node, "this return differs in form from an earlier one", "return the same number of values everywhere");
}

function statement(cx: Lowering, node: acorn.Statement, scope: Scope, frame: Frame): void {
  switch (node.type) {
    case "EmptyStatement":
      return;
    case "BlockStatement":
      return statements(cx, node.body, new Scope(scope), frame);
    case "ReturnStatement":
      return finish(cx, node, scope, frame);
    case "VariableDeclaration":
      return declaration(cx, node, scope);
    case "ExpressionStatement":
      return effect(cx, node.expression, scope);
    case "IfStatement":
      return branch(cx, node, scope, [node.consequent], node.alternate ? [node.alternate] : [], frame);
    case "ForStatement":
      return forLoop(cx, node, scope, frame);
    case "WhileStatement":
      return loop(cx, node, scope, frame, node.test, node.body, []);
    case "DoWhileStatement": {
      const again = cx.flag("again", node);
      const body = (): void => {
        cx.assign(again, { kind: "scalar", expr: constant("bool", true) }, node);
        inLoop(frame, () => statement(cx, node.body, new Scope(scope), frame));
      };
      const cond = cx.collect(() => condition(cx, node.test, scope));
      if (cond.stmts.length) cx.fail(node.test, "the condition of do-while calls a function with statements", "write a while loop");
      const first: Expr = { op: "unary", type: "bool", fn: "not", a: read(again).expr };
      cx.out.push({
        kind: "while", cond: { op: "logical", type: "bool", fn: "or", a: first, b: cond.value }, body: cx.collect(body).stmts, update: [], location: cx.at(node),
      });
      return;
    }
    case "BreakStatement":
    case "ContinueStatement":
      if (node.label) cx.fail(node, "labels are not supported", "use a flag");
      if (frame.loops === 0) cx.fail(node, `${node.type === "BreakStatement" ? "break" : "continue"} outside a loop`);
      cx.out.push({ kind: node.type === "BreakStatement" ? "break" : "continue", location: cx.at(node) });
      return;
    default:
      cx.fail(node, `${SYNTAX[node.type] ?? node.type} is not part of the kernel language`, REMEDIES[node.type] ?? "see docs/language.md");
  }
}

const SYNTAX: Record<string, string> = {
  ForOfStatement: "for-of", ForInStatement: "for-in", SwitchStatement: "switch", TryStatement: "try", ThrowStatement: "throw", ClassDeclaration: "class", LabeledStatement: "a label",
};
const REMEDIES: Record<string, string> = {
  ForOfStatement: "count with for (let k = 0; k < n; k++)", ForInStatement: "count with for (let k = 0; k < n; k++)", SwitchStatement: "write if and else if",
  ThrowStatement: "kernels cannot throw; write an error code to a view",
};

function branch(cx: Lowering, node: acorn.IfStatement, scope: Scope, then: Statement[], other: Statement[], frame: Frame): void {
  const cond = condition(cx, node.test, scope);
  const a = cx.collect(() => statements(cx, then, new Scope(scope), frame));
  const b = cx.collect(() => statements(cx, other, new Scope(scope), frame));
  cx.out.push({ kind: "if", cond, then: a.stmts, else: b.stmts, location: cx.at(node) });
}

function declaration(cx: Lowering, node: acorn.VariableDeclaration, scope: Scope): void {
  for (const d of node.declarations) {
    if (!d.init) {
      if (d.id.type !== "Identifier") cx.fail(d, "a destructured declaration needs a value");
      scope.bind(d.id.name, cx.declare(d.id.name, d, undefined));
    } else bindPattern(cx, d.id, expression(cx, d.init, scope), scope, node.kind === "const");
  }
}

function effect(cx: Lowering, node: acorn.Expression, scope: Scope): void {
  if (node.type === "ParenthesizedExpression") effect(cx, node.expression, scope);
  else if (node.type === "AssignmentExpression") assignTo(cx, node, scope);
  else if (node.type === "UpdateExpression") updateTarget(cx, node, scope);
  else if (node.type === "CallExpression") callStatement(cx, node, scope);
  else if (node.type === "SequenceExpression") for (const part of node.expressions) effect(cx, part, scope);
  else if (node.type === "LogicalExpression" || node.type === "ConditionalExpression") cx.fail(node, "an expression used as a statement", "write if");
  else if (node.type !== "Literal") cx.fail(node, "this statement has no effect", "assign its value");
}

function inLoop(frame: Frame, body: () => void): void {
  frame.loops++;
  try {
    body();
  } finally {
    frame.loops--;
  }
}

function forLoop(cx: Lowering, node: acorn.ForStatement, outer: Scope, frame: Frame): void {
  const scope = new Scope(outer);
  const counted = countedLoop(cx, node, scope);
  if (counted) {
    const name = cx.unique(counted.name);
    const inner = new Scope(scope);
    inner.bind(counted.name, { kind: "variable", name, type: "i32", constant: true, key: `${cx.path}/${node.start}` });
    const { stmts } = cx.collect(() => inLoop(frame, () => statement(cx, node.body, inner, frame)));
    cx.out.push({ kind: "for", name, start: counted.start, stop: counted.stop, step: counted.step, body: stmts, location: cx.at(node) });
    return;
  }
  if (node.init?.type === "VariableDeclaration") declaration(cx, node.init, scope);
  else if (node.init) effect(cx, node.init, scope);
  loop(cx, node, scope, frame, node.test ?? undefined, node.body, node.update ? [node.update] : []);
}

/** A loop with its test at the top of the body if the test needs statements of its own. */
function loop(
  cx: Lowering, node: acorn.Node, scope: Scope, frame: Frame, test: acorn.Expression | undefined, body: acorn.Statement, updates: acorn.Expression[],
): void {
  const cond = cx.collect((): Expr => (test ? condition(cx, test, scope) : constant("bool", true)));
  const inner = cx.collect(() => inLoop(frame, () => statement(cx, body, new Scope(scope), frame)));
  const update = cx.collect(() => updates.forEach((u) => effect(cx, u, scope)));
  const head: Stmt[] = cond.stmts.length
    ? [...cond.stmts, { kind: "if", cond: cond.value, then: [], else: [{ kind: "break", location: cx.at(node) }], location: cx.at(node) }]
    : [];
  cx.out.push({ kind: "while", cond: head.length ? constant("bool", true) : cond.value, body: [...head, ...inner.stmts], update: update.stmts, location: cx.at(node) });
}

interface Counted {
  name: string;
  start: Expr;
  stop: Expr;
  step: number;
}

/** Recognises `for (let k = a; k < b; k += c)` with whole numbers, k untouched and b unchanged in the body. */
function countedLoop(cx: Lowering, node: acorn.ForStatement, scope: Scope): Counted | undefined {
  const { init, test, update } = node;
  if (init?.type !== "VariableDeclaration" || init.declarations.length !== 1 || !test || !update || test.type !== "BinaryExpression") return undefined;
  const d = init.declarations[0];
  if (d.id.type !== "Identifier" || !d.init || test.left.type !== "Identifier" || test.left.name !== d.id.name) return undefined;
  const step = stepOf(update, d.id.name);
  const towards = { "<": 1, "<=": 1, ">": -1, ">=": -1 }[test.operator as string];
  if (!step || Math.sign(step) !== towards) return undefined;

  const touched = assignedNames(node.body);
  if (touched.has(d.id.name)) return undefined;
  let steady = true;
  walkSyntax(test.right, (n) => {
    if (n.type === "Identifier" && touched.has(n.name)) steady = false;
    if (n.type === "CallExpression" && !(n.callee.type === "MemberExpression" && n.callee.object.type === "Identifier" && n.callee.object.name === "Math")) steady = false;
  });
  if (!steady) return undefined;

  const saved = cx.out.length;
  const start = scalar(cx, expression(cx, d.init, scope), d.init);
  const stop = scalar(cx, expression(cx, test.right, scope), test.right);
  const whole = (v: ScalarValue): boolean => v.expr.type === "i32" && v.weak !== "float";
  if (!whole(start) || !whole(stop)) {
    cx.out.length = saved;
    return undefined;
  }
  let bound = stop.expr;
  if (test.operator === "<=" || test.operator === ">=")
    bound = { op: "binary", type: "i32", fn: "add", a: bound, b: constant("i32", test.operator === "<=" ? 1 : -1) };
  if (!isLeaf(bound) && mentionsMemory(bound)) bound = cx.hold({ kind: "scalar", expr: bound }, test, "stop").expr;
  return { name: d.id.name, start: start.expr, stop: bound, step };
}

function mentionsMemory(e: Expr): boolean {
  if (e.op === "load" || e.op === "element") return true;
  return Object.values(e).some((v) => (Array.isArray(v) ? v : [v]).some((c) => c && typeof c === "object" && "op" in c && mentionsMemory(c as Expr)));
}

function stepOf(update: acorn.Expression, name: string): number | undefined {
  if (update.type === "UpdateExpression" && update.argument.type === "Identifier" && update.argument.name === name) return update.operator === "++" ? 1 : -1;
  if (update.type !== "AssignmentExpression" || update.left.type !== "Identifier" || update.left.name !== name) return undefined;
  const { right, operator } = update;
  if (right.type !== "Literal" || typeof right.value !== "number" || !Number.isInteger(right.value) || right.value <= 0) return undefined;
  return operator === "+=" ? right.value : operator === "-=" ? -right.value : undefined;
}

/** Names that are assigned, or whose elements are, and what is handed to functions that might. */
function assignedNames(body: acorn.Node): Set<string> {
  const names = new Set<string>();
  const root = (n: acorn.Node): void => {
    let at = n as acorn.AnyNode;
    while (at.type === "MemberExpression") at = at.object as acorn.AnyNode;
    if (at.type === "Identifier") names.add(at.name);
    else walkSyntax(at, (m) => m.type === "Identifier" && names.add(m.name));
  };
  walkSyntax(body, (n) => {
    if (n.type === "AssignmentExpression") root(n.left);
    else if (n.type === "UpdateExpression") root(n.argument);
    else if (n.type === "CallExpression" && n.callee.type === "Identifier")
      for (const a of n.arguments) if (a.type === "Identifier") names.add(a.name);
  });
  return names;
}

function returns(node: acorn.Node): boolean {
  let found = false;
  walkSyntax(node, (n) => {
    if (n.type === "ReturnStatement") found = true;
  });
  return found;
}

function alwaysReturns(node: acorn.Statement): boolean {
  if (node.type === "ReturnStatement") return true;
  if (node.type === "BlockStatement") return node.body.some((s) => alwaysReturns(s));
  return node.type === "IfStatement" && !!node.alternate && alwaysReturns(node.consequent) && alwaysReturns(node.alternate);
}

function hasLoop(node: acorn.Node): boolean {
  let found = false;
  walkSyntax(node, (n) => {
    if (n.type === "ForStatement" || n.type === "WhileStatement" || n.type === "DoWhileStatement") found = true;
  });
  return found;
}

