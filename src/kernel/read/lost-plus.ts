import type * as acorn from "acorn";
import type { FunctionSource } from "./source.js";

/*
 * The plus of `+a / b`, by which the author makes a fraction of integers, and minifiers leave away.
 */

/**
 * Whether the author may have written a plus before one of the operands in `node`, which a minifier has left away. Where his text is at hand, through
 * a source map, it tells; elsewhere every minified expression may have had one.
 */
export function mayLackPlus({ minified, textBefore }: Pick<FunctionSource, "minified" | "textBefore">, node: acorn.Node): boolean {
  if (!minified) return false;
  return operandsIn(node as acorn.AnyNode).some((operand) => {
    const text = textBefore(operand);
    return text === undefined || endsWithPlus(text);
  });
}

/** Operands from which an expression is computed. */
function operandsIn(node: acorn.AnyNode): acorn.Node[] {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return [...operandsIn(node.left), ...operandsIn(node.right)];
    case "UnaryExpression":
      return operandsIn(node.argument);
    case "ConditionalExpression":
      return [...operandsIn(node.consequent), ...operandsIn(node.alternate)];
    case "AssignmentExpression":
      return operandsIn(node.right);
    case "CallExpression":
      return node.arguments.flatMap((argument) => operandsIn(argument));
    case "SequenceExpression":
      return operandsIn(node.expressions[node.expressions.length - 1]);
    // Any other node is an operand by itself.
    default:
      return [node];
  }
}

/** True for a text that ends with a plus of one operand; parentheses and other signs may follow it. */
function endsWithPlus(text: string): boolean {
  const before = /^([^]*)\+[\s(~-]*$/.exec(text)?.[1];
  if (before === undefined || before.endsWith("+")) return false;
  return /\breturn\s*$/.test(before) || !/[\w$)\]"'`]\s*$/.test(before);
}
