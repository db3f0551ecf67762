import type * as acorn from "acorn";
import type { BinaryFn, Expr, MathFn, NumericType, TeamResult, UnaryFn } from "../ir/types.js";
import { bindPattern, combine, declareArray, expression, METHODS, scalar, stored, wholeQuotient } from "./expressions.js";
import { type Frame, type Lowering } from "./lowering.js";
import { declareResult, statements } from "./statements.js";
import { literal } from "./types.js";
import { Scope, constant, isFloat, isInteger, walkSyntax, type FunctionValue, type ScalarValue, type Value, type Variable } from "./values.js";

const VOID: Value = { kind: "void" };

/** A call that stands as a statement. */
export function callStatement(cx: Lowering, node: acorn.CallExpression, scope: Scope): void {
  call(cx, node, scope);
}

export function call(cx: Lowering, node: acorn.CallExpression, scope: Scope): Value {
  let callee = node.callee;
  while (callee.type === "ParenthesizedExpression") callee = callee.expression;
  if (callee.type === "SequenceExpression") callee = callee.expressions[callee.expressions.length - 1];
  if (callee.type === "Super") return cx.fail(node, "super is not part of the kernel language");
  if (callee.type === "Identifier" && callee.name === "__name") return expression(cx, node.arguments[0], scope);
  if (callee.type === "MemberExpression") {
    const { object, property } = callee;
    const name = property.type === "Identifier" && !callee.computed ? property.name : "";
    if (object.type === "Identifier" && !scope.find(object.name) && object.name !== "Math" && object.name !== "console" && object.name !== "Number") {
      if (name === "mulhi") return builtin(cx, name, node, scope);
      return cx.fail(callee, `captures "${object.name}.${name}", which is not a parameter`, `hand the function over: kernel(name, { ..., ${name} }, ({ ..., ${name} }, i) => ...)`);
    }
    if (object.type !== "Super") {
      const target = expression(cx, object, scope);
      const result = method(cx, target, name, node, scope);
      if (result) return result;
    }
  }
  const fn = expression(cx, callee, scope);
  if (fn.kind === "builtin") return builtin(cx, fn.name, node, scope);
  if (fn.kind === "function") return inline(cx, fn, node.arguments.map((a) => expression(cx, a, scope)), node);
  return cx.fail(node, "this is not a function", "call a helper that is a parameter, or a Math function");
}

function method(cx: Lowering, target: Value, name: string, node: acorn.CallExpression, scope: Scope): Value | undefined {
  const location = cx.at(node);
  if (target.kind === "scatter") {
    if (name !== METHODS[target.op]) return cx.fail(node, `${target.name} has no method "${name}"`, `it folds by ${target.op}: write ${target.name}.${METHODS[target.op]}(...)`);
    if (node.arguments.length !== target.rank + 1) return cx.fail(node, `${target.name} has rank ${target.rank} and is given ${node.arguments.length} arguments`, "give an index for each axis, then the value");
    const values = node.arguments.map((a) => scalar(cx, expression(cx, a, scope), a));
    const indices = values.slice(0, -1).map((v, k) => (v.expr.type === "u32" ? ({ op: "cast", type: "i32", a: v.expr } as Expr) : cx.converted(v, "i32", node.arguments[k], "an index must be i32")));
    cx.out.push({ kind: "scatter", target: target.name, indices, value: stored(cx, values[target.rank], target.element, node, target.name), location });
    return VOID;
  }
  if (target.kind === "reduce") {
    if (name !== METHODS[target.op]) return cx.fail(node, `${target.name} has no method "${name}"`, `it folds by ${target.op}: write ${target.name}.${METHODS[target.op]}(value)`);
    const value = scalar(cx, expression(cx, node.arguments[0] ?? cx.fail(node, "a value is missing"), scope), node);
    cx.out.push({ kind: "reduce", target: target.name, value: target.result ? cx.fit(value, target.result, node) : stored(cx, value, target.type, node, target.name), location });
    return VOID;
  }
  if (target.kind === "team") return team(cx, name, node, scope);
  if (target.kind === "array" && name === "fill") {
    const value = stored(cx, scalar(cx, expression(cx, node.arguments[0] ?? cx.fail(node, "a value is missing"), scope), node), target.type, node, "the private array");
    const held = cx.hold({ kind: "scalar", expr: value }, node).expr;
    const k = cx.unique("k");
    const at: Expr = { op: "local", type: "i32", name: k };
    cx.out.push({
      kind: "for", name: k, start: constant("i32", 0), stop: constant("i32", target.length), step: 1,
      body: [{ kind: "setElement", array: target.name, index: at, value: held, location }], location,
    });
    return VOID;
  }
  if (target.kind === "namespace" && target.name === "console") {
    if (cx.debug) return VOID;
    return cx.fail(node, "console is there on the device js-debug only", "run it there, or remove the call");
  }
  if (target.kind === "view" || target.kind === "table" || target.kind === "array" || target.kind === "tuple") return cx.fail(node, `arrays have no method "${name}" in a kernel`, "write a loop");
  return undefined;
}

