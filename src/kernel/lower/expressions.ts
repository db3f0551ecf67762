import { NULLISH } from "../read/refused-syntax.js";
import { ELEMENTS, isSingle, isWide, NUMERIC_TYPES } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import { localOf } from "../../ir/by-name.js";
import type { Expr, NumericType } from "../../ir/types.js";
import { isBuiltin } from "../declare/builtins.js";
import { knownConstant } from "./constant.js";
import { alongAxis, component, coordinate, ownCell } from "./fields.js";
import type { ExpressionNode, Lowering } from "./lowering.js";
import { isNumberTest } from "./number-tests.js";
import { lowerOperator, cutOfBigint, cutTo32, prefix, wholeQuotient } from "./operators.js";
import { asIndex, condition, scalarOperand, scalarOf, scalarsOf } from "./operands.js";
import { outerMember, undefinedUsed, unknown, unknownMember } from "./outer.js";
import { eitherRecord } from "./records.js";
import { isNothing } from "./tool-calls.js";
import { structElement, structLength } from "./structs.js";
import { literalExpr } from "./types.js";
import { compositeElement, compositePart } from "./composites.js";
import { Scope, constantExpr, isNamespace, type Namespace, type ScalarValue, type LoweredValue } from "./values.js";
import { isCut } from "./wide.js";

export function identifier(cx: Lowering, node: acorn.Identifier, scope: Scope): LoweredValue {
  const value = scope.find(node.name);
  if (value) return value;
  if (node.name === "Infinity" || node.name === "NaN") return literalExpr(Number(node.name));
  if (isNamespace(node.name)) return { kind: "namespace", name: node.name };
  if (isBuiltin(node.name)) return { kind: "builtin", name: node.name };
  if (node.name === "undefined") return undefinedUsed(cx, node);
  return unknown(cx, node, node.name, scope);
}

export function member(cx: Lowering, node: acorn.MemberExpression, scope: Scope): LoweredValue {
  const outer = outerMember(cx, node, scope);
  if (outer) return outer;
  unknownMember(cx, node, scope);
  const object = cx.expression(node.object, scope);
  return node.computed ? lowerElement(cx, object, node, scope) : property(cx, object, (node.property as acorn.Identifier).name, node);
}

