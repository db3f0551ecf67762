import type { Expr, JointFold, KernelIR, ReduceParam } from "./types.js";

/* Reductions of several parameters at once. */

/** The fold of one part. */
export const bodyOf = ({ parts, bodies }: JointFold, part: string): Expr => bodies[parts.indexOf(part)]!;

/** True where some reduction has several parts; it keeps the order of strict mode in fast mode, too. */
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