/** Replaces a call by the function's body. */
export function inline(cx: Lowering, fn: FunctionValue, args: Value[], node: acorn.Node): Value {
  if (cx.stack.includes(fn.name) && fn.name !== "anonymous") return cx.fail(node, `${fn.name} calls itself`, "kernels have no recursion; write a loop");
  const scope = new Scope(fn.scope);
  const outer = { source: cx.source, path: cx.path };
  cx.stack.push(fn.name);
  cx.path = `${cx.path}/${node.start}>${fn.name}`;
  cx.source = fn.source;
  try {
    const changed = new Set<string>();
    walkSyntax(fn.node.body, (n) => {
      if (n.type === "AssignmentExpression" && n.left.type === "Identifier") changed.add(n.left.name);
      if (n.type === "UpdateExpression" && n.argument.type === "Identifier") changed.add(n.argument.name);
    });
    fn.node.params.forEach((p, i) => {
      const value = args[i] ?? VOID;
      const fresh = p.type === "Identifier" && changed.has(p.name);
      if (p.type === "Identifier" && !fresh && value.kind === "scalar") scope.bind(p.name, cx.hold(value, p, p.name));
      else if (p.type === "Identifier" && !fresh && value.kind !== "variable") scope.bind(p.name, value);
      else bindPattern(cx, p, value, scope, !fresh);
    });
    return body(cx, fn, scope);
  } finally {
    cx.stack.pop();
    cx.source = outer.source;
    cx.path = outer.path;
  }
}

function body(cx: Lowering, fn: FunctionValue, scope: Scope): Value {
  if (fn.node.body.type !== "BlockStatement") return expression(cx, fn.node.body, scope);
  const list = fn.node.body.body;
  const last = list[list.length - 1];
  const early = list.slice(0, -1);
  const frame: Frame = { key: cx.path, loops: 0 };
  if (last?.type === "ReturnStatement" && last.argument && !early.some(hasReturn)) {
    statements(cx, early, scope, frame);
    return expression(cx, last.argument, scope);
  }
  frame.result = declareResult(cx, cx.knowledge.shapes.get(`${cx.path}:result`), fn.node, `${fn.name}_result`);
  statements(cx, list, scope, frame);
  return frame.result ?? VOID;
}

function hasReturn(node: acorn.Node): boolean {
  let found = false;
  walkSyntax(node, (n) => {
    if (n.type === "ReturnStatement") found = true;
  });
  return found;
}

/** The callback of a team method, as the list of statements for one member index. */
function memberBody(cx: Lowering, node: acorn.CallExpression, position: number, scope: Scope, member: string, extra: Value[]): Value {
  const argument = node.arguments[position] ?? cx.fail(node, "a function is missing");
  const fn = expression(cx, argument, scope);
  if (fn.kind !== "function") return cx.fail(argument, "a function is needed here");
  const j: Value = { kind: "scalar", expr: { op: "local", type: "i32", name: member } };
  return inline(cx, fn, [j, ...extra], argument);
}