/** `object[...]` */
export function lowerElement(cx: Lowering, object: LoweredValue, node: acorn.MemberExpression, scope: Scope): LoweredValue {
  const { property: written } = node;
  if (written.type === "SequenceExpression" && written.expressions.every((e) => !/^(Assignment|Update|Call)/.test(e.type)))
    return cx.fail(written, "several indices are in one pair of brackets", "write a[i][j]");
  if (object.kind === "axis") return alongAxis(cx, object, [node.property], node, scope);
  if (object.kind === "field") return ownCell(cx, object, cx.expression(node.property, scope), node);
  const [of, subscript] = cx.inOrder<LoweredValue>([() => object, () => cx.expression(node.property, scope)], (value) =>
    cx.materialise(value, node),
  );
  const index = (): Expr => asIndex(cx, scalarOperand(cx, subscript, node.property), node.property);
  switch (of.kind) {
    case "view": {
      const first = of.prefix.length === 0;
      const prefix = [...of.prefix, first && subscript.kind === "particle" ? localOf(subscript.index, "i32") : index()];
      if (of.of && prefix.length === of.rank - of.of.axes.length) return compositeElement(cx, { ...of, of: of.of }, prefix, node, "view");
      if (prefix.length < of.rank) return { ...of, prefix };
      return { kind: "scalar", expr: { op: "load", type: of.element, view: of.name, indices: prefix, location: cx.at(node) } };
    }
    case "structView":
      return structElement(cx, of, index(), node);
    case "table":
      return tableElement(cx, of, index(), node);
    case "components":
      return component(cx, of, index(), node);
    case "array":
      return arrayElement(cx, of, index(), node);
    case "tuple": {
      const at = knownConstant(cx, index());
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
    // Any other value is used as a number, or refused.
    default:
      return scalarOperand(cx, of, node);
  }
}

function tableElement(cx: Lowering, table: Extract<LoweredValue, { kind: "table" }>, index: Expr, node: acorn.Node): LoweredValue {
  const indices = [...table.prefix, index];
  if (indices.length < table.shape.length) return { ...table, prefix: indices };
  return { kind: "scalar", expr: { op: "table", type: table.type, table: table.name, indices, location: cx.at(node) } };
}

/** `a[k]` of a private array. */
export function arrayElement(
  cx: Lowering,
  { name, type, of }: Extract<LoweredValue, { kind: "array" }>,
  index: Expr,
  node: acorn.Node,
): LoweredValue {
  if (of) return compositeElement(cx, { name, of, element: type }, [index], node, "array");
  return { kind: "scalar", expr: { op: "element", type, array: name, index, location: cx.at(node) } };
}

const isFunctionOf = (object: Namespace, name: string): boolean =>
  object === "Math" || (object === "Number" ? isNumberTest(name) : object === "BigInt" && isCut(name));

/** `object.name` */
export function property(cx: Lowering, object: LoweredValue, name: string, node: acorn.Node): LoweredValue {
  if (name === "length") {
    if (object.kind === "view")
      return { kind: "scalar", expr: { op: "extent", type: "i32", view: object.name, axis: object.prefix.length } };
    if (object.kind === "atomic") return { kind: "scalar", expr: { op: "extent", type: "i32", view: object.name, axis: 0 } };
    if (object.kind === "table") return literalExpr(object.shape[object.prefix.length]);
    if (object.kind === "array") return literalExpr(object.length);
    if (object.kind === "structView") return structLength(object);
    if (object.kind === "tuple") return literalExpr(object.items.length);
    if (object.kind === "components") return literalExpr(object.field.cardinality);
  }
  if (object.kind === "list")
    return cx.fail(
      node,
      `${object.name} is a list, and has no "${name}" in a kernel`,
      `write ${object.name}.push(value), and read its count and elements in another kernel`,
    );
  if (object.kind === "cell") return coordinate(cx, object, name, node);
  if (object.kind === "params") return cx.globals.find(name) ?? cx.fail(node, `there is no parameter "${name}"`);
  if (object.kind === "record" && object.of && Object.hasOwn(object.of.methods, name))
    return cx.fail(
      node,
      `${name} of a ${object.of.name} is a method`,
      `call it: v.${name}(${object.of.methods[name].takes.length > 0 ? "..." : ""})`,
    );
  if (object.kind === "record")
    return object.fields.get(name) ?? compositePart(cx, object, name, node) ?? cx.fail(node, `the object has no field "${name}"`);
  if (object.kind === "team" && name === "index") return { kind: "scalar", expr: { op: "index", type: "i32", axis: 0 } };
  if (object.kind === "team" && name === "size") return { kind: "scalar", expr: { op: "teamSize", type: "i32" } };
  if (object.kind === "namespace") {
    const value =
      object.name === "console" ? undefined : ({ Math, Number, BigInt }[object.name] as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") return { kind: "scalar", expr: constantExpr("f64", value), weak: "float" };
    if (object.name !== "console" && typeof value === "function" && isFunctionOf(object.name, name))
      return { kind: "builtin", name: `${object.name}.${name}` };
    return cx.fail(node, `${object.name}.${name} is not part of the kernel language`, "see docs/language.md for what is");
  }
  return cx.fail(node, `".${name}" is not known here`, "see docs/language.md for what views, teams and reductions offer");
}

/** Operators of a chain, `a + b + c + ...`, after which its value goes into a local, so that no expression nests deeper. */
const LONG_CHAIN = 64;

const isZero = (node: acorn.Node): boolean => node.type === "Literal" && (node as acorn.Literal).value === 0;

/** `x` of `x | 0` and `x >>> 0`, and of `0 | x`, which minifiers make of the first. */
function cutOperand({ operator, left, right }: acorn.BinaryExpression): ExpressionNode | undefined {
  if (isZero(right) && (operator === "|" || operator === ">>>")) return left as ExpressionNode;
  return operator === "|" && isZero(left) ? right : undefined;
}

export function lowerBinary(cx: Lowering, node: acorn.BinaryExpression, scope: Scope): LoweredValue {
  const chain = [node];
  for (let { left } = node; left.type === "BinaryExpression" && !cutOperand(chain.at(-1)!); left = left.left as typeof left)
    chain.push(left);
  let value: ScalarValue | undefined;
  for (let n = chain.length - 1; n >= 0; n--) {
    value = link(cx, chain[n], value, scope);
    if (n > 0 && (chain.length - n) % LONG_CHAIN === 0 && !value.weak) value = cx.materialiseScalar(value, chain[n]);
  }
  return value!;
}

/** An operator and its operands; the left one may be known already. */
function link(cx: Lowering, node: acorn.BinaryExpression, known: ScalarValue | undefined, scope: Scope): ScalarValue {
  const { operator, left, right } = node;
  if (/^[!=]==?$/.test(operator) && [left, right].some(isNothing))
    return cx.fail(
      node,
      "a value is compared with null or undefined, and numbers are neither",
      "compare numbers; if your file has ?? or ?., which tools rewrite like this, write if or ?:",
    );
  const operand = cutOperand(node);
  if (operand) return asInteger(cx, operand, operator === "|" ? "i32" : "u32", scope);
  // So minifiers write Math.pow(x, y): the plus must not make f64 of an f32.
  const plus = operator === "**" && right.type === "UnaryExpression" && right.operator === "+" ? right : undefined;
  const nodes = [left, plus?.argument ?? right];
  const [a, b] = cx.inOrder(
    nodes.map((n) => () => (n === left && known) || scalarOf(cx, n, scope)),
    (value, n) => cx.materialiseScalar(value, nodes[n]),
  );
  const narrow = isSingle(b.expr.type) && (a.weak || isSingle(a.expr.type));
  return lowerOperator(cx, operator, a, plus && !narrow ? prefix(cx, "+", b, plus) : b, node);
}

/** `x | 0` and `x >>> 0`; of a quotient of integers, the whole part. */
function asInteger(cx: Lowering, node: ExpressionNode, type: "i32" | "u32", scope: Scope): ScalarValue {
  if (node.type !== "BinaryExpression" || node.operator !== "/")
    return { kind: "scalar", expr: cutOf(cx, type, scalarOf(cx, node, scope).expr, node) };
  const [a, b] = scalarsOf(cx, [node.left, node.right], scope);
  const quotient = wholeQuotient(cx, a, b, node) ?? lowerOperator(cx, "/", a, b, node);
  return { kind: "scalar", expr: cutOf(cx, type, quotient.expr, node) };
}

const cutOf = (cx: Lowering, type: "i32" | "u32", expr: Expr, node: acorn.Node): Expr =>
  isWide(expr.type) ? cutOfBigint(cx, node) : cutTo32(cx, type, expr);

export function lowerLogical(cx: Lowering, node: acorn.LogicalExpression, scope: Scope): LoweredValue {
  if (node.operator === "??") return cx.fail(node, ...NULLISH);
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

export function conditional(cx: Lowering, node: acorn.ConditionalExpression, scope: Scope): LoweredValue {
  const cond = condition(cx, node.test, scope);
  const known = knownConstant(cx, cond);
  if (known !== undefined) return cx.expression(known ? node.consequent : node.alternate, scope);
  const a = cx.collect(() => cx.expression(node.consequent, scope));
  const b = cx.collect(() => cx.expression(node.alternate, scope));
  if (a.value.kind === "record" || b.value.kind === "record") return eitherRecord(cx, cond, a, b, node);
  const m = cx.unified(scalarOperand(cx, a.value, node.consequent), scalarOperand(cx, b.value, node.alternate), node);
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

/** Element type that `new` makes: for `Float64Array` and its kin by name, or a parameter that stands for one of them. */
function arrayTypeOf(cx: Lowering, callee: acorn.NewExpression["callee"], scope: Scope): NumericType | undefined {
  if (callee.type === "Identifier" && !scope.find(callee.name)) return ARRAY_TYPES.get(callee.name);
  const value = cx.expression(callee, scope);
  return value.kind === "arrayType" ? value.type : undefined;
}

/** `new Float64Array(n)` and its kin: a private array. */
export function newArray(cx: Lowering, node: acorn.NewExpression, scope: Scope): LoweredValue {
  const type = arrayTypeOf(cx, node.callee, scope);
  if (!type || node.arguments.length !== 1)
    return cx.fail(
      node,
      "only new Float64Array(n), Float32Array, Int32Array, Uint32Array, BigInt64Array and BigUint64Array make private arrays",
    );
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
        index: constantExpr("i32", i),
        value: cx.converted(value, type, node, `elements are ${type}`),
        location: cx.at(node),
      }),
    );
    return array;
  }
  return declareArray(cx, node, type, constantLength(cx, argument, scope, node), "private");
}

