import type * as acorn from "acorn";
import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { BinaryFn, Expr, NumericType, UnaryFn } from "../../ir/types.js";
import type { ComponentArithmetic, VectorType } from "../declare/vectors.js";
import { knownConstant } from "./constant.js";
import type { Lowering } from "./lowering.js";
import { asIndex, scalarOperand, scalarsOf } from "./operands.js";
import { cutTo32, lowerOperator, prefix } from "./operators.js";
import type { RecordValue } from "./records.js";
import { constantExpr, isShort, type LoweredValue, type ScalarValue, type Scope } from "./values.js";

/*
 * Vectors: objects with methods, whose components are in locals of their own. Types and methods come with the token that the author imports.
 */

type VectorValue = RecordValue & { readonly of: VectorType };
type ViewValue = Extract<LoweredValue, { kind: "view" }>;

const isVector = (value: LoweredValue | undefined): value is VectorValue => value?.kind === "record" && value.of !== undefined;

const vectorFrom = (of: VectorType, components: readonly ScalarValue[]): VectorValue => ({
  kind: "record",
  fields: new Map(of.fields.map((field, n) => [field, components[n]])),
  of,
  lazy: true,
});

const componentsOf = (cx: Lowering, value: VectorValue, node: acorn.Node): ScalarValue[] =>
  value.of.fields.map((field) => scalarOperand(cx, value.fields.get(field)!, node));

/** `vec3(x, y, z)` */
export function constructVector(cx: Lowering, of: VectorType, node: acorn.CallExpression, scope: Scope): LoweredValue {
  if (node.arguments.length !== of.fields.length)
    return cx.fail(node, `${of.name} takes ${of.fields.length} numbers, and is given ${node.arguments.length}`);
  const given = scalarsOf(cx, node.arguments, scope);
  return vectorFrom(
    of,
    given.map((value) => component(cx, of, value, node)),
  );
}

const component = (cx: Lowering, of: VectorType, value: ScalarValue, node: acorn.Node): ScalarValue => ({
  kind: "scalar",
  expr: cx.converted(value, of.element, node, `components of ${of.name} are ${of.element}`),
});

/** An element of a view of vectors, whose indices are evaluated once. */
export function vectorElement(
  cx: Lowering,
  { name: view, of, element }: ViewValue,
  given: readonly Expr[],
  node: acorn.Node,
): LoweredValue {
  const indices = given.map((e) => (isShort(e) ? e : cx.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr));
  const location = cx.at(node);
  const loads = of!.fields.map((_, n): ScalarValue => ({
    kind: "scalar",
    expr: { op: "load", type: element, view, indices: [...indices, constantExpr("i32", n)], location },
  }));
  return { ...vectorFrom(of!, loads), place: { view, element, indices } };
}

/** Stores all components of a vector, which are known before the first store: the right side may read the left. */
export function storeVector(
  cx: Lowering,
  { view, element, indices, of }: { view: string; element: NumericType; indices: readonly Expr[]; of: VectorType },
  given: LoweredValue,
  node: acorn.Node,
): void {
  if (!isVector(given) || given.of !== of)
    return cx.fail(node, `elements of ${view} are ${of.name}, and it is given ${nameOf(given)}`, `write ${of.name}(...)`);
  const value = cx.materialise(given, node, "part") as VectorValue;
  componentsOf(cx, value, node).forEach((part, n) =>
    cx.out.push({
      kind: "store",
      view,
      indices: [...indices, constantExpr("i32", n)],
      value: cx.stored(part, element, node, view),
      location: cx.at(node),
    }),
  );
}

const nameOf = (value: LoweredValue): string =>
  isVector(value)
    ? `a ${value.of.name}`
    : value.kind === "record"
      ? "an object"
      : value.kind === "scalar" || value.kind === "variable"
        ? "a number"
        : "something else";

