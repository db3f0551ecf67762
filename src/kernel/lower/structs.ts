import type * as acorn from "acorn";
import { own } from "../../base/own.js";
import type { Expr, NumericType } from "../../ir/types.js";
import { compositeOf } from "../declare/composite.js";
import { structOf, type StructType } from "../declare/struct.js";
import { componentScalars, compositeElement, compositeFrom, storeComposite, type CompositeValue } from "./composites.js";
import type { Lowering } from "./lowering.js";
import { scalarOperand } from "./operands.js";
import type { RecordValue } from "./records.js";
import type { LoweredValue, ScalarValue, Scope } from "./values.js";

/*
 * Records with a type: objects whose fields are checked. An array of them is a view for each field, and each element takes its own of each.
 */

type StructView = Extract<LoweredValue, { kind: "structView" }>;

/** `Ray({ o, d, t: 0 })` */
export function constructStruct(cx: Lowering, struct: StructType, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const [only, ...more] = node.arguments;
  if (!only || more.length > 0) return cx.fail(node, `${struct.name} takes one object`, usageOf(struct));
  return recordOf(cx, struct, cx.materialise(cx.expression(only, scope), node), node);
}

const usageOf = ({ name, fields }: StructType): string => `write ${name}({ ${Object.keys(fields).join(", ")} })`;

/** The object with its numbers in the types of the fields. */
function recordOf(cx: Lowering, struct: StructType, value: LoweredValue, node: acorn.Node): RecordValue {
  const names = Object.keys(struct.fields);
  const refuse = (given: string): never =>
    cx.fail(node, `a ${struct.name} has the fields ${names.join(", ")}, and is given ${given}`, usageOf(struct));
  if (value.kind !== "record" || value.of) return refuse(value.kind === "record" ? `a ${value.of!.name}` : "something else");
  if (value.fields.size !== names.length || !names.every((name) => value.fields.has(name)))
    return refuse([...value.fields.keys()].join(", "));
  return {
    kind: "record",
    fields: new Map(names.map((name) => [name, fieldOf(cx, struct, name, value.fields.get(name)!, node)])),
    lazy: true,
  };
}

function fieldOf(cx: Lowering, struct: StructType, name: string, value: LoweredValue, node: acorn.Node): LoweredValue {
  const token = struct.fields[name];
  const record = structOf(token);
  if (record) return recordOf(cx, record, value, node);
  const composite = compositeOf(token);
  if (!composite) {
    const { type } = token as { readonly type: NumericType };
    return { kind: "scalar", expr: cx.converted(scalarOperand(cx, value, node), type, node, `${name} of ${struct.name} is ${type}`) };
  }
  if (value.kind === "record" && value.of === composite) return value;
  return cx.fail(node, `${name} of ${struct.name} is a ${composite.name}, and is given something else`, `write ${composite.name}(...)`);
}

/** The numbers of a record in the types of the fields, in the order of its parts. */
export function numbersOfRecord(cx: Lowering, struct: StructType, value: LoweredValue, node: acorn.Node): Expr[] {
  const numbers = (part: LoweredValue): Expr[] => {
    if (part.kind !== "record") return [scalarOperand(cx, part, node).expr];
    if (part.of)
      return componentScalars(cx, part as CompositeValue, node).map((component) =>
        cx.stored(component, part.of!.element, node, struct.name),
      );
    return [...part.fields.values()].flatMap(numbers);
  };
  return numbers(recordOf(cx, struct, value, node));
}

/** A record whose numbers are given one by one, in the order of its parts. */
export function recordFrom(struct: StructType, next: (type: NumericType) => ScalarValue): RecordValue {
  const field = (token: StructType["fields"][string]): LoweredValue => {
    const [record, composite] = [structOf(token), compositeOf(token)];
    if (record) return recordFrom(record, next);
    if (!composite) return next((token as { readonly type: NumericType }).type);
    return compositeFrom(
      composite,
      composite.fields.map(() => next(composite.element)),
    );
  };
  return { kind: "record", fields: new Map(Object.entries(struct.fields).map(([name, token]) => [name, field(token)])), lazy: true };
}

