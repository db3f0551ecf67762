import type * as acorn from "acorn";
import { ATOMIC_METHODS } from "../declare/atomic-methods.js";
import type { Expr } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";
import { asIndex, scalarsOf } from "./operands.js";
import type { LoweredValue, Scope } from "./values.js";

/** A call of an atomic array's method, which gives the element's old value. */
export function lowerAtomic(
  cx: Lowering,
  target: Extract<LoweredValue, { kind: "atomic" }>,
  name: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue {
  const { name: array, element: type, rank } = target;
  if (!Object.hasOwn(ATOMIC_METHODS, name))
    return cx.fail(node, `${array} has no method "${name}"`, `an atomic array has ${Object.keys(ATOMIC_METHODS).join(", ")}`);
  const { fn, values, negates, silent } = ATOMIC_METHODS[name];
  if (node.arguments.length !== rank + values.length) {
    const usage = [...["i", "j", "k", "l", "m", "n", "o"].slice(0, rank), ...values];
    return cx.fail(node, `${array}.${name} is given ${node.arguments.length} arguments`, `write ${array}.${name}(${usage.join(", ")})`);
  }
  const given = scalarsOf(cx, node.arguments, scope);
  const indices = given.slice(0, rank).map((index, k) => asIndex(cx, index, node.arguments[k]));
  const operands = given.slice(rank).map((operand) => cx.stored(operand, type, node, array));
  const location = cx.at(node);
  const last = operands.at(-1);
  const value: Expr | undefined = last && negates ? { op: "unary", type, fn: "neg", a: last, wraps: true } : last;
  const result = silent ? undefined : cx.unique(`${array}_before`);
  cx.out.push({
    kind: "atomic",
    target: array,
    indices,
    fn,
    type,
    ...(value && { value }),
    ...(fn === "compareExchange" && { expected: operands[0] }),
    ...(result !== undefined && { result }),
    location,
  });
  return result === undefined ? { kind: "void" } : { kind: "scalar", expr: { op: "local", type, name: result } };
}
