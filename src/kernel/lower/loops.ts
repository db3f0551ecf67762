import { isIndex, isWord } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { Expr, Stmt } from "../../ir/types.js";
import { inclusiveStop } from "../../ir/loop-stops.js";
import { exprsOf, walkExpr, walkStmts } from "../../ir/walk.js";
import { readVariable, type CallFrame, type Lowering } from "./lowering.js";
import { declaration } from "./statements.js";
import { countedForm, hasEffects, steppedForm, type CountedForm, type SteppedForm } from "../read/loop-forms.js";
import { assignedNames } from "../read/reassigned.js";
import { mentions } from "../read/syntax.js";
import { Scope, constantExpr, type ScalarValue, type LocalVariable } from "./values.js";
import { condition, scalarOf } from "./operands.js";

export function whileLoop(cx: Lowering, node: acorn.WhileStatement, scope: Scope, frame: CallFrame): void {
  loop(cx, node, scope, frame, node.test, undefined);
}

export function doWhileLoop(cx: Lowering, node: acorn.DoWhileStatement, scope: Scope, frame: CallFrame): void {
  const again = cx.flag("again", node, true);
  const { stmts } = loopBody(cx, node, scope, frame);
  const update = cx.collect(() => cx.assign(again, { kind: "scalar", expr: condition(cx, node.test, scope) }, node)).stmts;
  cx.out.push({ kind: "while", cond: readVariable(again).expr, body: stmts, update, location: cx.at(node) });
}

export function forLoop(cx: Lowering, node: acorn.ForStatement, outer: Scope, frame: CallFrame): void {
  const scope = new Scope(outer);
  if (countedLoop(cx, node, scope, frame)) return;
  if (node.init?.type === "VariableDeclaration") declaration(cx, node.init, scope);
  else if (node.init) cx.effect(node.init, scope);
  const counting = countingOf(cx, node, scope);
  if (counting) countingLoop(cx, node, scope, frame, counting);
  else loop(cx, node, scope, frame, node.test, node.update);
}

/** A counter by constant steps. One of its steps may leave the counter's type before the loop's test is false. */
interface Counting {
  readonly form: SteppedForm;
  readonly variable: LocalVariable;
  readonly type: "i32" | "u32";
}

function countingOf(cx: Lowering, node: acorn.ForStatement, scope: Scope): Counting | undefined {
  const form = steppedForm(node);
  if (!form || (!form.inclusive && Math.abs(form.step) === 1)) return undefined;
  if (form.tests.slice(0, form.at).some((test) => assignedNames(test).has(form.name))) return undefined;
  const variable = scope.find(form.name);
  if (variable?.kind !== "variable" || !isWord(variable.type)) return undefined;
  return { form, variable, type: variable.type };
}

const LIMITS = { i32: [-(2 ** 31), 2 ** 31 - 1], u32: [0, 2 ** 32 - 1] } as const;

/**
 * Lowers a loop that ends where JavaScript's counter would leave its type: there the test of the counter is false. If it, or a test before it,
 * changes something, these are evaluated once more, as in JavaScript.
 */
function countingLoop(
  cx: Lowering,
  node: acorn.ForStatement,
  scope: Scope,
  frame: CallFrame,
  { form: { name, step, tests, at, declared }, variable, type }: Counting,
): void {
  const location = cx.at(node);
  const more = cx.flag("more", node, true);
  const cond = cx.collect(() => condition(cx, node.test!, scope));
  const { stmts } = loopBody(cx, node, scope, frame);
  const before = tests.slice(0, at + 1).some(hasEffects) ? tests.slice(0, at + 1) : [];
  const wraps = declared === undefined || before.slice(0, at).some((test) => mentions(test, name));
  const update = cx.collect(() => {
    const q = readVariable(variable).expr;
    const [least, greatest] = LIMITS[type];
    const last = constantExpr(type, step > 0 ? greatest - step : least - step);
    cx.assign(more, { kind: "scalar", expr: { op: "compare", type: "bool", fn: step > 0 ? "le" : "ge", a: q, b: last } }, node);
    // A counter that nothing reads after its last turn keeps its value, so that no wrap is reported.
    if (wraps) return void cx.effect(node.update!, scope);
    const next: Expr = { op: "binary", type, fn: step > 0 ? "add" : "sub", a: q, b: constantExpr(type, Math.abs(step)) };
    cx.assign(variable, { kind: "scalar", expr: { op: "select", type, cond: readVariable(more).expr, a: next, b: q } }, node);
  }).stmts;
  if (before.length === 0 && cond.stmts.length === 0) {
    const whole: Expr = { op: "logical", type: "bool", fn: "and", a: readVariable(more).expr, b: cond.value };
    cx.out.push({ kind: "while", cond: whole, body: stmts, update, location });
    return;
  }
  const head = cx.collect(() => {
    for (const test of before) leaveUnless(cx, test, scope);
    cx.out.push({ kind: "if", cond: readVariable(more).expr, then: [], else: [{ kind: "break", location }], location });
    for (const test of tests.slice(before.length)) leaveUnless(cx, test, scope);
  }).stmts;
  cx.out.push({ kind: "while", cond: constantExpr("bool", true), body: [...head, ...stmts], update, location });
}

