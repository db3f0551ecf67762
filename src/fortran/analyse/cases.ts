import type { Expr, If, SelectCase } from "../tree/index.js";

/** A `select` as branches. */
export function asBranches({ value, cases, at }: SelectCase): If {
  const made = (op: "==" | ".eqv." | ">=" | "<=" | ".and." | ".or.", a: Expr, b: Expr): Expr => ({ kind: "binary", op, a, b, at: b.at });
  const branches = cases.flatMap(({ ranges, body, at: place }) => {
    if (!ranges) return [];
    const tests = ranges.map(({ lower, upper }) => {
      if (lower && lower === upper) return made(lower.kind === "literal" && lower.type === "logical" ? ".eqv." : "==", value, lower);
      const bounds = [...(lower ? [made(">=", value, lower)] : []), ...(upper ? [made("<=", value, upper)] : [])];
      return bounds.reduce((a, b) => made(".and.", a, b));
    });
    return [{ cond: tests.reduce((a, b) => made(".or.", a, b)), body, at: place }];
  });
  return { kind: "if", branches, otherwise: cases.find(({ ranges }) => !ranges)?.body ?? [], oneLine: false, at };
}
