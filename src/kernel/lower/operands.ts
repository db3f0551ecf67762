import { METHODS } from "../declare/params.js";
import type * as acorn from "acorn";
import type { Expr } from "../../ir/types.js";
import { readVariable, type ExpressionNode, type Lowering } from "./lowering.js";
import { as } from "./operators.js";
import { undefinedUsed } from "./outer.js";
import type { Scope, ScalarValue, LoweredValue } from "./values.js";

/** `value` as a scalar, or an error that says what it is instead. */
export function scalarOperand(cx: Lowering, value: LoweredValue, node: acorn.Node): ScalarValue {
  switch (value.kind) {
    case "scalar":
      return value;
    case "variable":
      return readVariable(value);
    case "view":
      return cx.fail(
        node,
        `${value.name} is a view of rank ${value.rank} and is used with ${value.prefix.length} ${value.prefix.length === 1 ? "index" : "indices"} as a number`,
        "give an index for each axis",
      );
    case "table":
      return cx.fail(node, `${value.name} is a table of rank ${value.shape.length}, used as a number`, "give an index for each axis");
    case "scatter":
      return cx.fail(
        node,
        `${value.name} is a scatter target: a kernel adds into it and cannot read it`,
        `write ${value.name}.${METHODS[value.op]}(index, value)`,
      );
    case "atomic":
      return cx.fail(node, `${value.name} is an atomic array and is used as a number`, `write ${value.name}.load(i)`);
    case "deposit":
      return cx.fail(node, `${value.name} is a field that particles add to`, `write ${value.name}.add(c, ..., value)`);
    case "reduce":
    case "reduceEach":
      return cx.fail(
        node,
        `${value.name} is a reduction: a kernel folds into it and cannot read it`,
        `write ${value.name}.${METHODS[value.op]}(value)`,
      );
    case "assign":
      return cx.fail(node, `${value.name} is a scalar to be set, and is used as a number`, `write ${value.name}.get() for its value`);
    case "axis":
      return cx.fail(
        node,
        `${value.name} is an array along an axis and is used as a number`,
        `write ${value.name}[c], or ${value.name}.at(c, d)`,
      );
    case "field":
      return cx.fail(node, `${value.name} is a field and is used as a number`, `write ${value.name}[c], or ${value.name}.at(c, ...)`);
    case "components":
      return cx.fail(
        node,
        `${value.field.name} has ${value.field.cardinality} components in a cell and is used as a number`,
        `write ${value.field.name}[c][k]`,
      );
    case "cell":
      return cx.fail(node, "the cell is used as a number", "write c.x, c.y or c.z for its coordinates");
    case "particle":
      return cx.fail(node, "the particle is used as a number", "write x[p], with a column x of its species");
    case "void":
      if (node.type === "UnaryExpression") return undefinedUsed(cx, node);
      return cx.fail(node, "a function that returns nothing is used as a value", "return a value on every path");
    // Any other value is refused.
    default:
      return notNumber(cx, value, node);
  }
}

const listUsed = (cx: Lowering, name: string, node: acorn.Node): never =>
  cx.fail(
    node,
    `${name} is a list: a kernel appends to it and cannot read it`,
    `write ${name}.push(value), and read the elements in another kernel`,
  );

function notNumber(cx: Lowering, value: LoweredValue, node: acorn.Node): never {
  if (value.kind === "list") return listUsed(cx, value.name, node);
  const of = value.kind === "record" ? value.of : undefined;
  if (of) return cx.fail(node, `a ${of.name} is used as a number`, `write v.add(w) for sums, and v.${of.fields[0]} for a component`);
  return cx.fail(node, `${DESCRIPTIONS[value.kind] ?? value.kind} is used as a number`);
}

const DESCRIPTIONS: Partial<Record<LoweredValue["kind"], string>> = {
  record: "an object",
  composite: "a type of vectors or the like",
  reduceComposite: "a reduction",
  extremum: "a reduction",
  reduceStruct: "a reduction",
  struct: "a type of records",
  structView: "an array of records",
  array: "a private array",
  tuple: "an array literal",
  function: "a function",
  builtin: "a function",
  params: "the record of parameters",
  team: "the team",
  lanes: "the lanes of a member",
};

export const scalarOf = (cx: Lowering, node: ExpressionNode, scope: Scope): ScalarValue =>
  scalarOperand(cx, cx.expression(node, scope), node);

/** Several scalars, evaluated from left to right. */
export const scalarsOf = (cx: Lowering, nodes: readonly ExpressionNode[], scope: Scope): ScalarValue[] =>
  cx.inOrder(
    nodes.map((n) => () => scalarOf(cx, n, scope)),
    (value, n) => cx.materialiseScalar(value, nodes[n]),
  );

/** An expression as a truth value; numbers are true where they are not zero (NaN is false), as in JavaScript. */
export function condition(cx: Lowering, node: ExpressionNode, scope: Scope): Expr {
  const { expr } = scalarOf(cx, node, scope);
  return expr.type === "bool" ? expr : { op: "cast", type: "bool", a: expr };
}

/** A value as an i32 index. */
export function asIndex(cx: Lowering, value: ScalarValue, node: acorn.Node): Expr {
  return value.expr.type === "u32" ? as("i32", value.expr) : cx.converted(value, "i32", node, "an index must be i32");
}
