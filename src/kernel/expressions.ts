import type * as acorn from "acorn";
import type { BinaryFn, CompareFn, Expr, NumericType, ScalarType } from "../ir/types.js";
import { constantOf } from "./constant.js";
import { call } from "./calls.js";
import { read, type Lowering } from "./lowering.js";
import { convert, literal } from "./types.js";
import { Scope, constant, isFloat, isInteger, isLeaf, type ScalarValue, type Value } from "./values.js";

type Node = acorn.Expression | acorn.PrivateIdentifier | acorn.SpreadElement | acorn.Super;

/** Lowers an expression. Calls that need statements put them before the statement it stands in. */
export function expression(cx: Lowering, node: Node, scope: Scope): Value {
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "number") return literal(node.value);
      if (typeof node.value === "boolean") return { kind: "scalar", expr: constant("bool", node.value) };
      return cx.fail(node, `${node.raw ?? "this literal"} is not a number`, "kernels know numbers and truth values");
    case "ParenthesizedExpression":
      return expression(cx, node.expression, scope);
    case "Identifier":
      return identifier(cx, node, scope);
    case "MemberExpression":
      return member(cx, node, scope);
    case "UnaryExpression":
      return unary(cx, node, scope);
    case "BinaryExpression":
      return binary(cx, node, scope);
    case "LogicalExpression":
      return logical(cx, node, scope);
    case "ConditionalExpression":
      return conditional(cx, node, scope);
    case "CallExpression":
      return call(cx, node, scope);
    case "NewExpression":
      return newArray(cx, node, scope);
    case "ArrayExpression":
      return { kind: "tuple", items: node.elements.map((e) => held(cx, expression(cx, e!, scope), e!)) };
    case "ObjectExpression":
      return record(cx, node, scope);
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return { kind: "function", name: "anonymous", node, source: cx.source, scope };
    case "AssignmentExpression":
    case "UpdateExpression":
      return cx.fail(node, "an assignment is used as a value", "write it as a statement of its own");
    case "SequenceExpression":
      if (node.expressions.length === 2 && node.expressions[0].type === "Literal") return expression(cx, node.expressions[1], scope);
      return cx.fail(node, "a comma expression", "write statements");
    default:
      return cx.fail(node, `${node.type} is not part of the kernel language`, "see docs/language.md");
  }
}

/** `value` as a scalar, or an error that says what it is instead. */
export function scalar(cx: Lowering, value: Value, node: acorn.Node): ScalarValue {
  switch (value.kind) {
    case "scalar":
      return value;
    case "variable":
      return read(value);
    case "view":
      return cx.fail(node, `${value.name} is a view of rank ${value.rank} and is used with ${value.prefix.length} ${value.prefix.length === 1 ? "index" : "indices"} as a number`, "give an index for each axis");
    case "table":
      return cx.fail(node, `${value.name} is a table of rank ${value.shape.length}, used as a number`, "give an index for each axis");
    case "scatter":
      return cx.fail(node, `${value.name} is a scatter target: a kernel adds into it and cannot read it`, `write ${value.name}.${METHODS[value.op]}(index, value)`);
    case "reduce":
      return cx.fail(node, `${value.name} is a reduction: a kernel folds into it and cannot read it`, `write ${value.name}.${METHODS[value.op]}(value)`);
    case "void":
      return cx.fail(node, "a function that returns nothing is used as a value", "return a value on every path");
    default:
      return cx.fail(node, `${DESCRIPTIONS[value.kind] ?? value.kind} is used as a number`);
  }
}
export const METHODS = { sum: "add", min: "min", max: "max", custom: "merge" } as const;
const DESCRIPTIONS: Partial<Record<Value["kind"], string>> = {
  array: "a private array", tuple: "an array literal", record: "an object", function: "a function", builtin: "a function", params: "the record of parameters", team: "the team",
};

const scalarOf = (cx: Lowering, node: Node, scope: Scope): ScalarValue => scalar(cx, expression(cx, node, scope), node);

