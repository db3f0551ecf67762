import type * as acorn from "acorn";
import { isWide } from "../../ir/scalars.js";
import type { Expr } from "../../ir/types.js";
import { isBuiltin } from "../declare/builtins.js";
import { lowerAtomic } from "./atomics.js";
import { compositeArray, lowerElement, property } from "./expressions.js";
import { alongAxis, lowerDeposit, fieldMethod } from "./fields.js";
import type { Lowering } from "./lowering.js";
import { outerMember, unknown } from "./outer.js";
import { cellMethod } from "./march.js";
import { mathCall } from "./math.js";
import { lanesMethod, teamMethod } from "./team.js";
import { pathOf, stringOf } from "../read/syntax.js";
import { constructStruct } from "./structs.js";
import { toolCall } from "./tool-calls.js";
import { Scope, constantExpr, isNamespace, type LoweredValue } from "./values.js";
import { conversion, cutTo, isCut } from "./wide.js";
import { METHODS } from "../declare/params.js";
import { asIndex, scalarsOf } from "./operands.js";
import { inline } from "./inline.js";
import { lowerJointFold } from "./joint.js";
import { listSupport } from "../declare/list-support.js";
import type { lowerPush } from "./lists.js";
import { compositeMethod, construct, foldComposite } from "./composites.js";

const VOID: LoweredValue = { kind: "void" };

/** The function of a call: `m.wave` of `(0, m.wave)(...)`, too, as bundlers and test runners call what was imported. */
const calleeOf = ({ callee }: acorn.CallExpression): acorn.CallExpression["callee"] =>
  callee.type === "SequenceExpression" ? callee.expressions[callee.expressions.length - 1] : callee;

/** True for a call of `span`. */
export function callsSpan(cx: Lowering, node: acorn.Expression, scope: Scope): node is acorn.CallExpression {
  if (node.type !== "CallExpression") return false;
  const callee = calleeOf(node);
  const path = pathOf(callee);
  const known = path === undefined ? undefined : scope.find(path);
  if (known) return known.kind === "builtin" && known.name === "span";
  return path !== undefined && path.split(".").at(-1) === "span" && !scope.find(path.split(".")[0]);
}

export function lowerCall(cx: Lowering, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const callee = calleeOf(node);
  const written = toolCall(cx, node, scope);
  if (written) return written;
  if (callee.type !== "MemberExpression") return apply(cx, cx.expression(callee, scope), node, scope);

  const outer = outerMember(cx, callee, scope);
  if (outer) return apply(cx, outer, node, scope);
  const { object } = callee;
  const name = callee.property.type === "Identifier" && !callee.computed ? callee.property.name : "";
  if (object.type === "Identifier" && !scope.find(object.name) && !isNamespace(object.name)) {
    const known: LoweredValue | undefined = isBuiltin(name) ? { kind: "builtin", name } : cx.globals.find(name);
    if (known?.kind !== "builtin" && known?.kind !== "function") return unknown(cx, callee, `${object.name}.${name}`, scope);
    return apply(cx, known, node, scope);
  }
  const target = cx.expression(object, scope);
  return (
    method(cx, target, name, node, scope) ??
    apply(cx, callee.computed ? lowerElement(cx, target, callee, scope) : property(cx, target, name, callee), node, scope)
  );
}