/** An array of records whose fields' arrays are given one by one, in the order of the parts. */
export function structViewOf(name: string, rank: number, struct: StructType, next: (field: string) => LoweredValue): StructView {
  const fields = Object.entries(struct.fields).map(([field, token]): [string, LoweredValue] => {
    const inner = structOf(token);
    return [field, inner ? structViewOf(name, rank, inner, next) : next(field)];
  });
  return { kind: "structView", name, rank, struct, fields: new Map(fields) };
}

/** `rays[i]`, and rows of it. The index is evaluated once. */
export function structElement(cx: Lowering, { name, rank, struct, fields }: StructView, given: Expr, node: acorn.Node): LoweredValue {
  const index =
    given.op === "index" || given.op === "const" ? given : cx.materialiseScalar({ kind: "scalar", expr: given }, node, "at").expr;
  const parts = new Map([...fields].map(([field, array]) => [field, elementOf(cx, array, index, node)] as const));
  if (rank > 1) return { kind: "structView", name, rank: rank - 1, struct, fields: parts as StructView["fields"] };
  return { kind: "record", fields: parts, lazy: true, elementOf: { name, struct } };
}

function elementOf(cx: Lowering, array: LoweredValue, index: Expr, node: acorn.Node): LoweredValue {
  if (array.kind === "structView") return structElement(cx, array, index, node);
  const view = array as Extract<LoweredValue, { kind: "view" }>;
  const prefix = [...view.prefix, index];
  if (view.of && prefix.length === view.rank - view.of.axes.length)
    return compositeElement(cx, { ...view, of: view.of }, prefix, node, "view");
  if (prefix.length < view.rank) return { ...view, prefix };
  return { kind: "scalar", expr: { op: "load", type: view.element, view: view.name, indices: prefix, location: cx.at(node) } };
}

/** Stores all fields of a record, which are known before the first store. */
export function storeStruct(cx: Lowering, target: RecordValue, given: LoweredValue, node: acorn.Node): void {
  const { name, struct } = target.elementOf!;
  if (given.kind !== "record")
    return cx.fail(node, `elements of ${name} are ${struct.name}, and it is given something else`, usageOf(struct));
  const value = cx.materialise(recordOf(cx, struct, given, node), node) as RecordValue;
  storeFields(cx, target, value, node);
}

function storeFields(cx: Lowering, target: RecordValue, value: RecordValue, node: acorn.Node): void {
  for (const [field, place] of target.fields) {
    const part = value.fields.get(field)!;
    if (place.kind === "record" && place.place) storeComposite(cx, place.place, part, node);
    else if (place.kind === "record") storeFields(cx, place, part as RecordValue, node);
    else storeNumber(cx, place, scalarOperand(cx, part, node), node);
  }
}

function storeNumber(cx: Lowering, place: LoweredValue, value: ScalarValue, node: acorn.Node): void {
  const load = place.kind === "scalar" ? place.expr : undefined;
  if (load?.op !== "load") throw new Error("a field of an array's element is not an element of a view");
  const { view, indices, type } = load;
  cx.out.push({ kind: "store", view, indices, value: cx.stored(value, type, node, view), location: cx.at(node) });
}

/** The number of elements along the next axis. */
export function structLength({ fields }: StructView): LoweredValue {
  const [first] = fields.values();
  if (first.kind === "structView") return structLength(first);
  const { name, prefix } = first as Extract<LoweredValue, { kind: "view" }>;
  return { kind: "scalar", expr: { op: "extent", type: "i32", view: name, axis: prefix.length } };
}

/** The field of an element, `rays[i].t`, as the place that is assigned; undefined if there is none. */
export function fieldPlace({ elementOf, fields }: RecordValue, field: string): LoweredValue | undefined {
  return elementOf ? own(Object.fromEntries(fields), field) : undefined;
}
