import type * as acorn from "acorn";
import { own } from "../../base/own.js";
import type { BinaryFn, Expr, MathFn, UnaryFn } from "../../ir/types.js";
import {
  componentPlace,
  formFor,
  type CompositeMethod,
  type CompositeType,
  type ComponentArithmetic,
  type MethodOperand,
} from "../declare/composite.js";
import { knownConstant } from "./constant.js";
import type { Lowering } from "./lowering.js";
import { METHODS } from "../declare/params.js";
import { asIndex, scalarOperand } from "./operands.js";
import { cutTo32, lowerOperator, prefix } from "./operators.js";
import type { RecordValue } from "./records.js";
import { constantExpr, isShort, type LoweredValue, type ScalarValue, type Scope } from "./values.js";
import { add, int, mul } from "../../ir/expressions.js";

/*
 * Values of several numbers: objects with methods, whose components are in locals of their own. Types and methods come with the token that the author imports.
 */

export type CompositeValue = RecordValue & { readonly of: CompositeType };
type Named<K extends LoweredValue["kind"]> = Extract<LoweredValue, { kind: K }>;
/** An element of an array of such values. */
export type ElementPlace = NonNullable<RecordValue["place"]>;

const isComposite = (value: LoweredValue | undefined): value is CompositeValue => value?.kind === "record" && value.of !== undefined;

export const compositeFrom = (of: CompositeType, components: readonly ScalarValue[]): CompositeValue => ({
  kind: "record",
  fields: new Map(of.fields.map((field, n) => [field, components[n]])),
  of,
  lazy: true,
});

export const componentScalars = (cx: Lowering, value: CompositeValue, node: acorn.Node): ScalarValue[] =>
  value.of.fields.map((field) => scalarOperand(cx, value.fields.get(field)!, node));

/** `vec3(x, y, z)`, and `vec3(v, z)` of values that have some of the components. */
export function construct(cx: Lowering, of: CompositeType, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const args = cx.inOrder<LoweredValue>(
    node.arguments.map((a) => () => cx.expression(a, scope)),
    (value, n) => cx.materialise(value, node.arguments[n]),
  );
  const given = args.flatMap((value) => broughtBy(cx, of, value, node));
  if (given.length !== of.fields.length) return cx.fail(node, `${of.name} takes ${of.fields.length} numbers, and is given ${given.length}`);
  return compositeFrom(of, given);
}

/** Components that an argument of a constructor brings. */
function broughtBy(cx: Lowering, of: CompositeType, value: LoweredValue, node: acorn.Node): ScalarValue[] {
  if (value.kind === "tuple") return value.items.flatMap((item) => broughtBy(cx, of, item, node));
  if (!isComposite(value)) return [component(cx, of, scalarOperand(cx, value, node), node)];
  if (value.of.element === of.element) return componentScalars(cx, value, node);
  return cx.fail(
    node,
    `components of ${of.name} are ${of.element}, and ${value.of.name} has ${value.of.element}`,
    "convert them one by one",
  );
}

/** `v.xy`; undefined if the type has no such part. */
export function compositePart(cx: Lowering, value: LoweredValue, name: string, node: acorn.Node): LoweredValue | undefined {
  const part = isComposite(value) ? value.of.parts && own(value.of.parts, name) : undefined;
  if (!part) return undefined;
  const components = componentScalars(cx, value as CompositeValue, node);
  return compositeFrom(
    part.of(),
    part.places.map((place) => components[place]),
  );
}

const component = (cx: Lowering, of: CompositeType, value: ScalarValue, node: acorn.Node): ScalarValue => ({
  kind: "scalar",
  expr: cx.converted(value, of.element, node, `components of ${of.name} are ${of.element}`),
});

/** An element of a view or a private array of such values, whose indices are evaluated once. */
export function compositeElement(
  cx: Lowering,
  { name, of, element }: { name: string; of: CompositeType; element: ElementPlace["element"] },
  given: readonly Expr[],
  node: acorn.Node,
  kind: ElementPlace["kind"],
): LoweredValue {
  const indices = given.map((e) => (isShort(e) ? e : cx.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr));
  const place: ElementPlace = { kind, name, element, indices, of };
  const loads = of.fields.map((_, n): ScalarValue => ({ kind: "scalar", expr: componentAt(cx, place, n, node) }));
  return { ...compositeFrom(of, loads), place };
}

