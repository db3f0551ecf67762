import { ELEMENTS, NUMERIC_TYPES } from "../ir/scalars.js";
import type * as acorn from "acorn";
import { localOf } from "../ir/build.js";
import type { Expr, NumericType } from "../ir/types.js";
import { assignTo, updateTarget } from "./assignments.js";
import { call } from "./calls.js";
import { constantOf } from "./constant.js";
import { component, coordinate, ownCell } from "./fields.js";
import { read, type Lowering } from "./lowering.js";
import { as, combine, cut, prefix, wholeQuotient } from "./operators.js";
import { effect } from "./statements.js";
import { literal } from "./types.js";
import { Scope, constant, type ScalarValue, type Value } from "./values.js";

type Node = acorn.Expression | acorn.PrivateIdentifier | acorn.SpreadElement | acorn.Super;

/** Lowers an expression. What it does besides giving a value goes before the statement in which it stands. */
export function expression(cx: Lowering, node: Node, scope: Scope): Value {
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "number") return literal(node.value);
      if (typeof node.value === "boolean") return { kind: "scalar", expr: constant("bool", node.value) };
      return cx.fail(node, `${node.raw ?? "this literal"} is not a number`, "kernels know numbers and truth values");
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
      return {
        kind: "tuple",
        items: node.elements.map((e) => cx.settle(expression(cx, e ?? cx.fail(node, "an element is missing"), scope), node)),
      };
    case "ObjectExpression":
      return record(cx, node, scope);
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return { kind: "function", name: "", node, source: cx.source, scope };
    case "AssignmentExpression":
      return assignTo(cx, node, scope, true);
    case "UpdateExpression":
      return updateTarget(cx, node, scope, true);
    case "SequenceExpression": {
      const last = node.expressions.length - 1;
      for (const part of node.expressions.slice(0, last)) effect(cx, part, scope);
      return expression(cx, node.expressions[last], scope);
    }
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
      return cx.fail(
        node,
        `${value.name} is a view of rank ${value.rank} and is used with ${value.prefix.length} ${value.prefix.length === 1 ? "index" : "indices"} as a number`,
        "give an index for each axis",
      );
    case "table":
      return cx.fail(node, `${value.name} is a table of rank ${value.shape.length}, used as a number`, "give an index for each axis");
    case "scatter":
      return cx.fail(
        node,
        `${value.name} is a scatter target: a kernel adds into it and cannot read it`,
        `write ${value.name}.${METHODS[value.op]}(index, value)`,
      );
    case "deposit":
      return cx.fail(node, `${value.name} is a field that particles add to`, `write ${value.name}.add(c, ..., value)`);
    case "reduce":
      return cx.fail(
        node,
        `${value.name} is a reduction: a kernel folds into it and cannot read it`,
        `write ${value.name}.${METHODS[value.op]}(value)`,
      );
    case "field":
      return cx.fail(node, `${value.name} is a field and is used as a number`, `write ${value.name}[c], or ${value.name}.at(c, ...)`);
    case "components":
      return cx.fail(
        node,
        `${value.field.name} has ${value.field.cardinality} components in a cell and is used as a number`,
        `write ${value.field.name}[c][k]`,
      );
    case "cell":
      return cx.fail(node, "the cell is used as a number", "write c.x, c.y or c.z for its coordinates");
    case "particle":
      return cx.fail(node, "the particle is used as a number", "write x[p], with a column x of its species");
    case "void":
      return cx.fail(node, "a function that returns nothing is used as a value", "return a value on every path");
    default:
      return cx.fail(node, `${DESCRIPTIONS[value.kind] ?? value.kind} is used as a number`);
  }
}
export const METHODS = { sum: "add", min: "min", max: "max", custom: "merge" } as const;
const DESCRIPTIONS: Partial<Record<Value["kind"], string>> = {
  array: "a private array",
  tuple: "an array literal",
  record: "an object",
  function: "a function",
  builtin: "a function",
  params: "the record of parameters",
  team: "the team",
  lanes: "the lanes of a member",
};

export const scalarOf = (cx: Lowering, node: Node, scope: Scope): ScalarValue => scalar(cx, expression(cx, node, scope), node);

/** Several scalars, evaluated from left to right. */
export const scalarsOf = (cx: Lowering, nodes: readonly Node[], scope: Scope): ScalarValue[] =>
  cx.inOrder(
    nodes.map((n) => () => scalarOf(cx, n, scope)),
    (value, n) => cx.hold(value, nodes[n]),
  );

/** An expression as a truth value; numbers are true where they are not zero (NaN is false), as in JavaScript. */
export function condition(cx: Lowering, node: Node, scope: Scope): Expr {
  const { expr } = scalarOf(cx, node, scope);
  return expr.type === "bool" ? expr : { op: "cast", type: "bool", a: expr };
}

