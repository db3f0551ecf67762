import { printExpr } from "./kernel-text.js";
import type { Expr, JointFold, KernelIR, ReduceParam } from "./types.js";

/* Reductions of several parameters at once. */

/** The fold of one part. */
export const bodyOf = ({ parts, bodies }: JointFold, part: string): Expr => bodies[parts.indexOf(part)]!;

/** True where some reduction has several parts; its order is that of strict mode in fast mode, too. */
export const foldsJointly = ({ params }: Pick<KernelIR, "params">): boolean => params.some((p) => p.kind === "reduce" && p.joint);

/** Reduce parameters in their order; those that fold jointly stand together, the others alone. */
export function foldGroups<P extends Pick<ReduceParam, "name" | "joint">>(params: readonly P[]): (readonly P[])[] {
  const groups: P[][] = [];
  for (const param of params) {
    const last = groups.at(-1);
    if (param.joint && last && param.joint.parts.includes(last[0]!.name)) last.push(param);
    else groups.push([param]);
  }
  return groups;
}

/** The condition under which the second value takes the place of the first, of a fold that keeps one of them; undefined for other folds. */
export function choiceOf({ a, b, bodies }: JointFold): Expr | undefined {
  const [first] = bodies;
  if (first?.op !== "select") return undefined;
  const keeps = bodies.every(
    (body, n) =>
      body.op === "select" && isLocal(body.a, b[n]!) && isLocal(body.b, a[n]!) && (body === first || same(body.cond, first.cond)),
  );
  return keeps ? first.cond : undefined;
}

const isLocal = (expr: Expr, name: string): boolean => expr.op === "local" && expr.name === name;
const same = (a: Expr, b: Expr): boolean => a === b || printExpr(a) === printExpr(b);