/** Indices of a component of an element: of a private array one, as its components lie one after the other. */
export const componentIndices = ({ kind, of, indices }: ElementPlace, n: number): Expr[] =>
  kind === "view" ? [...indices, ...componentPlace(of, n).map(int)] : [add(mul(indices[0], of.fields.length), int(n))];

function componentAt(cx: Lowering, place: ElementPlace, n: number, node: acorn.Node): Expr {
  const { kind, name, element: type } = place;
  const [indices, location] = [componentIndices(place, n), cx.at(node)];
  return kind === "view"
    ? { op: "load", type, view: name, indices, location }
    : { op: "element", type, array: name, index: indices[0], location };
}

/** Stores all components of a value, which are known before the first store: the right side may read the left. */
export function storeComposite(cx: Lowering, place: ElementPlace, given: LoweredValue, node: acorn.Node): void {
  const { kind, name, element, of } = place;
  if (!isComposite(given) || given.of !== of)
    return cx.fail(node, `elements of ${name} are ${of.name}, and it is given ${nameOf(given)}`, `write ${of.name}(...)`);
  const settled = cx.materialise(given, node, "part") as CompositeValue;
  componentScalars(cx, settled, node).forEach((part, n) => {
    const [indices, location, value] = [componentIndices(place, n), cx.at(node), cx.stored(part, element, node, name)];
    cx.out.push(
      kind === "view"
        ? { kind: "store", view: name, indices, value, location }
        : { kind: "setElement", array: name, index: indices[0], value, location },
    );
  });
}

const nameOf = (value: LoweredValue): string =>
  isComposite(value)
    ? `a ${value.of.name}`
    : value.kind === "record"
      ? "an object"
      : value.kind === "scalar" || value.kind === "variable"
        ? "a number"
        : "something else";

