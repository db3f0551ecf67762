import type * as acorn from "acorn";

/** Counters of istanbul: `cov_1x2y().s[0]++`, and the call that makes them. */
export function isCoverage(node: acorn.Node): boolean {
  let at = node as acorn.Expression | acorn.Super;
  if (at.type === "UpdateExpression") at = at.argument as acorn.Expression;
  while (at.type === "MemberExpression") at = at.object;
  return at.type === "CallExpression" && at.callee.type === "Identifier" && at.callee.name.startsWith("cov_");
}
