import type * as acorn from "acorn";
import type { Expr, Stmt } from "../ir/types.js";
import { exprsOf, walkExpr, walkStmts } from "../ir/walk.js";
import { read, type Frame, type Lowering } from "./lowering.js";
import { declaration } from "./statements.js";
import { assignedNames } from "./reassigned.js";
import { mentions } from "./syntax.js";
import { Scope, constant, type ScalarValue } from "./values.js";
import { condition, scalarOf } from "./operands.js";

export function whileLoop(cx: Lowering, node: acorn.WhileStatement, scope: Scope, frame: Frame): void {
  loop(cx, node, scope, frame, node.test, undefined);
}

export function doWhileLoop(cx: Lowering, node: acorn.DoWhileStatement, scope: Scope, frame: Frame): void {
  const again = cx.flag("again", node, true);
  const { stmts } = loopBody(cx, node, scope, frame);
  const update = cx.collect(() => cx.assign(again, { kind: "scalar", expr: condition(cx, node.test, scope) }, node)).stmts;
  cx.out.push({ kind: "while", cond: read(again).expr, body: stmts, update, location: cx.at(node) });
}

export function forLoop(cx: Lowering, node: acorn.ForStatement, outer: Scope, frame: Frame): void {
  const scope = new Scope(outer);
  if (countedLoop(cx, node, scope, frame)) return;
  if (node.init?.type === "VariableDeclaration") declaration(cx, node.init, scope);
  else if (node.init) cx.effect(node.init, scope);
  loop(cx, node, scope, frame, node.test, node.update);
}

/** A loop; its test stands at the top of the body if it needs statements of its own. */
function loop(
  cx: Lowering,
  node: acorn.WhileStatement | acorn.ForStatement,
  scope: Scope,
  frame: Frame,
  test: acorn.Expression | null | undefined,
  step: acorn.Expression | null | undefined,
): void {
  const location = cx.at(node);
  const cond = cx.collect((): Expr => (test ? condition(cx, test, scope) : constant("bool", true)));
  const { stmts } = loopBody(cx, node, scope, frame);
  const update = cx.collect(() => step && cx.effect(step, scope)).stmts;
  if (!cond.stmts.length) cx.out.push({ kind: "while", cond: cond.value, body: stmts, update, location });
  else {
    const head: Stmt[] = [...cond.stmts, { kind: "if", cond: cond.value, then: [], else: [{ kind: "break", location }], location }];
    cx.out.push({ kind: "while", cond: constant("bool", true), body: [...head, ...stmts], update, location });
  }
}

function loopBody(cx: Lowering, node: { body: acorn.Statement }, scope: Scope, frame: Frame): { stmts: Stmt[] } {
  return cx.collect(() => cx.statement(node.body, new Scope(scope), frame));
}

/**
 * Lowers `for (let k = a; k < b; k += c)` with whole numbers to a counted loop. Returns false, and leaves no code, if the loop is not of
 * that form or its body changes k or b.
 */
function countedLoop(cx: Lowering, node: acorn.ForStatement, scope: Scope, frame: Frame): boolean {
  const key = `${cx.path}/${node.start}`;
  const form = countedForm(node);
  if (!form || cx.knowledge.uncounted.has(key)) return false;
  const { name, step, inclusive } = form;

  const start = cx.collect(() => startOf(cx, form, scope));
  const stop = cx.collect(() => scalarOf(cx, form.stop, scope));
  const whole = ({ expr, weak }: ScalarValue): boolean => expr.type === "i32" && weak !== "float";
  if (!whole(start.value) || !whole(stop.value) || stop.stmts.some((s) => s.kind !== "let")) return false;
  cx.out.push(...start.stmts, ...stop.stmts);

  let bound = stop.value.expr;
  if (inclusive) bound = { op: "binary", type: "i32", fn: "add", a: bound, b: constant("i32", Math.sign(step)) };
  const sources = sourcesOf([stop.value.expr, ...stop.stmts.flatMap(exprsOf)]);
  if (sources.memory) bound = cx.materialiseScalar({ kind: "scalar", expr: bound }, node, "stop").expr;

  const counter = cx.unique(name);
  const inner = new Scope(scope);
  inner.bind(name, { kind: "variable", name: counter, type: "i32", constant: true, key, open: false });
  const { stmts } = loopBody(cx, node, inner, frame);
  if (changes(stmts, sources.names)) {
    cx.knowledge.uncounted.add(key);
    cx.knowledge.fresh = true;
  }
  cx.out.push({ kind: "for", name: counter, start: start.value.expr, stop: bound, step, body: stmts, location: cx.at(node) });
  return true;
}