/** `v.dot(w)` and other methods; undefined if the value has no type with methods. */
export function compositeMethod(
  cx: Lowering,
  target: LoweredValue,
  name: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue | undefined {
  if (!isComposite(target)) return undefined;
  const { of } = target;
  const method = own(of.methods, name);
  if (!method) return cx.fail(node, `a ${of.name} has no method "${name}"`, `it has ${Object.keys(of.methods).join(", ")}`);
  const { length } = method.takes;
  if (node.arguments.length !== length)
    return cx.fail(node, `${name} takes ${length} argument${length === 1 ? "" : "s"}, and is given ${node.arguments.length}`);
  const [self, ...args] = cx.inOrder<LoweredValue>([() => target, ...node.arguments.map((a) => () => cx.expression(a, scope))], (value) =>
    cx.materialise(value, node),
  );
  const form = formFor(of, method, isComposite(args[0]) ? args[0].of : undefined);
  const b = form.takes.flatMap((what, n) => operand(cx, { of, name, what, method }, args[n], node.arguments[n]));
  const found = form.apply(arithmetic(cx, of, node), componentScalars(cx, self as CompositeValue, node), b);
  return Array.isArray(found) ? compositeFrom(form.gives?.() ?? of, found) : (found as ScalarValue);
}

interface Wanted {
  readonly of: CompositeType;
  readonly name: string;
  readonly what: MethodOperand;
  readonly method: CompositeMethod;
}

function operand(cx: Lowering, { of, name, what, method }: Wanted, value: LoweredValue, node: acorn.Node): ScalarValue[] {
  if (what === "self" || typeof what === "function") {
    const type = what === "self" ? of : what();
    if (isComposite(value) && value.of === type) return componentScalars(cx, value, node);
    const others = typesFor(of, method);
    return cx.fail(node, `${name} takes a ${others.join(" or a ")}, and is given ${nameOf(value)}`, `write ${others[0]}(...)`);
  }
  if (what === "number") return [cx.materialiseScalar(component(cx, of, scalarOperand(cx, value, node), node), node)];
  const k = asIndex(cx, scalarOperand(cx, value, node), node);
  const found = knownConstant(cx, k);
  if (found !== undefined && !(Number(found) >= 0 && Number(found) < what))
    return cx.fail(node, `${name} of a ${of.name} has no place ${found}`, `its places are 0 to ${what - 1}`);
  return [cx.materialiseScalar({ kind: "scalar", expr: k }, node)];
}

/** Names of the types that a method takes as its first argument. */
function typesFor(of: CompositeType, { takes: [first], or }: CompositeMethod): string[] {
  const own = first === "self" ? [of.name] : typeof first === "function" ? [first().name] : [];
  return or ? [...own, ...typesFor(of, or)] : own;
}

/** `p.add(v)` of a reduction, and `h.add(i, v)` of a scatter target, component by component. */
export function foldComposite(
  cx: Lowering,
  target: Named<"reduceComposite"> | (Named<"scatter"> & { readonly of: CompositeType }),
  name: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue {
  const { op, of } = target;
  const indices = target.kind === "scatter" ? target.rank - of.axes.length : 0;
  const usage = `${target.name}.${METHODS[op]}(${indices > 0 ? `${["i", "j", "k", "l", "m", "n"].slice(0, indices).join(", ")}, ` : ""}value)`;
  if (name !== METHODS[op]) return cx.fail(node, `${target.name} has no method "${name}"`, `it folds by ${op}: write ${usage}`);
  if (node.arguments.length !== indices + 1)
    return cx.fail(node, `${target.name} is given ${node.arguments.length} arguments instead of ${indices + 1}`, `write ${usage}`);
  const given = cx.inOrder<LoweredValue>(
    node.arguments.map((a) => () => cx.expression(a, scope)),
    (each, n) => cx.materialise(each, node.arguments[n]),
  );
  const value = cx.materialise(given[indices], node, "part");
  if (!isComposite(value) || value.of !== of)
    return cx.fail(node, `${target.name} folds ${of.name}, and is given ${nameOf(value)}`, `write ${of.name}(...)`);
  const place = given
    .slice(0, indices)
    .map(
      (each, n) => cx.materialiseScalar({ kind: "scalar", expr: asIndex(cx, scalarOperand(cx, each, node.arguments[n]), node) }, node).expr,
    );
  const location = cx.at(node);
  componentScalars(cx, value, node).forEach((part, n) => {
    const stored = cx.stored(part, of.element, node, target.name);
    cx.out.push(
      target.kind === "scatter"
        ? { kind: "scatter", target: target.name, indices: [...place, ...componentPlace(of, n).map(int)], value: stored, location }
        : { kind: "reduce", target: target.parts[n], value: stored, location },
    );
  });
  return { kind: "void" };
}

/** Arithmetic of expressions. */
function arithmetic(cx: Lowering, { element: type }: CompositeType, node: acorn.Node): ComponentArithmetic<ScalarValue> {
  // Integers wrap, as the plain functions say: a wrap is not a mistake of the author.
  const meant = (value: ScalarValue): ScalarValue => (type === "i32" ? { kind: "scalar", expr: cutTo32(cx, type, value.expr) } : value);
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
  const call =
    (fn: MathFn) =>
    (...args: ScalarValue[]): ScalarValue => ({ kind: "scalar", expr: { op: "call", type, fn, args: args.map(({ expr }) => expr) } });
  return {
    number: (value) => ({ kind: "scalar", expr: constantExpr(type, value) }),
    add: operator("+"),
    sub: operator("-"),
    mul: operator("*"),
    div: operator("/"),
    min: binary("min"),
    max: binary("max"),
    atan2: call("atan2"),
    neg: (a) => meant(prefix(cx, "-", a, node)),
    abs: (a) => meant(unary("abs")(a)),
    sqrt: unary("sqrt"),
    exp: call("exp"),
    sin: call("sin"),
    cos: call("cos"),
    once: (a) => cx.materialiseScalar(a, node),
    choose(place, n, a, b) {
      const known = knownConstant(cx, place.expr);
      if (known !== undefined) return known === n ? a : b;
      const cond: Expr = { op: "compare", type: "bool", fn: "eq", a: place.expr, b: constantExpr("i32", n) };
      return { kind: "scalar", expr: { op: "select", type, cond, a: a.expr, b: b.expr } };
    },
  };
}