function team(cx: Lowering, name: string, node: acorn.CallExpression, scope: Scope): Value {
  const location = cx.at(node);
  if (name === "single") {
    const fn = expression(cx, node.arguments[0] ?? cx.fail(node, "a function is missing"), scope);
    if (fn.kind !== "function") return cx.fail(node, "a function is needed here");
    const { stmts } = cx.collect(() => inline(cx, fn, [], node));
    cx.out.push({ kind: "single", body: stmts, location });
    return VOID;
  }
  if (name === "scratch") {
    const [type, length] = node.arguments;
    if (type?.type !== "Literal" || !["f64", "f32", "i32", "u32"].includes(String(type.value))) return cx.fail(node, "the type of scratch must be written as a string", 'team.scratch("f64", 64)');
    const value = scalar(cx, expression(cx, length ?? cx.fail(node, "a length is missing"), scope), node).expr;
    if (value.op !== "const" || !Number.isInteger(value.value) || Number(value.value) < 1) return cx.fail(node, "the length of scratch must be constant", "use a number or a fixed(i32) parameter");
    return declareArray(cx, node, type.value as NumericType, Number(value.value), "scratch");
  }
  if (!["range", "sum", "min", "max", "reduce"].includes(name)) return cx.fail(node, `a team has no method "${name}"`, "it has range, sum, min, max, reduce, single, scratch, index and size");
  const first = node.arguments[0] ?? cx.fail(node, "a count is missing");
  const count = cx.hold({ kind: "scalar", expr: cx.converted(scalar(cx, expression(cx, first, scope), first), "i32", first, "a count must be i32") }, first, "count").expr;
  const member = cx.unique("j");
  if (name === "range") {
    const { stmts } = cx.collect(() => memberBody(cx, node, 1, scope, member, []));
    cx.out.push({ kind: "teamFor", name: member, count, body: stmts, location });
    return VOID;
  }
  if (name !== "reduce") {
    const result = resultVariable(cx, node, name, "");
    const { stmts } = cx.collect(() => {
      const value = scalar(cx, memberBody(cx, node, 1, scope, member, []), node);
      cx.out.push({ kind: "reduce", target: result.name, value: cx.fit(value, result, node), location });
    });
    cx.out.push({ kind: "teamReduce", name: member, count, results: [teamResult(result, name as TeamResult["op"])], body: stmts, location });
    return result;
  }
  const ops = resultOps(cx, node.arguments[1] ?? cx.fail(node, "the results are missing"));
  const results = new Map([...ops].map(([field, op]) => [field, { op, variable: resultVariable(cx, node, field, `.${field}`) }]));
  const folds: Value = {
    kind: "record",
    fields: new Map([...results].map(([field, { op, variable }]) => [field, { kind: "reduce", name: variable.name, type: variable.type as NumericType, op, result: variable } as Value])),
  };
  const { stmts } = cx.collect(() => memberBody(cx, node, 2, scope, member, [folds]));
  cx.out.push({ kind: "teamReduce", name: member, count, results: [...results.values()].map(({ op, variable }) => teamResult(variable, op)), body: stmts, location });
  return { kind: "record", fields: new Map([...results].map(([field, { variable }]) => [field, variable])) };
}

/** Reads `{ a: "sum", b: "max" }`. */
function resultOps(cx: Lowering, node: acorn.Expression | acorn.SpreadElement): Map<string, TeamResult["op"]> {
  if (node.type !== "ObjectExpression") return cx.fail(node, "the results must be written as an object", '{ a: "sum", b: "max" }');
  return new Map(node.properties.map((p) => {
    if (p.type !== "Property" || p.computed || p.value.type !== "Literal" || !["sum", "min", "max"].includes(String(p.value.value))) return cx.fail(p, 'a result is "sum", "min" or "max"');
    return [p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value), p.value.value as TeamResult["op"]];
  }));
}