/** `array(vec3, 8)`: a private array, each value's components one after the other. */
export function compositeArray(cx: Lowering, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const [first, second] = node.arguments;
  const token = first && cx.expression(first, scope);
  if (token?.kind !== "composite" || node.arguments.length !== 2)
    return cx.fail(
      node,
      "array takes a type of vectors, matrices and the like, and a length",
      "write array(vec3, 8), or new Float64Array(8)",
    );
  const { of } = token;
  const length = constantLength(cx, second, scope, node, of.fields.length);
  const made = declareArray(cx, node, of.element, length * of.fields.length, "private");
  return { ...made, length, of };
}

/** Numbers of a private array, at most. */
const MOST_PRIVATE = 65536;

function constantLength(cx: Lowering, node: ExpressionNode, scope: Scope, at: acorn.Node, parts = 1): number {
  const most = Math.floor(MOST_PRIVATE / parts);
  const length = knownConstant(cx, scalarOf(cx, node, scope).expr);
  if (typeof length === "number" && Number.isInteger(length) && length >= 1 && length <= most) return length;
  return cx.fail(at, `the length of a private array must be a constant from 1 to ${most}`, "use a number or a fixed(i32) parameter");
}

export function declareArray(
  cx: Lowering,
  node: acorn.Node,
  type: NumericType,
  length: number,
  space: "private" | "scratch",
  disjoint = false,
): LoweredValue & { kind: "array" } {
  const name = cx.unique(cx.arrayName ?? (space === "private" ? "array" : "scratch"));
  cx.arrayName = undefined;
  cx.out.push({ kind: "array", name, type, length, space, ...(disjoint ? { disjoint } : {}), location: cx.at(node) });
  return { kind: "array", name, type, length };
}
