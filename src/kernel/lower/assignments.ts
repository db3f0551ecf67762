import type * as acorn from "acorn";
import type { Expr, NumericType } from "../../ir/types.js";
import { knownConstant } from "./constant.js";
import { lowerElement, identifier } from "./expressions.js";
import { readVariable, type Lowering } from "./lowering.js";
import { lowerOperator } from "./operators.js";
import { assignRecord, recordVariables, partsOf, type RecordValue } from "./records.js";
import { pathOf } from "../read/syntax.js";
import { componentIndices, storeComposite, type ElementPlace } from "./composites.js";
import { fieldPlace, storeStruct } from "./structs.js";
import { isWide } from "../../ir/scalars.js";
import { literalExpr, wideLiteral } from "./types.js";
import { Scope, constantExpr, isShort, type ScalarValue, type LoweredValue } from "./values.js";
import { scalarOperand } from "./operands.js";

/** Binds the names of a declaration or parameter list to parts of a value. `fresh`: the value is an array literal that nothing else knows. */
export function bindPattern(
  cx: Lowering,
  pattern: acorn.Pattern,
  value: LoweredValue,
  scope: Scope,
  constantName: boolean,
  fresh = false,
): void {
  switch (pattern.type) {
    case "Identifier":
      scope.bind(pattern.name, named(cx, pattern, value, constantName, fresh));
      return;
    case "ArrayPattern":
      if (value.kind !== "tuple") return cx.fail(pattern, "only an array literal, or a function's array of results, can be taken apart");
      pattern.elements.forEach(
        (e, i) => e && bindPattern(cx, e, value.items[i] ?? cx.fail(e, `there are ${value.items.length} values`), scope, constantName),
      );
      return;
    case "ObjectPattern":
      for (const p of pattern.properties) {
        if (p.type === "RestElement" || p.computed) return cx.fail(p, "rest and computed names are not supported in a pattern");
        const name = p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value);
        const part = value.kind === "params" ? cx.globals.find(name) : value.kind === "record" ? value.fields.get(name) : undefined;
        if (value.kind === "params" && part && p.value.type === "Identifier") scope.bind(p.value.name, part);
        else if (part) bindPattern(cx, p.value, part, scope, constantName);
        else if (value.kind === "record" && p.value.type === "AssignmentPattern")
          bindPattern(cx, p.value, { kind: "void" }, scope, constantName);
        else return cx.fail(p, value.kind === "params" ? `there is no parameter "${name}"` : `there is no field "${name}"`);
      }
      return;
    case "AssignmentPattern":
      return bindPattern(cx, pattern.left, value.kind === "void" ? cx.expression(pattern.right, scope) : value, scope, constantName);
    // Any other pattern is refused.
    default:
      return cx.fail(pattern, `${pattern.type} is not supported in a declaration`);
  }
}

/** Value of a declared name: a local for a number, else the thing itself. */
function named(cx: Lowering, id: acorn.Identifier, value: LoweredValue, constantName: boolean, fresh: boolean): LoweredValue {
  switch (value.kind) {
    case "scalar":
    case "variable": {
      if (!constantName) return cx.declare(id.name, id, scalarOperand(cx, value, id));
      const known = value.kind === "scalar" ? knownConstant(cx, value.expr) : undefined;
      return value.kind === "scalar" && known !== undefined
        ? { ...value, expr: constantExpr(value.expr.type, known) }
        : cx.materialise(value, id, id.name);
    }
    case "void":
      return cx.fail(id, "a function that returns nothing is used as a value", "return a value on every path");
    case "tuple":
      return fresh && !constantName ? variables(cx, value, id, "") : value;
    case "record":
      return constantName ? cx.materialise(value, id) : recordVariables(cx, value, id, id.name);
    case "function":
      return value.name ? value : { ...value, name: id.name };
    // Any other value gets a name as it is, or is refused.
    default:
      return cx.materialise(value, id);
  }
}

/** `let v = [a, b]`: each item a variable. */
function variables(cx: Lowering, value: LoweredValue & { kind: "tuple" }, id: acorn.Identifier, part: string): LoweredValue {
  return {
    kind: "tuple",
    items: value.items.map((item, i) => {
      if (item.kind === "scalar" || item.kind === "variable") return cx.declare(`${id.name}${part}_${i}`, id, scalarOperand(cx, item, id));
      return item.kind === "tuple" ? variables(cx, item, id, `${part}_${i}`) : item;
    }),
  };
}

