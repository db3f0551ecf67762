import { constant, eq, select } from "../expressions.js";
import { identityOf } from "../identity.js";
import { mapStmts } from "../walk.js";
import type { KernelIR, ReduceParam, Stmt } from "../types.js";
import { needed } from "./need.js";
import { oneNumber, sumParam, tiesName, extremeName } from "./names.js";
import { onlyElement } from "./values.js";

/*
 * Elements that have the least or greatest value share evenly what reaches it. Two launches before the adjoint, or the tangent, find the value and count them.
 */

interface ExtremeKernels {
  /** Finds the least or greatest values. */
  readonly values: KernelIR;
  /** Counts the elements that have them. */
  readonly ties: KernelIR;
}

/** The kernels of some reductions by least or greatest value. `body` has names of its own for views that may have changed. */
export function extremeKernels(ir: KernelIR, body: readonly Stmt[], reductions: readonly ReduceParam[]): ExtremeKernels {
  const of = new Map(reductions.map((param) => [param.name, param]));
  const only = (change: (stmt: Extract<Stmt, { kind: "reduce" }>, param: ReduceParam) => Stmt): Stmt[] =>
    needed(
      mapStmts(body, {
        stmt: (stmt) => {
          if (stmt.kind === "reduce" && of.has(stmt.target)) return change(stmt, of.get(stmt.target)!);
          return isEffect(stmt) ? [] : stmt;
        },
      }),
    );
  const params = ir.params.filter(({ kind }) => kind === "scalar" || kind === "view");
  const values = only((stmt) => ({ ...stmt, target: extremeName(stmt.target) }));
  const ties = only((stmt, { name, type }) => ({
    ...stmt,
    target: tiesName(name),
    value: select(eq(stmt.value, onlyElement(extremeName(name), type)), constant(type, 1), constant(type, 0)),
  }));
  const found = reductions.map((param): ReduceParam => ({
    ...param,
    name: extremeName(param.name),
    identity: identityOf(param.op as "min" | "max", param.type),
  }));
  const counted = reductions.map(({ name, type }) => sumParam(tiesName(name), type));
  const given = reductions.map(({ name, type }) => oneNumber(extremeName(name), type));
  return {
    values: { ...ir, name: `${ir.name}_values`, params: [...params, ...found], body: values },
    ties: { ...ir, name: `${ir.name}_ties`, params: [...params, ...given, ...counted], body: ties },
  };
}

const isEffect = ({ kind }: Stmt): boolean =>
  kind === "store" || kind === "scatter" || kind === "reduce" || kind === "reduceJointly" || kind === "print" || kind === "atomic";
