import { unreachable } from "../base/unreachable.js";
import { argumentType, binaryFits, compareFits, MATH, unaryFits, type PlainValue } from "./operators.js";
import { isFloat, isSingle, isWide, wrap, wrapWide } from "./scalars.js";
import type { Expr, ScalarType } from "./types.js";
import { children } from "./walk.js";

/** Nodes whose types can be judged by themselves: what they name stands in no table of parameters or locals. */
export type Operation = Extract<Expr, { op: "const" | "unary" | "binary" | "compare" | "logical" | "select" | "cast" | "call" }>;

/** Describes a type error of a constant, or of an operator and its operands; undefined if there is none. */
export function typeProblem(node: Operation): string | undefined {
  if (node.op === "const") return representable(node.type, node.value) ? undefined : `not a value of ${node.type}`;
  const operands = children(node).map((child) => child.type);
  return fits(node, operands) ? undefined : `${operands.join(", ")} gives ${node.type}`;
}

function fits(node: Exclude<Operation, { op: "const" }>, operands: readonly ScalarType[]): boolean {
  const { type } = node;
  const all = (wanted: ScalarType): boolean => operands.every((operand) => operand === wanted);
  switch (node.op) {
    case "unary":
      return unaryFits(node.fn, operands[0]!, type);
    case "binary":
      return all(type) && binaryFits(node.fn, type);
    case "compare":
      return type === "bool" && operands[0] === operands[1] && compareFits(node.fn, operands[0]!);
    case "logical":
      return type === "bool" && all("bool");
    case "select":
      return operands[0] === "bool" && operands[1] === type && operands[2] === type;
    case "cast":
      return !((isWide(type) && isSingle(operands[0]!)) || (isSingle(type) && isWide(operands[0]!)));
    case "call":
      return (
        isFloat(type) &&
        operands.length === MATH[node.fn].arguments &&
        operands.every((operand, n) => operand === argumentType(node.fn, n, type))
      );
    default:
      return unreachable(node);
  }
}

/** True for a value that the type can hold as it is. */
export function representable(type: ScalarType, value: PlainValue): boolean {
  if (type === "bool" || typeof value === "boolean") return type === "bool" && typeof value === "boolean";
  if (isWide(type) || typeof value === "bigint") return isWide(type) && typeof value === "bigint" && wrapWide(type, value) === value;
  return Object.is(wrap(type, value), value);
}