/** An expression as a truth value; numbers are true where they are not zero (NaN is false), as in JavaScript. */
export function condition(cx: Lowering, node: Node, scope: Scope): Expr {
  const { expr } = scalarOf(cx, node, scope);
  return expr.type === "bool" ? expr : { op: "cast", type: "bool", a: expr };
}

/** An expression as an i32 index. */
function index(cx: Lowering, node: Node, scope: Scope): Expr {
  const value = scalarOf(cx, node, scope);
  if (value.expr.type === "u32") return { op: "cast", type: "i32", a: value.expr };
  return cx.converted(value, "i32", node, "an index must be i32");
}

function identifier(cx: Lowering, node: acorn.Identifier, scope: Scope): Value {
  const value = scope.find(node.name);
  if (value) return value;
  const known = { Infinity, NaN }[node.name];
  if (known !== undefined) return literal(known);
  if (node.name === "Math" || node.name === "Number" || node.name === "console") return { kind: "namespace", name: node.name };
  if (node.name === "mulhi") return { kind: "builtin", name: "mulhi" };
  if (node.name === "undefined") return cx.fail(node, "undefined is no value of the kernel language");
  return cx.fail(node, `captures "${node.name}", which is not a parameter`, `declare it: kernel(name, { ..., ${node.name} }, ({ ..., ${node.name} }, i) => ...)`);
}

function member(cx: Lowering, node: acorn.MemberExpression, scope: Scope): Value {
  if (node.object.type === "Super") return cx.fail(node, "super is not part of the kernel language");
  const object = expression(cx, node.object, scope);
  if (node.computed) return element(cx, object, node, scope);
  return property(cx, object, (node.property as acorn.Identifier).name, node);
}

function element(cx: Lowering, object: Value, node: acorn.MemberExpression, scope: Scope): Value {
  const property = node.property as acorn.Expression;
  switch (object.kind) {
    case "view": {
      const prefix = [...object.prefix, index(cx, property, scope)];
      if (prefix.length < object.rank) return { ...object, prefix };
      return { kind: "scalar", expr: { op: "load", type: object.element, view: object.name, indices: prefix, location: cx.at(node) } };
    }
    case "table": {
      const prefix = [...object.prefix, index(cx, property, scope)];
      if (prefix.length < object.shape.length) return { ...object, prefix };
      return { kind: "scalar", expr: { op: "table", type: object.type, table: object.name, indices: prefix } };
    }
    case "array":
      return { kind: "scalar", expr: { op: "element", type: object.type, array: object.name, index: index(cx, property, scope), location: cx.at(node) } };
    case "tuple": {
      const at = constantOf(cx, index(cx, property, scope));
      if (at === undefined) return cx.fail(node, "an array literal is indexed by something that is not constant", "use new Float64Array(n), or a table parameter");
      return object.items[Number(at)] ?? cx.fail(node, `index ${at} of an array literal of length ${object.items.length}`);
    }
    case "scatter":
      return cx.fail(node, `${object.name} is a scatter target: a kernel adds into it and cannot read it`, `write ${object.name}.${METHODS[object.op]}(index, value)`);
    default:
      scalar(cx, object, node);
      return cx.fail(node, "a number is indexed", "check the number of indices against the rank of the view");
  }
}

function property(cx: Lowering, object: Value, name: string, node: acorn.MemberExpression): Value {
  if (name === "length") {
    if (object.kind === "view") return { kind: "scalar", expr: { op: "extent", type: "i32", view: object.name, axis: object.prefix.length } };
    if (object.kind === "table") return literal(object.shape[object.prefix.length]);
    if (object.kind === "array") return literal(object.length);
    if (object.kind === "tuple") return literal(object.items.length);
  }
  if (object.kind === "params") return cx.globals.find(name) ?? cx.fail(node, `there is no parameter "${name}"`);
  if (object.kind === "record") return object.fields.get(name) ?? cx.fail(node, `the object has no field "${name}"`);
  if (object.kind === "team" && name === "index") return { kind: "scalar", expr: { op: "index", type: "i32", axis: 0 } };
  if (object.kind === "team" && name === "size") return { kind: "scalar", expr: { op: "teamSize", type: "i32" } };
  if (object.kind === "namespace") {
    const value = object.name === "Math" ? (Math as unknown as Record<string, unknown>)[name] : object.name === "Number" ? (Number as unknown as Record<string, unknown>)[name] : undefined;
    if (typeof value === "number") return { kind: "scalar", expr: constant("f64", value), weak: "float" };
    if (object.name !== "Number" && (typeof value === "function" || object.name === "console")) return { kind: "builtin", name: `${object.name}.${name}` };
    return cx.fail(node, `${object.name}.${name} is not part of the kernel language`);
  }
  // a module's namespace, as bundlers and test runners write it: (0, module.name)(...)
  return cx.fail(node, `".${name}" is not known here`, "see docs/language.md for what views, teams and reductions offer");
}

