import type * as acorn from "acorn";
import { unreachable } from "../../base/unreachable.js";
import type { Expr, Stmt } from "../../ir/types.js";
import type { ExpressionNode, Lowering, ReturnShape } from "./lowering.js";
import { scalarOperand } from "./operands.js";
import type { LoweredValue, Scope } from "./values.js";

/*
 * Objects, `{ a, b }`, and values of several parts in general: they exist in the lowering alone, which keeps each part in a local of its own. An object never
 * changes, so JavaScript's references and the copies made here look the same; a variable may take another object.
 */

export type RecordValue = Extract<LoweredValue, { kind: "record" }>;

/** `{ a, b: 2, ...c }` */
export function record(cx: Lowering, node: acorn.ObjectExpression, scope: Scope): RecordValue {
  const fields = new Map<string, LoweredValue>();
  for (const p of node.properties) {
    if (p.type === "SpreadElement") {
      for (const [name, value] of spread(cx, p.argument, scope).fields) fields.set(name, value);
      continue;
    }
    if (p.computed || p.kind !== "init") return cx.fail(p, "only plain fields are allowed in an object");
    const name = p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value);
    if (name === "__proto__") return cx.fail(p, "__proto__ is not a field in JavaScript", "give the field another name");
    fields.set(name, cx.materialise(cx.expression(p.value, scope), p));
  }
  return { kind: "record", fields };
}

/** The object whose fields are spread, as it is now. */
function spread(cx: Lowering, node: ExpressionNode, scope: Scope): RecordValue {
  const value = cx.materialise(cx.expression(node, scope), node);
  if (value.kind === "record") return value;
  return cx.fail(node, "what is spread, { ...a }, is not an object of the kernel", "name each field");
}

/** `__spreadProps(__spreadValues({}, a), { b })` and `Object.assign({}, a)`: so tools write `{ ...a, b }` for old targets. */
export function merged(cx: Lowering, args: readonly ExpressionNode[], scope: Scope): RecordValue {
  const [first] = args;
  if (first.type !== "ObjectExpression" && first.type !== "CallExpression")
    cx.fail(first, "fields of an object cannot be assigned", "make another one: { ...a, b }");
  return { kind: "record", fields: new Map(args.flatMap((arg) => [...spread(cx, arg, scope).fields])) };
}

/** `let s = { a, b }`, which takes other objects later: each field is a variable. */
export function recordVariables(cx: Lowering, value: RecordValue, id: acorn.Node, name: string): RecordValue {
  const fields = new Map<string, LoweredValue>();
  for (const [field, part] of value.fields) {
    const wish = `${name}_${field}`;
    if (part.kind === "record") fields.set(field, recordVariables(cx, part, id, wish));
    else if (part.kind === "scalar" || part.kind === "variable") fields.set(field, cx.declare(wish, id, scalarOperand(cx, part, id)));
    else
      return cx.fail(
        id,
        `${field} of ${name} is neither a number nor a truth value, and ${name} is assigned later`,
        "keep it in a const of its own",
      );
  }
  return { kind: "record", of: value.of, fields, variable: name };
}

/** Declares locals for a value of that shape, which `storeParts` gives it; undefined for one that is not there. */
export function declareParts(cx: Lowering, shape: ReturnShape | undefined, node: acorn.Node, name: string): LoweredValue | undefined {
  switch (shape?.kind) {
    case undefined:
    case "void":
      return undefined;
    case "scalar":
      return cx.declare(name, node);
    case "tuple":
      return { kind: "tuple", items: shape.items.map((s, i) => declareParts(cx, s, node, `${name}_${i}`)!) };
    case "record":
      return {
        kind: "record",
        of: shape.of,
        fields: new Map([...shape.fields].map(([f, s]) => [f, declareParts(cx, s, node, `${name}_${f}`)!])),
      };
    default:
      return unreachable(shape);
  }
}