/** A value as an i32 index. */
export function asIndex(cx: Lowering, value: ScalarValue, node: acorn.Node): Expr {
  return value.expr.type === "u32" ? as("i32", value.expr) : cx.converted(value, "i32", node, "an index must be i32");
}

export function identifier(cx: Lowering, node: acorn.Identifier, scope: Scope): Value {
  const value = scope.find(node.name);
  if (value) return value;
  const known = { Infinity, NaN }[node.name];
  if (known !== undefined) return literal(known);
  if (node.name === "Math" || node.name === "Number" || node.name === "console") return { kind: "namespace", name: node.name };
  if (node.name === "mulhi") return { kind: "builtin", name: "mulhi" };
  if (node.name === "undefined") return cx.fail(node, "undefined is no value of the kernel language");
  return cx.fail(node, `captures "${node.name}", which is not a parameter`, `declare it: ${cx.declaration(node.name)}`);
}

function member(cx: Lowering, node: acorn.MemberExpression, scope: Scope): Value {
  const object = expression(cx, node.object, scope);
  return node.computed ? element(cx, object, node, scope) : property(cx, object, (node.property as acorn.Identifier).name, node);
}

/** `object[...]` */
export function element(cx: Lowering, object: Value, node: acorn.MemberExpression, scope: Scope): Value {
  if (object.kind === "field") return ownCell(cx, object, expression(cx, node.property, scope), node);
  const [of, subscript] = cx.inOrder<Value>([() => object, () => expression(cx, node.property, scope)], (value) => cx.settle(value, node));
  const index = (): Expr => asIndex(cx, scalar(cx, subscript, node.property), node.property);
  switch (of.kind) {
    case "view": {
      const first = of.prefix.length === 0;
      const prefix = [...of.prefix, first && subscript.kind === "particle" ? localOf(subscript.place, "i32") : index()];
      if (prefix.length < of.rank) return { ...of, prefix };
      return { kind: "scalar", expr: { op: "load", type: of.element, view: of.name, indices: prefix, location: cx.at(node) } };
    }
    case "table": {
      const prefix = [...of.prefix, index()];
      if (prefix.length < of.shape.length) return { ...of, prefix };
      return { kind: "scalar", expr: { op: "table", type: of.type, table: of.name, indices: prefix, location: cx.at(node) } };
    }
    case "components":
      return component(cx, of, index(), node);
    case "array":
      return { kind: "scalar", expr: { op: "element", type: of.type, array: of.name, index: index(), location: cx.at(node) } };
    case "tuple": {
      const at = constantOf(cx, index());
      if (at === undefined)
        return cx.fail(
          node,
          "an array literal is indexed by something that is not constant",
          "use new Float64Array(n), or a table parameter",
        );
      return of.items[Number(at)] ?? cx.fail(node, `index ${at} of an array literal of length ${of.items.length}`);
    }
    case "scalar":
    case "variable":
      return cx.fail(node, "a number is indexed", "check the number of indices against the rank of the view");
    default:
      return scalar(cx, of, node);
  }
}