/** The counter's first value; what else the loop declares is bound in the scope. */
function startOf(cx: Lowering, { name, declared }: CountedForm, scope: Scope): ScalarValue {
  let start: ScalarValue | undefined;
  for (const d of declared.declarations) {
    if (start) start = cx.materialiseScalar(start, d);
    if (d.id.type === "Identifier" && d.id.name === name) start = scalarOf(cx, d.init!, scope);
    else declaration(cx, { ...declared, declarations: [d] }, scope);
  }
  return start!;
}

interface CountedForm {
  name: string;
  declared: acorn.VariableDeclaration;
  stop: acorn.Expression;
  /** The loop runs for the stop itself, too. */
  inclusive: boolean;
  step: number;
}

function countedForm({ init, test, update, body }: acorn.ForStatement): CountedForm | undefined {
  if (init?.type !== "VariableDeclaration" || test?.type !== "BinaryExpression" || test.left.type === "PrivateIdentifier" || !update)
    return undefined;
  const updated = update.type === "UpdateExpression" ? update.argument : update.type === "AssignmentExpression" ? update.left : undefined;
  if (updated?.type !== "Identifier") return undefined;
  const { name } = updated;
  const isCounter = (n: acorn.Node): boolean => n.type === "Identifier" && (n as acorn.Identifier).name === name;
  if (!init.declarations.some((d) => isCounter(d.id) && d.init)) return undefined;

  const step = stepOf(update, isCounter);
  const [stop, operator] = isCounter(test.left) ? [test.right, test.operator] : [test.left, FLIPPED[test.operator]];
  if (!step || (step > 0 ? operator !== "<" && operator !== "<=" : operator !== ">" && operator !== ">=")) return undefined;
  if (stop === test.left && !isCounter(test.right)) return undefined;
  if (assignedNames(body).has(name) || mentions(stop, name)) return undefined;
  return { name, declared: init, stop, inclusive: operator.endsWith("="), step };
}
const FLIPPED: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** c of `k += c`, `k -= c`, `k = k + c`, `k++` and their kin. */
function stepOf(update: acorn.Expression, isCounter: (n: acorn.Node) => boolean): number | undefined {
  if (update.type === "UpdateExpression") return update.operator === "++" ? 1 : -1;
  if (update.type !== "AssignmentExpression") return undefined;
  let { right, operator }: { right: acorn.Expression; operator: string } = update;
  if (operator === "=" && right.type === "BinaryExpression" && isCounter(right.left))
    [right, operator] = [right.right, `${right.operator}=`];
  const size = right.type === "Literal" ? right.value : undefined;
  if (typeof size !== "number" || !Number.isInteger(size) || size <= 0) return undefined;
  return operator === "+=" ? size : operator === "-=" ? -size : undefined;
}

/** Locals, views and arrays that expressions read; `memory` is set if there are views or arrays among them. */
function sourcesOf(exprs: readonly Expr[]): { names: Set<string>; memory: boolean } {
  const names = new Set<string>();
  let memory = false;
  for (const expr of exprs)
    walkExpr(expr, (e) => {
      if (e.op === "local") names.add(e.name);
      if (e.op === "load") names.add(e.view);
      if (e.op === "element") names.add(e.array);
      memory ||= e.op === "load" || e.op === "element";
    });
  return { names, memory };
}

function changes(stmts: readonly Stmt[], names: ReadonlySet<string>): boolean {
  let found = false;
  walkStmts(stmts, (s) => {
    found ||=
      (s.kind === "assign" && names.has(s.name)) ||
      (s.kind === "store" && names.has(s.view)) ||
      (s.kind === "setElement" && names.has(s.array));
  });
  return found;
}