function resultVariable(cx: Lowering, node: acorn.Node, name: string, part: string): Variable {
  const key = `${cx.path}/${node.start}:team${part}`;
  const learnt = cx.knowledge.types.get(key);
  return { kind: "variable", name: cx.unique(`${name}_`), type: learnt?.type ?? "f64", weak: learnt ? learnt.weak : "float", constant: true, key };
}

const teamResult = (v: Variable, op: TeamResult["op"]): TeamResult => ({ name: v.name, type: v.type as NumericType, op });

const UNARY: Record<string, UnaryFn> = { sqrt: "sqrt", abs: "abs", floor: "floor", ceil: "ceil", trunc: "trunc" };
const MATH: Record<string, number> = {
  exp: 1, expm1: 1, log: 1, log1p: 1, log2: 1, log10: 1, sin: 1, cos: 1, tan: 1, asin: 1, acos: 1, atan: 1, sinh: 1, cosh: 1, tanh: 1, cbrt: 1, pow: 2, atan2: 2, hypot: 2,
};

function builtin(cx: Lowering, qualified: string, node: acorn.CallExpression, scope: Scope): Value {
  const name = qualified.replace("Math.", "");
  const rounding = ["floor", "trunc"].includes(name) && node.arguments.length === 1 ? quotient(cx, node.arguments[0], name, scope) : undefined;
  if (rounding) return rounding;
  const args = node.arguments.map((a) => scalar(cx, expression(cx, a, scope), a));
  const arity = (n: number): void => {
    if (args.length !== n) cx.fail(node, `${qualified} takes ${n} argument${n > 1 ? "s" : ""} here, and is given ${args.length}`);
  };
  if (name === "mulhi" || name === "imul") {
    arity(2);
    const type = name === "mulhi" ? "u32" : "i32";
    const word = (v: ScalarValue): Expr => (isFloat(v.expr.type) && !v.weak ? cx.fail(node, `${name} of ${v.expr.type}`, "convert it first: (...) | 0") : v.expr.op === "const" ? constant(type, type === "u32" ? Number(v.expr.value) >>> 0 : Number(v.expr.value) | 0) : v.expr.type === type ? v.expr : { op: "cast", type, a: v.expr });
    return { kind: "scalar", expr: { op: "binary", type, fn: name === "mulhi" ? "mulhi" : "mul", a: word(args[0]), b: word(args[1]) } };
  }
  if (name === "clz32") {
    arity(1);
    return { kind: "scalar", expr: { op: "unary", type: "i32", fn: "clz", a: cx.converted(args[0], isInteger(args[0].expr.type) ? args[0].expr.type : "i32", node, "clz32 counts bits of an integer") } };
  }
  if (name === "fround") {
    arity(1);
    const [{ expr }] = args;
    if (expr.op === "const") return { kind: "scalar", expr: constant("f32", Math.fround(Number(expr.value))) };
    return { kind: "scalar", expr: expr.type === "f32" ? expr : { op: "cast", type: "f32", a: expr } };
  }
  if (name === "min" || name === "max") {
    if (!args.length) return cx.fail(node, `${qualified} needs arguments`);
    return args.reduce((a, b) => extremum(cx, name, a, b, node));
  }
  if (name in UNARY) {
    arity(1);
    if (isInteger(args[0].expr.type) && name !== "sqrt") return name === "abs" ? { ...args[0], expr: { op: "unary", type: args[0].expr.type, fn: "abs", a: args[0].expr } } : args[0];
    const a = real(cx, args[0], node);
    return a.expr.op === "const" && a.weak
      ? literal((Math as unknown as Record<string, (x: number) => number>)[name](a.expr.value as number))
      : { ...a, expr: { op: "unary", type: a.expr.type, fn: UNARY[name], a: a.expr } };
  }
  if (name === "round" || name === "sign") {
    arity(1);
    return name === "round" ? round(cx, args[0], node) : sign(cx, args[0], node);
  }
  if (name in MATH) {
    arity(MATH[name]);
    let reals = args.map((a) => real(cx, a, node));
    if (reals.every((a) => a.weak && a.expr.op === "const")) {
      const value = (Math as unknown as Record<string, (...x: number[]) => number>)[name](...reals.map((a) => (a.expr as { value: number }).value));
      return { kind: "scalar", expr: constant("f64", value), weak: "float" };
    }
    if (reals.length === 2) {
      const m = cx.met(reals[0], reals[1], node);
      reals = [{ kind: "scalar", expr: m.a }, { kind: "scalar", expr: m.b }];
    }
    return { kind: "scalar", expr: { op: "call", type: reals[0].expr.type as NumericType, fn: name as MathFn, args: reals.map((a) => a.expr) } };
  }
  return cx.fail(node, `${qualified} is not part of the kernel language`, name === "random" ? "draw from a counter: see philox" : "see docs/language.md for the functions that are");
}

