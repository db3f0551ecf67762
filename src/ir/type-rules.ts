import type { BinaryFn, Expr, MathFn, ScalarType, UnaryFn } from "./types.js";
import { isFloat } from "./scalars.js";
import { children } from "./walk.js";

/** Nodes whose types can be judged by themselves: what they name stands in no table of parameters or locals. */
export type Operation = Extract<Expr, { op: "const" | "unary" | "binary" | "compare" | "logical" | "select" | "cast" | "call" }>;

/** What is wrong with the types of a constant, or of an operator and its operands; undefined where nothing is. */
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
      return unaryFits(node.fn, type, operands[0]);
    case "binary":
      return all(type) && binaryFits(node.fn, type);
    case "compare":
      return type === "bool" && operands[0] === operands[1] && (operands[0] !== "bool" || node.fn === "eq" || node.fn === "ne");
    case "logical":
      return type === "bool" && all("bool");
    case "select":
      return operands[0] === "bool" && operands[1] === type && operands[2] === type;
    case "cast":
      return true;
    case "call":
      return isFloat(type) && all(type) && operands.length === argumentCount(node.fn);
  }
}

function argumentCount(fn: MathFn): number {
  return fn === "pow" || fn === "atan2" || fn === "hypot" ? 2 : 1;
}

function unaryFits(fn: UnaryFn, type: ScalarType, operand: ScalarType): boolean {
  const integer = operand === "i32" || operand === "u32";
  switch (fn) {
    case "not":
      return type === "bool" && operand === "bool";
    case "neg":
    case "abs":
      return type === operand && type !== "bool";
    case "bitnot":
      return type === operand && integer;
    case "clz":
      return type === "i32" && integer;
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
      return type === operand && isFloat(type);
  }
}

function binaryFits(fn: BinaryFn, type: ScalarType): boolean {
  switch (fn) {
    case "mulhi":
      return type === "u32";
    case "and":
    case "or":
    case "xor":
    case "shl":
    case "shr":
      return type === "i32" || type === "u32";
    case "add":
    case "sub":
    case "mul":
    case "div":
    case "rem":
    case "min":
    case "max":
      return type !== "bool";
  }
}

/** True for a value that the type can hold as it is. */
export function representable(type: ScalarType, value: number | boolean): boolean {
  switch (type) {
    case "bool":
      return typeof value === "boolean";
    case "f64":
      return typeof value === "number";
    case "f32":
      return Object.is(Math.fround(value as number), value);
    case "i32":
      return Object.is((value as number) | 0, value);
    case "u32":
      return Object.is((value as number) >>> 0, value);
  }
}
