import type * as acorn from "acorn";
import { KernelError } from "../../base/errors.js";
import { originalPosition } from "#source-map";
import type { Kernel } from "../declare/kernel.js";
import type { ReduceToken } from "../declare/params.js";
import { extremumBodies } from "../../ir/extremum.js";
import { typedValue } from "../../ir/scalars.js";
import type { JointFold, NumericType, Param, ReduceParam } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";
import { asIndex, scalarsOf } from "./operands.js";
import { numbersOfRecord } from "./structs.js";
import type { LoweredValue, Scope } from "./values.js";

type Joint = Extract<LoweredValue, { kind: "extremum" | "reduceStruct" }>;

/** `best.min(value, index)`, and `r.merge(record)` of a fold of records. */
export function lowerJointFold(cx: Lowering, target: Joint, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const [method, arity] = target.kind === "extremum" ? [target.op, 2] : ["merge", 1];
  const usage = `write ${target.name}.${method}(${target.kind === "extremum" ? "value, index" : target.struct.name.toLowerCase()})`;
  if (name !== method) return cx.fail(node, `${target.name} has no method "${name}"`, usage);
  if (node.arguments.length !== arity)
    return cx.fail(node, `${target.name} is given ${node.arguments.length} arguments instead of ${arity}`, usage);
  const location = cx.at(node);
  if (target.kind === "reduceStruct") {
    const [argument] = node.arguments;
    const value = cx.materialise(cx.expression(argument, scope), argument);
    cx.out.push({ kind: "reduceJointly", targets: target.parts, values: numbersOfRecord(cx, target.struct, value, node), location });
    return { kind: "void" };
  }
  const [value, index] = scalarsOf(cx, node.arguments, scope);
  const values = [cx.stored(value, target.type, node, target.name), asIndex(cx, index, node.arguments[1])];
  cx.out.push({ kind: "reduceJointly", targets: target.parts, values, location });
  return { kind: "void" };
}

/** The fold of an extremum with its place, whose parts are the value and the index. */
export function extremumFold(op: "min" | "max", type: NumericType, parts: readonly string[]): JointFold {
  const [a, b] = ["a", "b"].map((side) => parts.map((part) => `${side} of ${part}`));
  return { parts, a, b, bodies: extremumBodies(op, type, [a[0], a[1]], [b[0], b[1]]) };
}

/** A part of a joint reduction, whose fold comes later. */
export const partParam = (name: string, { type, identity }: ReduceToken): ReduceParam => ({
  kind: "reduce",
  name,
  type,
  op: "joint",
  identity: typedValue(type, identity),
});

/** Gives the parts of a joint reduction their fold. */
export function foldBy(params: readonly Param[], joint: JointFold): void {
  for (const param of params) if (param.kind === "reduce" && joint.parts.includes(param.name)) param.joint = joint;
}

/** Throws KernelError for a joint reduction of a container, whose cells fold into scalars. */
export function refuseInContainers(
  { name, policy, location }: Pick<Kernel, "name" | "location"> & { readonly policy: unknown },
  param: string,
  what: string,
): void {
  if (policy !== "range" && policy !== "team")
    throw new KernelError(
      name,
      originalPosition(location),
      `the parameter "${param}" is ${what}, which containers do not take`,
      "reduce with min or max into a scalar, or write a kernel over an array",
    );
}

/** Throws KernelError for a list of a kernel that is not over a range. */
export function requireListPolicy(
  { name, policy, location }: Pick<Kernel, "name" | "location"> & { readonly policy: unknown },
  list: string,
): void {
  if (policy === "range") return;
  const others = policy === "team" ? "teams" : "containers";
  const problem = `the parameter "${list}" is a list, which ${others} do not take`;
  throw new KernelError(name, originalPosition(location), problem, "append in a kernel over a range");
}