/** Lowers an assignment; where it is used as a value, that is the right side's. */
export function assignTo(cx: Lowering, node: acorn.AssignmentExpression, scope: Scope, asValue = false): LoweredValue {
  const { left, right, operator } = node;
  // Minifiers write `a = a && b` so; a name may be read twice.
  if (left.type === "Identifier" && (operator === "&&=" || operator === "||=")) {
    const both = { ...node, type: "LogicalExpression", operator: operator === "&&=" ? "&&" : "||", left, right } as const;
    return assignTo(cx, { ...node, operator: "=", right: both }, scope, asValue);
  }
  if (left.type === "ArrayPattern" || left.type === "ObjectPattern")
    return assignPattern(cx, left, cx.expression(right, scope), scope, node);
  const held = left.type === "Identifier" ? scope.find(left.name) : undefined;
  if (operator === "=" && held?.kind === "record" && held.variable !== undefined) return assignRecord(cx, held, right, scope, node);
  const compound = operator === "=" ? undefined : operator.slice(0, -1);
  if (compound === "&&" || compound === "||" || compound === "??")
    cx.fail(node, `${operator} is not part of the kernel language`, "write if");
  const target = assignmentTarget(cx, left, scope);
  if (isWhole(target)) return assignWhole(cx, target, node, scope);
  let [current, value] = cx.inOrder<LoweredValue>(
    [() => (compound ? valueAt(cx, target, node) : { kind: "void" }), () => given(cx, target, cx.expression(right, scope), right)],
    (old) => {
      keepIndices(cx, target, node);
      return cx.materialise(old, node);
    },
  );
  if (compound) value = lowerOperator(cx, compound, scalarOperand(cx, current, node), scalarOperand(cx, value, node), node);
  if (asValue) value = cx.materialise(value, node);
  write(cx, target, scalarOperand(cx, value, node), node);
  return value;
}

const isWhole = (target: AssignmentTarget): target is WholeTarget => target.kind === "composite" || target.kind === "struct";

const typeOfTarget = (target: WholeTarget): string =>
  target.kind === "composite" ? target.place.of.name : (target.record.elementOf?.struct.name ?? "record");

/** `x[i] = v` of an array of vectors and the like, or of records. */
function assignWhole(cx: Lowering, target: WholeTarget, node: acorn.AssignmentExpression, scope: Scope): LoweredValue {
  if (node.operator !== "=") return cx.fail(node, `${node.operator} of a ${typeOfTarget(target)}`, "write x[i] = x[i].add(v)");
  const [, value] = cx.inOrder<LoweredValue>([() => ({ kind: "void" }), () => cx.expression(node.right, scope)], (nothing) => {
    keepIndices(cx, target, node);
    return nothing;
  });
  const settled = cx.materialise(value, node, "part");
  if (target.kind === "struct") storeStruct(cx, target.record, settled, node);
  else storeComposite(cx, { ...target.place, indices: target.indices }, settled, node);
  return settled;
}

/** The right side of an assignment as a number. An object that goes to a variable declared without a value tells that it holds objects. */
function given(cx: Lowering, target: AssignmentTarget, value: LoweredValue, node: acorn.Expression): ScalarValue {
  if (value.kind === "record" && target.kind === "variable" && target.variable.later && !cx.knowledge.shapes.has(target.variable.key)) {
    cx.knowledge.shapes.set(target.variable.key, partsOf(value));
    cx.knowledge.fresh = true;
  }
  return scalarOperand(cx, value, node);
}

