import type * as acorn from "acorn";
import { ATOMIC_METHODS } from "../declare/atomic-methods.js";
import type { AtomicToken } from "../declare/params.js";
import type { Expr, Param } from "../../ir/types.js";
import { refuseInContainers } from "./joint.js";
import type { Lowering } from "./lowering.js";
import { asIndex, scalarsOf } from "./operands.js";
import type { LoweredValue, Scope } from "./values.js";

/** The parameter of the code, and the value of the name. Throws KernelError in containers. */
export function atomicParam(
  kernel: Parameters<typeof refuseInContainers>[0],
  name: string,
  { element, rank }: AtomicToken,
): [Param, LoweredValue] {
  refuseInContainers(kernel, name, `atomic(${element})`);
  return [
    { kind: "view", name, element, rank, disjoint: false, atomic: true },
    { kind: "atomic", name, element, rank },
  ];
}

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