/** `object.name` */
export function property(cx: Lowering, object: Value, name: string, node: acorn.Node): Value {
  if (name === "length") {
    if (object.kind === "view")
      return { kind: "scalar", expr: { op: "extent", type: "i32", view: object.name, axis: object.prefix.length } };
    if (object.kind === "table") return literal(object.shape[object.prefix.length]);
    if (object.kind === "array") return literal(object.length);
    if (object.kind === "tuple") return literal(object.items.length);
    if (object.kind === "components") return literal(object.field.cardinality);
  }
  if (object.kind === "cell") return coordinate(cx, object.dimension, name, node);
  if (object.kind === "params") return cx.globals.find(name) ?? cx.fail(node, `there is no parameter "${name}"`);
  if (object.kind === "record") return object.fields.get(name) ?? cx.fail(node, `the object has no field "${name}"`);
  if (object.kind === "team" && name === "index") return { kind: "scalar", expr: { op: "index", type: "i32", axis: 0 } };
  if (object.kind === "team" && name === "size") return { kind: "scalar", expr: { op: "teamSize", type: "i32" } };
  if (object.kind === "namespace") {
    const value = object.name === "console" ? undefined : ({ Math, Number }[object.name] as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") return { kind: "scalar", expr: constant("f64", value), weak: "float" };
    if (object.name === "Math" && typeof value === "function") return { kind: "builtin", name: `Math.${name}` };
    return cx.fail(node, `${object.name}.${name} is not part of the kernel language`);
  }
  return cx.fail(node, `".${name}" is not known here`, "see docs/language.md for what views, teams and reductions offer");
}

function binary(cx: Lowering, node: acorn.BinaryExpression, scope: Scope): Value {
  const { operator, left, right } = node;
  if (right.type === "Literal" && right.value === 0 && (operator === "|" || operator === ">>>"))
    return asInteger(cx, left, operator === "|" ? "i32" : "u32", scope);
  // So minifiers write Math.pow(x, y): the plus must not make f64 of an f32.
  const plus = operator === "**" && right.type === "UnaryExpression" && right.operator === "+" ? right : undefined;
  const [a, b] = scalarsOf(cx, [left, plus?.argument ?? right], scope);
  const narrow = b.expr.type === "f32" && (a.weak || a.expr.type === "f32");
  return combine(cx, operator, a, plus && !narrow ? prefix(cx, "+", b, plus) : b, node);
}

/** `x | 0` and `x >>> 0`; of a quotient of integers, the whole part. */
function asInteger(cx: Lowering, node: Node, type: "i32" | "u32", scope: Scope): ScalarValue {
  if (node.type !== "BinaryExpression" || node.operator !== "/") return { kind: "scalar", expr: cut(type, scalarOf(cx, node, scope).expr) };
  const [a, b] = scalarsOf(cx, [node.left, node.right], scope);
  const quotient = wholeQuotient(cx, a, b, node) ?? combine(cx, "/", a, b, node);
  return { kind: "scalar", expr: cut(type, quotient.expr) };
}

function logical(cx: Lowering, node: acorn.LogicalExpression, scope: Scope): Value {
  if (node.operator === "??") return cx.fail(node, "?? is not part of the kernel language", "write if, or ?:");
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
  if (!a.stmts.length && !b.stmts.length)
    return { kind: "scalar", expr: { op: "select", type: m.type, cond, a: m.a, b: m.b }, weak: m.weak };
  const name = cx.unique("t");
  const location = cx.at(node);
  cx.out.push({ kind: "let", name, type: m.type, location });
  cx.out.push({
    kind: "if",
    cond,
    then: [...a.stmts, { kind: "assign", name, value: m.a, location }],
    else: [...b.stmts, { kind: "assign", name, value: m.b, location }],
    location,
  });
  return { kind: "scalar", expr: { op: "local", type: m.type, name }, weak: m.weak };
}

const ARRAY_TYPES = new Map(NUMERIC_TYPES.map((type) => [ELEMENTS[type].array.name, type]));

/** What `new` makes: `Float64Array` and its kin by name, or a parameter that stands for one of them. */
function arrayTypeOf(cx: Lowering, callee: acorn.NewExpression["callee"], scope: Scope): NumericType | undefined {
  if (callee.type === "Identifier" && !scope.find(callee.name)) return ARRAY_TYPES.get(callee.name);
  const value = expression(cx, callee, scope);
  return value.kind === "arrayType" ? value.type : undefined;
}

/** `new Float64Array(n)` and its kin: a private array. */
function newArray(cx: Lowering, node: acorn.NewExpression, scope: Scope): Value {
  const type = arrayTypeOf(cx, node.callee, scope);
  if (!type || node.arguments.length !== 1)
    return cx.fail(node, "only new Float64Array(n), Float32Array, Int32Array and Uint32Array make private arrays");
  const argument = node.arguments[0];
  if (argument.type === "ArrayExpression") {
    const items = scalarsOf(
      cx,
      argument.elements.map((e) => e ?? cx.fail(argument, "an element is missing")),
      scope,
    );
    const array = declareArray(cx, node, type, items.length, "private");
    items.forEach((value, i) =>
      cx.out.push({
        kind: "setElement",
        array: array.name,
        index: constant("i32", i),
        value: cx.converted(value, type, node, `elements are ${type}`),
        location: cx.at(node),
      }),
    );
    return array;
  }
  const length = constantOf(cx, scalarOf(cx, argument, scope).expr);
  if (typeof length !== "number" || !Number.isInteger(length) || length < 1 || length > 65536)
    return cx.fail(node, "the length of a private array must be a constant from 1 to 65536", "use a number or a fixed(i32) parameter");
  return declareArray(cx, node, type, length, "private");
}

export function declareArray(
  cx: Lowering,
  node: acorn.Node,
  type: NumericType,
  length: number,
  space: "private" | "scratch",
): Value & { kind: "array" } {
  const name = cx.unique(cx.arrayName ?? (space === "private" ? "array" : "scratch"));
  cx.arrayName = undefined;
  cx.out.push({ kind: "array", name, type, length, space, location: cx.at(node) });
  return { kind: "array", name, type, length };
}

function record(cx: Lowering, node: acorn.ObjectExpression, scope: Scope): Value {
  const fields = new Map<string, Value>();
  for (const p of node.properties) {
    if (p.type !== "Property" || p.computed || p.kind !== "init") return cx.fail(p, "only plain fields are allowed in an object");
    const name = p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value);
    fields.set(name, cx.settle(expression(cx, p.value, scope), p));
  }
  return { kind: "record", fields };
}