function unary(cx: Lowering, node: acorn.UnaryExpression, scope: Scope): Value {
  if (node.operator === "!") return { kind: "scalar", expr: { op: "unary", type: "bool", fn: "not", a: condition(cx, node.argument, scope) } };
  const value = scalarOf(cx, node.argument, scope);
  const { type } = value.expr;
  if (node.operator === "+") return { kind: "scalar", expr: cx.converted(value, "f64", node, "unary + gives f64") };
  if (type === "bool") return cx.fail(node, `${node.operator} of a truth value`, "write condition ? 1 : 0 for a number");
  if (node.operator === "-") {
    if (value.expr.op === "const" && value.weak) return literal(-(value.expr.value as number));
    if (type === "u32") return cx.fail(node, "a u32 is negated", "write (0 - x) >>> 0, or (x | 0) first");
    return { ...value, expr: { op: "unary", type, fn: "neg", a: value.expr } };
  }
  if (node.operator === "~") return { kind: "scalar", expr: { op: "unary", type: "i32", fn: "bitnot", a: bits(cx, value, node) }, weak: value.weak };
  return cx.fail(node, `${node.operator} is not part of the kernel language`);
}

/** An operand of a bit operation: JavaScript works on 32 signed bits. */
function bits(cx: Lowering, value: ScalarValue, node: acorn.Node): Expr {
  if (value.weak && value.expr.op === "const" && Number.isInteger(value.expr.value)) return constant("i32", Number(value.expr.value) | 0);
  if (isFloat(value.expr.type)) return cx.fail(node, `a bit operation on ${value.expr.type}`, "convert it first: (...) | 0");
  return value.expr.type === "i32" ? value.expr : { op: "cast", type: "i32", a: value.expr };
}