function apply(cx: Lowering, fn: LoweredValue, node: acorn.CallExpression, scope: Scope): LoweredValue {
  if (fn.kind === "builtin" && fn.name === "print") return printLine(cx, node, scope);
  if (fn.kind === "struct") return constructStruct(cx, fn.of, node, scope);
  if (fn.kind === "composite") return construct(cx, fn.of, node, scope);
  if (fn.kind === "builtin" && fn.name === "array") return compositeArray(cx, node, scope);
  if (fn.kind === "builtin" && fn.name === "span")
    return cx.fail(node, "span stands outside of the head of a loop", "write for (const k of span(begin, end))");
  if (fn.kind === "namespace" && (fn.name === "BigInt" || fn.name === "Number")) return conversion(cx, fn.name, node, scope);
  const cut = fn.kind === "builtin" ? fn.name.replace("BigInt.", "") : "";
  if (isCut(cut)) return cutTo(cx, cut, node, scope);
  if (fn.kind === "builtin") return mathCall(cx, fn.name, node, scope);
  if (fn.kind !== "function") return cx.fail(node, "this is not a function", "call a helper that is a parameter, or a Math function");
  const args = cx.inOrder(
    node.arguments.map((a) => () => cx.expression(a, scope)),
    (value, n) => cx.materialise(value, node.arguments[n]),
  );
  return inline(cx, fn, args, node);
}