/** Lowers `x++` and its kin; the value is the old one for the postfix forms. */
export function updateTarget(cx: Lowering, node: acorn.UpdateExpression, scope: Scope, asValue = false): LoweredValue {
  const target = assignmentTarget(cx, node.argument, scope);
  if (isWhole(target)) return cx.fail(node, `${node.operator} of a ${typeOfTarget(target)}`, "write x[i] = x[i].add(v)");
  const old = valueAt(cx, target, node);
  const before = asValue && !node.prefix ? cx.materialiseScalar(old, node) : old;
  const sum = lowerOperator(
    cx,
    node.operator === "++" ? "+" : "-",
    before,
    isWide(old.expr.type) ? wideLiteral(1n)! : literalExpr(1),
    node,
  );
  const after = asValue && node.prefix ? cx.materialiseScalar(sum, node) : sum;
  write(cx, target, after, node);
  return node.prefix ? after : before;
}

function assignPattern(cx: Lowering, pattern: acorn.Pattern, value: LoweredValue, scope: Scope, node: acorn.Node): LoweredValue {
  const part = (target: acorn.Pattern, found: LoweredValue): void =>
    write(cx, assignmentTarget(cx, target, scope), scalarOperand(cx, found, node), node);
  if (pattern.type === "ArrayPattern" && value.kind === "tuple")
    pattern.elements.forEach((e, i) => e && part(e, value.items[i] ?? { kind: "void" }));
  else if (pattern.type === "ObjectPattern" && value.kind === "record") {
    const { fields } = cx.materialise(value, node) as RecordValue;
    for (const p of pattern.properties) {
      if (p.type !== "Property" || p.computed) return cx.fail(p, "rest and computed names are not supported in a pattern");
      const name = String(p.key.type === "Identifier" ? p.key.name : (p.key as acorn.Literal).value);
      part(p.value, fields.get(name) ?? cx.fail(p, `there is no field "${name}"`));
    }
  } else return cx.fail(node, "only [a, b] = [c, d] and ({ a, b } = s) can assign several values");
  return value;
}

/** All of a value of several numbers, or of a record. */
type WholeTarget = Extract<AssignmentTarget, { kind: "composite" | "struct" }>;
type AssignmentTarget =
  | { kind: "variable"; variable: LoweredValue & { kind: "variable" } }
  | { kind: "view"; view: { name: string; element: NumericType }; indices: Expr[] }
  | { kind: "composite"; place: ElementPlace; indices: Expr[] }
  | { kind: "struct"; record: RecordValue; indices: Expr[] }
  | { kind: "element"; array: { name: string; type: NumericType }; indices: Expr[] };

/** Target on the left of an assignment. */
function assignmentTarget(cx: Lowering, node: acorn.Expression | acorn.Pattern, scope: Scope): AssignmentTarget {
  if (node.type === "Identifier") {
    const value = identifier(cx, node, scope);
    if (value.kind === "variable") return { kind: "variable", variable: value };
    return cx.fail(
      node,
      `${node.name} is a parameter or a constant and cannot be assigned`,
      "assign an element of a view, or a local declared with let",
    );
  }
  if (node.type !== "MemberExpression") return cx.fail(node, "this cannot be assigned");
  if (!node.computed) {
    const of = cx.expression(node.object, scope);
    if (of.kind === "record" && of.of) return componentTarget(cx, of, node);
    const place = of.kind === "record" ? fieldPlace(of, (node.property as acorn.Identifier).name) : undefined;
    if (place) return placeTarget(place);
    const [object, field] = [pathOf(node.object) ?? "s", (node.property as acorn.Identifier).name];
    return cx.fail(
      node,
      "fields of an object cannot be assigned",
      `declare ${object} with let, and write ${object} = { ...${object}, ${field}: value }`,
    );
  }
  const object = cx.expression(node.object, scope);
  if (object.kind === "table") return cx.fail(node, `the table ${object.name} is constant`, "use a view");
  if (object.kind === "atomic")
    return cx.fail(node, `${object.name} is an atomic array, which is not assigned`, `write ${object.name}.store(i, value)`);
  const value = lowerElement(cx, object, node, scope);
  if (value.kind === "variable") return { kind: "variable", variable: value };
  if (value.kind === "record" && (value.place ?? value.elementOf)) return placeTarget(value);
  if (object.kind === "tuple")
    return cx.fail(node, "an array literal that is declared const cannot be assigned", "declare it with let, or use new Float64Array(n)");
  if (value.kind === "scalar" && value.expr.op === "load") {
    if (object.kind === "view" || object.kind === "field") return { kind: "view", view: object, indices: value.expr.indices };
    if (object.kind === "axis" || (object.kind === "components" && object.field.constant))
      return cx.fail(
        node,
        `writes ${(object.kind === "axis" ? object : object.field).name}, an array along axes, which many cells share`,
        "reduce into it: give sum(...) of it to the container, and add",
      );
    if (object.kind === "components" && object.field.level === "own")
      return { kind: "view", view: object.field, indices: value.expr.indices };
  }
  if (object.kind === "components")
    return cx.fail(node, `writes ${object.field.name}, which belongs to another grid`, "write it by a container of its own grid");
  if (value.kind === "components")
    return cx.fail(node, `all components of ${value.field.name} are assigned at once`, `assign ${value.field.name}[c][k] for each k`);
  if (value.kind === "scalar" && value.expr.op === "element" && object.kind === "array")
    return { kind: "element", array: object, indices: [value.expr.index] };
  if (value.kind === "view")
    return cx.fail(
      node,
      `${value.name} is a view of rank ${value.rank}, assigned with ${value.prefix.length} ${value.prefix.length === 1 ? "index" : "indices"}`,
      "give an index for each axis",
    );
  return cx.fail(node, "this cannot be assigned");
}