const ARITHMETIC: Record<string, BinaryFn> = { "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem" };
const COMPARE: Record<string, CompareFn> = { "==": "eq", "===": "eq", "!=": "ne", "!==": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" };
const BITS: Record<string, BinaryFn> = { "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr" };

function binary(cx: Lowering, node: acorn.BinaryExpression, scope: Scope): Value {
  if (node.left.type === "PrivateIdentifier") return cx.fail(node, "private names are not part of the kernel language");
  const toInteger = node.right.type === "Literal" && node.right.value === 0 && (node.operator === "|" || node.operator === ">>>");
  if (toInteger) return asInteger(cx, node.left, node.operator === "|" ? "i32" : "u32", scope);
  return combine(cx, node.operator, scalarOf(cx, node.left, scope), scalarOf(cx, node.right, scope), node);
}

/** `a operator b`, for binary expressions and compound assignments. */
export function combine(cx: Lowering, operator: string, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  if (operator in COMPARE) {
    const m = cx.met(a, b, node);
    if (m.type === "bool" && !["eq", "ne"].includes(COMPARE[operator])) cx.fail(node, "truth values are ordered", "compare numbers");
    return { kind: "scalar", expr: { op: "compare", type: "bool", fn: COMPARE[operator], a: m.a, b: m.b } };
  }
  if (operator === "**") {
    const m = cx.met(a, b, node);
    const type = isFloat(m.type) ? (m.type as NumericType) : cx.fail(node, "** of integers", "multiply, or convert one operand with unary +");
    return { kind: "scalar", expr: { op: "call", type, fn: "pow", args: [m.a, m.b] }, weak: m.weak };
  }
  if (operator === ">>>") {
    const u: Expr = { op: "cast", type: "u32", a: bits(cx, a, node) };
    return { kind: "scalar", expr: { op: "binary", type: "u32", fn: "shr", a: u, b: { op: "cast", type: "u32", a: bits(cx, b, node) } } };
  }
  if (operator in BITS) {
    if (a.expr.type === "bool" && b.expr.type === "bool" && operator !== "<<" && operator !== ">>") {
      if (operator === "^") return { kind: "scalar", expr: { op: "compare", type: "bool", fn: "ne", a: a.expr, b: b.expr } };
      return { kind: "scalar", expr: { op: "logical", type: "bool", fn: operator === "&" ? "and" : "or", a: a.expr, b: b.expr } };
    }
    const weak = a.weak && b.weak ? "int" : undefined;
    return { kind: "scalar", expr: { op: "binary", type: "i32", fn: BITS[operator], a: bits(cx, a, node), b: bits(cx, b, node) }, weak };
  }
  const fn = ARITHMETIC[operator] ?? cx.fail(node, `the operator ${operator} is not part of the kernel language`);
  const m = cx.met(a, b, node);
  if (m.type === "bool") return cx.fail(node, `${operator} of truth values`, "write condition ? 1 : 0 for a number");
  if (a.weak && b.weak && a.expr.op === "const" && b.expr.op === "const") return weakConstant(fn, a.expr.value as number, b.expr.value as number);
  if (fn === "div" && isInteger(m.type))
    return cx.fail(node, "integers are divided, which gives a fraction", "write (a / b) | 0 for the whole part, or +a / b for the fraction");
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn, a: m.a, b: m.b }, weak: m.weak };
}

function weakConstant(fn: BinaryFn, a: number, b: number): ScalarValue {
  const value = fn === "add" ? a + b : fn === "sub" ? a - b : fn === "mul" ? a * b : fn === "div" ? a / b : a % b;
  return literal(value);
}

/** `x | 0` and `x >>> 0`; of a quotient of integers, the whole part. */
function asInteger(cx: Lowering, left: acorn.Expression, type: "i32" | "u32", scope: Scope): ScalarValue {
  let inner = left;
  while (inner.type === "ParenthesizedExpression") inner = inner.expression;
  if (inner.type === "BinaryExpression" && inner.operator === "/" && inner.left.type !== "PrivateIdentifier") {
    const a = scalarOf(cx, inner.left, scope), b = scalarOf(cx, inner.right, scope);
    return truncated(wholeQuotient(cx, a, b, inner) ?? combine(cx, "/", a, b, inner), type);
  }
  const value = scalarOf(cx, left, scope);
  if (value.expr.type === "bool") return { kind: "scalar", expr: { op: "cast", type, a: value.expr } };
  if (value.weak && value.expr.op === "const") {
    const number = Number(value.expr.value);
    return { kind: "scalar", expr: constant(type, type === "i32" ? number | 0 : number >>> 0) };
  }
  return truncated(value, type);
}

function truncated(value: ScalarValue, type: "i32" | "u32"): ScalarValue {
  return { kind: "scalar", expr: value.expr.type === type ? value.expr : { op: "cast", type, a: value.expr } };
}

/** The truncated quotient of two integers; undefined if an operand is a float. */
export function wholeQuotient(cx: Lowering, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue | undefined {
  const m = cx.met(a, b, node);
  if (!isInteger(m.type) || (a.weak && b.weak)) return undefined;
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn: "div", a: m.a, b: m.b } };
}