export function partsOf(value: LoweredValue): ReturnShape {
  if (value.kind === "tuple") return { kind: "tuple", items: value.items.map(partsOf) };
  if (value.kind === "record") return { kind: "record", of: value.of, fields: new Map([...value.fields].map(([f, v]) => [f, partsOf(v)])) };
  return value.kind === "void" ? { kind: "void" } : { kind: "scalar" };
}

/** Assigns all parts of a value. `differs` refuses one of another form. */
export function storeParts(cx: Lowering, target: LoweredValue, value: LoweredValue, node: acorn.Node, differs: () => never): void {
  if (target.kind === "variable") {
    if (value.kind === "record" || value.kind === "tuple") differs();
    return cx.assign(target, scalarOperand(cx, value, node), node);
  }
  if (target.kind === "tuple" && value.kind === "tuple" && target.items.length === value.items.length)
    return target.items.forEach((t, i) => storeParts(cx, t, value.items[i], node, differs));
  if (target.kind === "record" && value.kind === "record" && target.of === value.of && target.fields.size === value.fields.size)
    return target.fields.forEach((t, f) => storeParts(cx, t, value.fields.get(f) ?? differs(), node, differs));
  return differs();
}

/** `s = { ... }` of a variable that holds objects. Gives the object that it holds now. */
export function assignRecord(cx: Lowering, target: RecordValue, right: acorn.Expression, scope: Scope, node: acorn.Node): LoweredValue {
  // All fields are known before the first is assigned: the right side may read any of them.
  const value = cx.materialise(cx.expression(right, scope), node);
  const name = target.variable!;
  const names = ({ fields }: RecordValue): string => [...fields.keys()].join(", ");
  if (target.of && (value.kind !== "record" || value.of !== target.of))
    return cx.fail(node, `${name} is a ${target.of.name}, and is given something else`, `write ${name} = ${target.of.name}(...)`);
  storeParts(cx, target, value, node, () =>
    cx.fail(
      node,
      value.kind === "record"
        ? `${name} has the fields ${names(target)}, and is given an object with ${names(value)}`
        : `${name} holds an object, and is given something else`,
      `give it the same fields each time: { ...${name}, ${[...target.fields.keys()][0] ?? "a"} }`,
    ),
  );
  return value;
}

/**
 * `let s;`, which takes an object later: the first one that it is given tells its fields, and the kernel is lowered anew. Undefined if it is given none.
 */
export function declaredLater(cx: Lowering, id: acorn.Identifier, node: acorn.Node): LoweredValue | undefined {
  const shape = cx.knowledge.shapes.get(keyOf(cx, id.name, node));
  const value = shape?.kind === "record" ? declareParts(cx, shape, node, id.name) : undefined;
  return value?.kind === "record" ? named(value, id.name) : undefined;
}

const keyOf = (cx: Lowering, name: string, node: acorn.Node): string => `${cx.path}/${node.start}:${name}`;

const named = (value: RecordValue, variable: string): RecordValue => ({
  kind: "record",
  of: value.of,
  fields: new Map([...value.fields].map(([field, part]) => [field, part.kind === "record" ? named(part, `${variable}_${field}`) : part])),
  variable,
});

/** A value, and the statements before it. */
interface Branch {
  readonly stmts: readonly Stmt[];
  readonly value: LoweredValue;
}

/** `c ? { a, b } : s`, once the branches are lowered: control takes one of them. */
export function eitherRecord(cx: Lowering, cond: Expr, a: Branch, b: Branch, node: acorn.Node): LoweredValue {
  const found = declareParts(cx, partsOf(a.value), node, "t")!;
  const differs = (): never => cx.fail(node, "the two values differ in form", "give objects with the same fields on both sides");
  const branches = [a, b].map(({ stmts, value }) => [...stmts, ...cx.collect(() => storeParts(cx, found, value, node, differs)).stmts]);
  cx.out.push({ kind: "if", cond, then: branches[0], else: branches[1], location: cx.at(node) });
  return found;
}