/** An element of a view, a private array or an array of records, or a field of one. */
function placeTarget(value: LoweredValue): AssignmentTarget {
  if (value.kind === "record" && value.place) return { kind: "composite", place: value.place, indices: [...value.place.indices] };
  if (value.kind === "record") return { kind: "struct", record: value, indices: [] };
  const { view: name, type: element, indices } = (value as ScalarValue).expr as Extract<Expr, { op: "load" }>;
  return { kind: "view", view: { name, element }, indices };
}

/** `x[i].y`, a component of an array's element. */
function componentTarget(cx: Lowering, { of, place }: RecordValue, node: acorn.MemberExpression): AssignmentTarget {
  const field = (node.property as acorn.Identifier).name;
  const n = of!.fields.indexOf(field);
  if (n < 0) return cx.fail(node, `a ${of!.name} has no component "${field}"`, `it has ${of!.fields.join(", ")}`);
  const name = pathOf(node.object) ?? "v";
  if (!place) return cx.fail(node, `${name} is a ${of!.name} and does not change`, `write ${name} = ${name}.with(${n}, value), with let`);
  const { kind, name: array, element } = place;
  const indices = componentIndices(place, n);
  return kind === "view"
    ? { kind, view: { name: array, element }, indices }
    : { kind: "element", array: { name: array, type: element }, indices };
}

function valueAt(cx: Lowering, target: Exclude<AssignmentTarget, WholeTarget>, node: acorn.Node): ScalarValue {
  if (target.kind === "variable") return readVariable(target.variable);
  // The place is both read and written: indices with work in them are evaluated once.
  target.indices = target.indices.map((e) => (isShort(e) ? e : cx.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr));
  const { indices } = target;
  const location = cx.at(node);
  if (target.kind === "view")
    return { kind: "scalar", expr: { op: "load", type: target.view.element, view: target.view.name, indices, location } };
  return { kind: "scalar", expr: { op: "element", type: target.array.type, array: target.array.name, index: indices[0], location } };
}

/** Keeps the indices of the target, so that expressions evaluated next do not change them. */
function keepIndices(cx: Lowering, target: AssignmentTarget, node: acorn.Node): void {
  if (target.kind !== "variable")
    target.indices = target.indices.map((e) => cx.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr);
}

function write(cx: Lowering, target: AssignmentTarget, value: ScalarValue, node: acorn.Node): void {
  const location = cx.at(node);
  if (isWhole(target)) return cx.fail(node, `a number goes to a ${typeOfTarget(target)}`, `write ${typeOfTarget(target)}(...)`);
  if (target.kind === "variable") cx.assign(target.variable, value, node);
  else if (target.kind === "view")
    cx.out.push({
      kind: "store",
      view: target.view.name,
      indices: target.indices,
      value: cx.stored(value, target.view.element, node, target.view.name),
      location,
    });
  else
    cx.out.push({
      kind: "setElement",
      array: target.array.name,
      index: target.indices[0],
      value: cx.stored(value, target.array.type, node, "the private array"),
      location,
    });
}