function logical(cx: Lowering, node: acorn.LogicalExpression, scope: Scope): Value {
  if (node.operator === "??") return cx.fail(node, "?? is not part of the kernel language");
  const a = condition(cx, node.left, scope);
  const b = cx.collect(() => condition(cx, node.right, scope));
  const fn = node.operator === "&&" ? "and" : "or";
  if (!b.stmts.length) return { kind: "scalar", expr: { op: "logical", type: "bool", fn, a, b: b.value } };
  const name = cx.unique("t");
  const location = cx.at(node);
  const local: Expr = { op: "local", type: "bool", name };
  cx.out.push({ kind: "let", name, type: "bool", init: a, location });
  const more = [...b.stmts, { kind: "assign" as const, name, value: b.value, location }];
  cx.out.push({ kind: "if", cond: local, then: fn === "and" ? more : [], else: fn === "and" ? [] : more, location });
  return { kind: "scalar", expr: local };
}

function conditional(cx: Lowering, node: acorn.ConditionalExpression, scope: Scope): Value {
  const cond = condition(cx, node.test, scope);
  const known = constantOf(cx, cond);
  if (known !== undefined) return expression(cx, known ? node.consequent : node.alternate, scope);
  const a = cx.collect(() => expression(cx, node.consequent, scope));
  const b = cx.collect(() => expression(cx, node.alternate, scope));
  const m = cx.met(scalar(cx, a.value, node.consequent), scalar(cx, b.value, node.alternate), node);
  if (!a.stmts.length && !b.stmts.length) return { kind: "scalar", expr: { op: "select", type: m.type, cond, a: m.a, b: m.b }, weak: m.weak };
  const name = cx.unique("t");
  const location = cx.at(node);
  cx.out.push({ kind: "let", name, type: m.type, location });
  cx.out.push({
    kind: "if", cond,
    then: [...a.stmts, { kind: "assign", name, value: m.a, location }],
    else: [...b.stmts, { kind: "assign", name, value: m.b, location }],
    location,
  });
  return { kind: "scalar", expr: { op: "local", type: m.type, name }, weak: m.weak };
}

const ARRAY_TYPES: Record<string, NumericType> = { Float64Array: "f64", Float32Array: "f32", Int32Array: "i32", Uint32Array: "u32" };

/** `new Float64Array(n)` and its kin: a private array. */
function newArray(cx: Lowering, node: acorn.NewExpression, scope: Scope): Value {
  const type = node.callee.type === "Identifier" ? ARRAY_TYPES[node.callee.name] : undefined;
  if (!type || node.arguments.length !== 1) return cx.fail(node, "only new Float64Array(n), Float32Array, Int32Array and Uint32Array make private arrays");
  const argument = node.arguments[0];
  if (argument.type === "ArrayExpression") {
    const items = argument.elements.map((e) => scalarOf(cx, e!, scope));
    const array = declareArray(cx, node, type, items.length, "private");
    items.forEach((value, i) =>
      cx.out.push({ kind: "setElement", array: array.name, index: constant("i32", i), value: cx.converted(value, type, node, `elements are ${type}`), location: cx.at(node) }));
    return array;
  }
  const length = constantOf(cx, scalarOf(cx, argument, scope).expr);
  if (typeof length !== "number" || !Number.isInteger(length) || length < 1 || length > 65536)
    return cx.fail(node, "the length of a private array must be a constant from 1 to 65536", "use a number or a fixed(i32) parameter");
  return declareArray(cx, node, type, length, "private");
}

export function declareArray(cx: Lowering, node: acorn.Node, type: NumericType, length: number, space: "private" | "scratch"): Value & { kind: "array" } {
  const name = cx.unique(space === "private" ? "array" : "scratch");
  cx.out.push({ kind: "array", name, type, length, space, location: cx.at(node) });
  return { kind: "array", name, type, length };
}

function record(cx: Lowering, node: acorn.ObjectExpression, scope: Scope): Value {
  const fields = new Map<string, Value>();
  for (const p of node.properties) {
    if (p.type !== "Property" || p.computed || p.kind !== "init") return cx.fail(p, "only plain fields are allowed in an object");
    const name = p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value);
    fields.set(name, held(cx, expression(cx, p.value, scope), p));
  }
  return { kind: "record", fields };
}

