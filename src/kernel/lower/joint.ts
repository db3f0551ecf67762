import type * as acorn from "acorn";
import type { Expr, Stmt } from "../../ir/types.js";
import { mapExpr } from "../../ir/walk.js";
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

/** The expressions with locals of the statements before them written out; undefined if these do more than declare. */
export function withoutLocals(stmts: readonly Stmt[], bodies: readonly Expr[]): Expr[] | undefined {
  const values = new Map<string, Expr>();
  const written = (expr: Expr): Expr => mapExpr(expr, (node) => (node.op === "local" ? (values.get(node.name) ?? node) : node));
  for (const stmt of stmts) {
    if (stmt.kind !== "let" || !stmt.init) return undefined;
    values.set(stmt.name, written(stmt.init));
  }
  return bodies.map(written);
}