/** `v.dot(w)` and other methods; undefined if the value is not a vector. */
export function vectorMethod(
  cx: Lowering,
  target: LoweredValue,
  name: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue | undefined {
  if (!isVector(target)) return undefined;
  const { of } = target;
  const method = own(of.methods, name);
  if (!method) return cx.fail(node, `a ${of.name} has no method "${name}"`, `it has ${Object.keys(of.methods).join(", ")}`);
  const { takes } = method;
  if (node.arguments.length !== takes.length)
    return cx.fail(node, `${name} takes ${takes.length} argument${takes.length === 1 ? "" : "s"}, and is given ${node.arguments.length}`);
  const [self, ...args] = cx.inOrder<LoweredValue>([() => target, ...node.arguments.map((a) => () => cx.expression(a, scope))], (value) =>
    cx.materialise(value, node),
  );
  const b = takes.flatMap((what, n) => operand(cx, of, name, what, args[n], node.arguments[n]));
  const found = method.apply(arithmetic(cx, of, node), componentsOf(cx, self as VectorValue, node), b);
  return "kind" in found ? found : vectorFrom(of, found);
}

function operand(
  cx: Lowering,
  of: VectorType,
  name: string,
  what: VectorType["methods"][string]["takes"][number],
  value: LoweredValue,
  node: acorn.Node,
): ScalarValue[] {
  switch (what) {
    case "vector":
      if (!isVector(value) || value.of !== of)
        return cx.fail(node, `${name} takes a ${of.name}, and is given ${nameOf(value)}`, `write ${of.name}(...)`);
      return componentsOf(cx, value, node);
    case "number":
      return [cx.materialiseScalar(component(cx, of, scalarOperand(cx, value, node), node), node)];
    case "place": {
      const k = asIndex(cx, scalarOperand(cx, value, node), node);
      const known = knownConstant(cx, k);
      if (known !== undefined && !(Number(known) >= 0 && Number(known) < of.fields.length))
        return cx.fail(node, `a ${of.name} has no component ${known}`, `its places are 0 to ${of.fields.length - 1}`);
      return [cx.materialiseScalar({ kind: "scalar", expr: k }, node)];
    }
    default:
      return unreachable(what);
  }
}

/** Arithmetic of expressions. */
function arithmetic(cx: Lowering, { element: type }: VectorType, node: acorn.Node): ComponentArithmetic<ScalarValue> {
  // Integers wrap, as the plain functions say: a wrap is not a mistake of the author.
  const meant = (value: ScalarValue): ScalarValue => (type === "i32" ? { kind: "scalar", expr: cutTo32(type, value.expr) } : value);
  const operator = (o: string) => (a: ScalarValue, b: ScalarValue) => meant(lowerOperator(cx, o, a, b, node));
  const binary =
    (fn: BinaryFn) =>
    (a: ScalarValue, b: ScalarValue): ScalarValue => ({
      kind: "scalar",
      expr: { op: "binary", type, fn, a: a.expr, b: b.expr },
    });
  const unary =
    (fn: UnaryFn) =>
    (a: ScalarValue): ScalarValue => ({ kind: "scalar", expr: { op: "unary", type, fn, a: a.expr } });
  return {
    one: { kind: "scalar", expr: constantExpr(type, 1) },
    add: operator("+"),
    sub: operator("-"),
    mul: operator("*"),
    div: operator("/"),
    min: binary("min"),
    max: binary("max"),
    neg: (a) => meant(prefix(cx, "-", a, node)),
    abs: (a) => meant(unary("abs")(a)),
    sqrt: unary("sqrt"),
    once: (a) => cx.materialiseScalar(a, node),
    choose(place, n, a, b) {
      const known = knownConstant(cx, place.expr);
      if (known !== undefined) return known === n ? a : b;
      const cond: Expr = { op: "compare", type: "bool", fn: "eq", a: place.expr, b: constantExpr("i32", n) };
      return { kind: "scalar", expr: { op: "select", type, cond, a: a.expr, b: b.expr } };
    },
  };
}