/** Scalars that stand in a tuple or record are evaluated now, not where they are used. */
function held(cx: Lowering, value: Value, node: acorn.Node): Value {
  if (value.kind === "variable") return value.constant ? value : cx.hold({ ...read(value), expr: read(value).expr }, node);
  return value.kind === "scalar" ? cx.hold(value, node) : value;
}

/** Binds the names of a declaration or parameter list to parts of a value. */
export function bindPattern(cx: Lowering, pattern: acorn.Pattern, value: Value, scope: Scope, constantName: boolean): void {
  switch (pattern.type) {
    case "Identifier":
      if (value.kind === "scalar" || value.kind === "variable") {
        const s = scalar(cx, value, pattern);
        const known = constantName ? constantOf(cx, s.expr) : undefined;
        if (known !== undefined) scope.bind(pattern.name, { ...s, expr: constant(s.expr.type, known) });
        else scope.bind(pattern.name, cx.declare(pattern.name, pattern, s, constantName));
      } else scope.bind(pattern.name, value.kind === "tuple" && !constantName ? variables(cx, value, pattern) : stable(cx, value, pattern));
      return;
    case "ArrayPattern":
      if (value.kind !== "tuple") return cx.fail(pattern, "only an array literal, or a function's array of results, can be taken apart");
      pattern.elements.forEach((e, i) => e && bindPattern(cx, e, value.items[i] ?? cx.fail(e, `there are ${value.items.length} values`), scope, constantName));
      return;
    case "ObjectPattern":
      for (const p of pattern.properties) {
        if (p.type === "RestElement" || p.computed) return cx.fail(p, "rest and computed names are not supported in a pattern");
        const name = p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value);
        const part = value.kind === "params" ? cx.globals.find(name) : value.kind === "record" ? value.fields.get(name) : undefined;
        if (!part) return cx.fail(p, value.kind === "params" ? `there is no parameter "${name}"` : `there is no field "${name}"`);
        if (value.kind === "params" && p.value.type === "Identifier") scope.bind(p.value.name, part);
        else bindPattern(cx, p.value, part, scope, constantName);
      }
      return;
    case "AssignmentPattern":
      return bindPattern(cx, pattern.left, value.kind === "void" ? expression(cx, pattern.right, scope) : value, scope, constantName);
    default:
      return cx.fail(pattern, `${pattern.type} is not supported in a declaration`);
  }
}

/** `let v = [a, b]`: each item a variable. */
function variables(cx: Lowering, value: Value & { kind: "tuple" }, node: acorn.Identifier): Value {
  return { kind: "tuple", items: value.items.map((item, i) => (item.kind === "scalar" || item.kind === "variable" ? cx.declare(`${node.name}_${i}`, node, scalar(cx, item, node), false, `.${i}`) : item)) };
}

/** A row of a view keeps the indices it had when it was named. */
function stable(cx: Lowering, value: Value, node: acorn.Node): Value {
  if (value.kind !== "view" && value.kind !== "table") return value;
  return { ...value, prefix: value.prefix.map((e) => (isLeaf(e) && e.op !== "local" ? e : cx.hold({ kind: "scalar", expr: e }, node).expr)) };
}

export function assignTo(cx: Lowering, node: acorn.AssignmentExpression, scope: Scope): void {
  const compound = node.operator === "=" ? undefined : node.operator.slice(0, -1);
  if (compound === "&&" || compound === "||" || compound === "??") cx.fail(node, `${node.operator} is not part of the kernel language`, "write if");
  const { left } = node;
  if (left.type === "ArrayPattern" || left.type === "ObjectPattern") return assignPattern(cx, left, expression(cx, node.right, scope), scope, node);
  let target = place(cx, left as acorn.Expression, scope);
  if (compound) target = steady(cx, target, node);
  const right = scalarOf(cx, node.right, scope);
  write(cx, target, compound ? combine(cx, compound, current(cx, target, node), right, node) : right, node);
}

export function updateTarget(cx: Lowering, node: acorn.UpdateExpression, scope: Scope): void {
  const target = steady(cx, place(cx, node.argument, scope), node);
  write(cx, target, combine(cx, node.operator === "++" ? "+" : "-", current(cx, target, node), literal(1), node), node);
}