/** A call of something that a field, a cell, a scatter target, a reduction, a team, a private array or the console offers; undefined for all else. */
function method(cx: Lowering, target: LoweredValue, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue | undefined {
  const location = cx.at(node);
  switch (target.kind) {
    case "reduceComposite":
      return foldComposite(cx, target, name, node, scope);
    case "scatter": {
      const { op, rank, element: type, of } = target;
      if (of) return foldComposite(cx, { ...target, of }, name, node, scope);
      if (name !== METHODS[op])
        return cx.fail(node, `${target.name} has no method "${name}"`, `it folds by ${op}: write ${target.name}.${METHODS[op]}(...)`);
      if (node.arguments.length !== rank + 1)
        return cx.fail(
          node,
          `${target.name} has rank ${rank} and is given ${node.arguments.length} arguments`,
          "give an index for each axis, then the value",
        );
      const values = scalarsOf(cx, node.arguments, scope);
      const indices = values.slice(0, rank).map((v, k) => asIndex(cx, v, node.arguments[k]));
      cx.out.push({ kind: "scatter", target: target.name, indices, value: cx.stored(values[rank], type, node, target.name), location });
      return VOID;
    }
    case "atomic":
      return lowerAtomic(cx, target, name, node, scope);
    case "reduce": {
      if (name !== METHODS[target.op])
        return cx.fail(
          node,
          `${target.name} has no method "${name}"`,
          `it folds by ${target.op}: write ${target.name}.${METHODS[target.op]}(value)`,
        );
      const [value] = oneArgument(cx, node, scope);
      cx.out.push({
        kind: "reduce",
        target: target.name,
        value: target.result ? cx.fit(value, target.result, node) : cx.stored(value, target.type, node, target.name),
        location,
      });
      return VOID;
    }
    case "extremum":
    case "reduceStruct":
      return lowerJointFold(cx, target, name, node, scope);
    case "list":
      return listSupport<{ lowerPush: typeof lowerPush }>().lowerPush(cx, target, name, node, scope);
    case "assign":
      return assigned(cx, target, name, node, scope);
    case "reduceEach": {
      const { array, type, op } = target;
      const usage = `${target.name}.${METHODS[op]}(k, value)`;
      if (name !== METHODS[op]) return cx.fail(node, `${target.name} has no method "${name}"`, `it folds by ${op}: write ${usage}`);
      if (node.arguments.length !== 2)
        return cx.fail(node, `${target.name} has several components and is given ${node.arguments.length} arguments`, `write ${usage}`);
      const values = scalarsOf(cx, node.arguments, scope);
      const k = cx.materialiseScalar({ kind: "scalar", expr: asIndex(cx, values[0], node.arguments[0]) }, node).expr;
      const held: Expr = { op: "element", type, array, index: k, location };
      const b = target.result ? cx.fit(values[1], target.result, node) : cx.stored(values[1], type, node, target.name);
      const value: Expr = { op: "binary", type, fn: op === "sum" ? "add" : op, a: held, b };
      cx.out.push({ kind: "setElement", array, index: k, value, location });
      return VOID;
    }
    case "array": {
      if (name !== "fill" || target.of)
        return cx.fail(
          node,
          `${target.of ? `arrays of ${target.of.name}` : "arrays"} have no method "${name}" in a kernel`,
          "write a loop",
        );
      const [value] = oneArgument(cx, node, scope);
      const held = cx.materialiseScalar({ kind: "scalar", expr: cx.stored(value, target.type, node, "the private array") }, node).expr;
      const k = cx.unique("k");
      const index: Expr = { op: "local", type: "i32", name: k };
      cx.out.push({
        kind: "for",
        name: k,
        start: constantExpr("i32", 0),
        stop: constantExpr("i32", target.length),
        step: 1,
        body: [{ kind: "setElement", array: target.name, index, value: held, location }],
        location,
      });
      return VOID;
    }
    case "record":
      return compositeMethod(cx, target, name, node, scope);
    case "field":
      return fieldMethod(cx, target, name, node, scope);
    case "axis":
      if (name !== "at")
        return cx.fail(node, `${target.name} has no method "${name}"`, `write ${target.name}[c] or ${target.name}.at(c, d)`);
      return alongAxis(cx, target, node.arguments, node, scope);
    case "deposit":
      return lowerDeposit(cx, target, name, node, scope);
    case "cell":
      return cellMethod(cx, target, name, node, scope);
    case "team":
      return teamMethod(cx, name, node, scope);
    case "lanes":
      return lanesMethod(cx, name, node, scope);
    case "namespace":
      if (target.name !== "console") return undefined;
      return cx.debug ? VOID : cx.fail(node, "console works on the device js-debug only", "write print(...), which works on all devices");
    case "view":
    case "table":
      return cx.fail(node, `arrays have no method "${name}" in a kernel`, "write a loop");
    // Any other value has no methods.
    default:
      return undefined;
  }
}

/** `print("cell", i, x[i])` */
function printLine(cx: Lowering, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const numbers = node.arguments.filter((arg) => stringOf(arg) === undefined);
  for (const arg of numbers)
    if (arg.type === "TemplateLiteral")
      cx.fail(arg, "print does not take templates with values", 'write print("cell", i), which puts spaces between');
  const values = scalarsOf(cx, numbers, scope);
  const wide = values.findIndex(({ expr }) => isWide(expr.type));
  if (wide >= 0)
    cx.fail(
      numbers[wide],
      "a bigint is printed",
      "print Number(x), or its words Number(BigInt.asUintN(32, x >> 32n)) and Number(BigInt.asUintN(32, x))",
    );
  const items = node.arguments.map((arg): string | Expr => {
    const text = stringOf(arg);
    if (text !== undefined) return text;
    const { expr } = values.shift()!;
    // A number that is written out needs no device that has f64.
    return expr.op === "const" ? String(expr.value) : expr;
  });
  cx.out.push({ kind: "print", items, location: cx.at(node) });
  return VOID;
}

/** `s.set(v)`, `s.get()` */
function assigned(
  cx: Lowering,
  { name, type }: Extract<LoweredValue, { kind: "assign" }>,
  called: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue {
  const [indices, location] = [[constantExpr("i32", 0)], cx.at(node)];
  if (called === "get" && node.arguments.length === 0) {
    // A local: it may be set before the value is used.
    return cx.materialise({ kind: "scalar", expr: { op: "load", type, view: name, indices, location } }, node);
  }
  if (called !== "set") return cx.fail(node, `${name} has no method "${called}"`, `write ${name}.set(value) or ${name}.get()`);
  const [value] = oneArgument(cx, node, scope);
  cx.out.push({ kind: "store", view: name, indices, value: cx.stored(value, type, node, name), location });
  return VOID;
}

function oneArgument(cx: Lowering, node: acorn.CallExpression, scope: Scope): ReturnType<typeof scalarsOf> {
  if (node.arguments.length !== 1) cx.fail(node, `one value is needed here, and ${node.arguments.length} are given`);
  return scalarsOf(cx, node.arguments, scope);
}