/** Math.floor(a / b) and Math.trunc(a / b) of integers are integers. */
function quotient(cx: Lowering, node: acorn.Expression | acorn.SpreadElement, name: string, scope: Scope): Value | undefined {
  if (node.type !== "BinaryExpression" || node.operator !== "/" || node.left.type === "PrivateIdentifier") return undefined;
  const a = scalar(cx, expression(cx, node.left, scope), node.left);
  const b = scalar(cx, expression(cx, node.right, scope), node.right);
  const whole = wholeQuotient(cx, a, b, node);
  if (!whole) {
    const value = combine(cx, "/", a, b, node);
    const { expr } = real(cx, value, node);
    return { kind: "scalar", expr: { op: "unary", type: expr.type, fn: UNARY[name], a: expr } };
  }
  if (name === "trunc") return whole;
  const wide = (e: Expr): Expr => ({ op: "cast", type: "f64", a: e });
  const exact: Expr = { op: "binary", type: "f64", fn: "div", a: wide(a.expr), b: wide(b.expr) };
  return { kind: "scalar", expr: { op: "cast", type: whole.expr.type, a: { op: "unary", type: "f64", fn: "floor", a: exact } } };
}

function real(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  if (isFloat(value.expr.type)) return value;
  return { kind: "scalar", expr: cx.converted(value, "f64", node, "the function takes a float"), weak: value.weak ? "float" : undefined };
}

function extremum(cx: Lowering, fn: BinaryFn & ("min" | "max"), a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  const m = cx.met(a, b, node);
  if (m.type === "bool") return cx.fail(node, `Math.${fn} of truth values`);
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn, a: m.a, b: m.b }, weak: m.weak };
}

/** Halves go up, as Math.round does; a result of zero is +0. */
function round(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  if (isInteger(value.expr.type)) return value;
  const x = cx.hold(value, node).expr;
  const floor = cx.hold({ kind: "scalar", expr: { op: "unary", type: x.type, fn: "floor", a: x } }, node).expr;
  const part: Expr = { op: "binary", type: x.type, fn: "sub", a: x, b: floor };
  const up: Expr = { op: "binary", type: x.type, fn: "add", a: floor, b: constant(x.type, 1) };
  return { kind: "scalar", expr: { op: "select", type: x.type, cond: { op: "compare", type: "bool", fn: "ge", a: part, b: constant(x.type, 0.5) }, a: up, b: floor } };
}

function sign(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  const x = cx.hold(value, node).expr;
  const { type } = x;
  const compare = (fn: "gt" | "lt"): Expr => ({ op: "compare", type: "bool", fn, a: x, b: constant(type, 0) });
  const negative: Expr = type === "u32" ? x : { op: "select", type, cond: compare("lt"), a: constant(type, -1), b: x };
  return { kind: "scalar", expr: { op: "select", type, cond: compare("gt"), a: constant(type, 1), b: negative } };
}