/** A loop; its test stands at the top of the body if it needs statements of its own. */
function loop(
  cx: Lowering,
  node: acorn.WhileStatement | acorn.ForStatement,
  scope: Scope,
  frame: CallFrame,
  test: acorn.Expression | null | undefined,
  step: acorn.Expression | null | undefined,
): void {
  const location = cx.at(node);
  const cond = cx.collect(() => (test ? condition(cx, test, scope) : constantExpr("bool", true)));
  const { stmts } = loopBody(cx, node, scope, frame);
  const update = cx.collect(() => step && cx.effect(step, scope)).stmts;
  if (!cond.stmts.length) cx.out.push({ kind: "while", cond: cond.value, body: stmts, update, location });
  else {
    const leave: Stmt = { kind: "if", cond: cond.value, then: [], else: [{ kind: "break", location }], location };
    cx.out.push({ kind: "while", cond: constantExpr("bool", true), body: [...cond.stmts, leave, ...stmts], update, location });
  }
}

/** The frame of a loop's body, where `break` leaves the loop. */
export const insideLoop = (frame: CallFrame): CallFrame => ({ ...frame, leaves: undefined });

function loopBody(cx: Lowering, node: { body: acorn.Statement }, scope: Scope, frame: CallFrame): { stmts: Stmt[] } {
  return cx.collect(() => cx.statement(node.body, new Scope(scope), insideLoop(frame)));
}

/**
 * Lowers `for (let k = a; k < b && more; k += c)` with whole numbers to a counted loop. Returns false, and leaves no code, if the loop is not of
 * that form or its body changes k or b.
 */
function countedLoop(cx: Lowering, node: acorn.ForStatement, scope: Scope, frame: CallFrame): boolean {
  const key = `${cx.path}/${node.start}`;
  const form = countedForm(node);
  if (!form || cx.knowledge.uncounted.has(key)) return false;
  const { name, step, inclusive } = form;

  const start = cx.collect(() => startOf(cx, form, scope));
  const stop = cx.collect(() => scalarOf(cx, form.stop, scope));
  const whole = ({ expr, weak }: ScalarValue): boolean => isIndex(expr.type) && weak !== "float";
  if (!whole(start.value) || !whole(stop.value) || stop.stmts.some((s) => s.kind !== "let")) return false;
  cx.out.push(...start.stmts, ...stop.stmts);

  let bound = stop.value.expr;
  const sources = sourcesOf([stop.value.expr, ...stop.stmts.flatMap(exprsOf)]);
  if (sources.memory) bound = cx.materialiseScalar({ kind: "scalar", expr: bound }, node, "stop").expr;
  if (inclusive) bound = inclusiveStop(bound, step);

  const counter = cx.unique(name);
  const inner = new Scope(scope);
  inner.bind(name, { kind: "variable", name: counter, type: "i32", constant: true, key, open: false });
  const { stmts } = cx.collect(() => {
    for (const more of form.conditions) leaveUnless(cx, more, inner);
    cx.statement(node.body, new Scope(inner), insideLoop(frame));
  });
  if (changes(stmts, sources.names)) {
    cx.knowledge.uncounted.add(key);
    cx.knowledge.fresh = true;
  }
  cx.out.push({ kind: "for", name: counter, start: start.value.expr, stop: bound, step, body: stmts, location: cx.at(node) });
  return true;
}

/** Leaves the loop unless a condition holds. */
function leaveUnless(cx: Lowering, test: acorn.Expression, scope: Scope): void {
  const location = cx.at(test);
  const cond = condition(cx, test, scope);
  cx.out.push({ kind: "if", cond, then: [], else: [{ kind: "break", location }], location });
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