function assignPattern(cx: Lowering, pattern: acorn.Pattern, value: Value, scope: Scope, node: acorn.Node): void {
  if (pattern.type !== "ArrayPattern" || value.kind !== "tuple") return cx.fail(node, "only [a, b] = [c, d] can assign several values");
  pattern.elements.forEach((e, i) => e && write(cx, place(cx, e as acorn.Expression, scope), scalar(cx, value.items[i] ?? { kind: "void" }, node), node));
}

type Place =
  | { kind: "variable"; variable: Value & { kind: "variable" } }
  | { kind: "view"; view: Value & { kind: "view" }; indices: Expr[] }
  | { kind: "element"; array: Value & { kind: "array" }; index: Expr };

/** What stands on the left of an assignment. */
function place(cx: Lowering, node: acorn.Expression, scope: Scope): Place {
  if (node.type === "ParenthesizedExpression") return place(cx, node.expression, scope);
  if (node.type === "Identifier") {
    const value = identifier(cx, node, scope);
    if (value.kind === "variable") return { kind: "variable", variable: value };
    return cx.fail(node, `${node.name} is a parameter or a constant and cannot be assigned`, "assign an element of a view, or a local declared with let");
  }
  if (node.type !== "MemberExpression" || !node.computed || node.object.type === "Super") return cx.fail(node, "this cannot be assigned");
  const object = expression(cx, node.object, scope);
  if (object.kind === "table") return cx.fail(node, `the table ${object.name} is constant`, "use a view");
  const value = element(cx, object, node, scope);
  if (value.kind === "variable") return { kind: "variable", variable: value };
  if (value.kind === "scalar" && value.expr.op === "load" && object.kind === "view") return { kind: "view", view: object, indices: value.expr.indices };
  if (value.kind === "scalar" && value.expr.op === "element" && object.kind === "array") return { kind: "element", array: object, index: value.expr.index };
  if (value.kind === "view") return cx.fail(node, `${value.name} is a view of rank ${value.rank}, assigned with ${value.prefix.length} indices`, "give an index for each axis");
  return cx.fail(node, "this cannot be assigned");
}

/** The same place with its indices evaluated once. */
function steady(cx: Lowering, target: Place, node: acorn.Node): Place {
  const once = (e: Expr): Expr => (pure(e) ? e : cx.hold({ kind: "scalar", expr: e }, node, "at").expr);
  if (target.kind === "view") return { ...target, indices: target.indices.map(once) };
  return target.kind === "element" ? { ...target, index: once(target.index) } : target;
}
const pure = (e: Expr): boolean => isLeaf(e) || (e.op === "binary" && pure(e.a) && pure(e.b));

function current(cx: Lowering, target: Place, node: acorn.Node): ScalarValue {
  const location = cx.at(node);
  if (target.kind === "variable") return read(target.variable);
  if (target.kind === "view") return { kind: "scalar", expr: { op: "load", type: target.view.element, view: target.view.name, indices: target.indices, location } };
  return { kind: "scalar", expr: { op: "element", type: target.array.type, array: target.array.name, index: target.index, location } };
}

function write(cx: Lowering, target: Place, value: ScalarValue, node: acorn.Node): void {
  const location = cx.at(node);
  if (target.kind === "variable") cx.assign(target.variable, value, node);
  else if (target.kind === "view")
    cx.out.push({ kind: "store", view: target.view.name, indices: target.indices, value: stored(cx, value, target.view.element, node, target.view.name), location });
  else
    cx.out.push({ kind: "setElement", array: target.array.name, index: target.index, value: stored(cx, value, target.array.type, node, "the private array"), location });
}

/** `value` in the type of the array that takes it. */
export function stored(cx: Lowering, value: ScalarValue, type: ScalarType, node: acorn.Node, name: string): Expr {
  const result = convert(value, type);
  if (!("problem" in result)) return result;
  return cx.fail(node, `${name} holds ${type}, and ${value.expr.type} is stored into it`, result.remedy);
}
