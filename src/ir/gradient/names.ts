import type { ReduceParam, ScalarParam, ScatterParam, ViewParam } from "../types.js";
import { valueType } from "../scalars.js";

/* Names of what derivatives take and give, by the parameter that they belong to. */

/** The adjoint: what reaches a value. */
export const barOf = (name: string): string => `${name}_bar`;
/** The tangent: how fast a value changes. */
export const dotName = (name: string): string => `${name}_dot`;
/** A view of one number: the result of a least or greatest value. */
export const extremeName = (name: string): string => `${name}_value`;
/** A view of one number: how many elements have it. */
export const tiesName = (name: string): string => `${name}_ties`;

export const scalarParam = (name: string, type: ScalarParam["type"]): ScalarParam => ({ kind: "scalar", name, type });
export const sumParam = (name: string, type: ReduceParam["type"]): ReduceParam => ({ kind: "reduce", name, type, op: "sum", identity: 0 });
export const oneNumber = (name: string, type: ReduceParam["type"]): ViewParam => ({
  kind: "view",
  name,
  element: type,
  rank: 1,
  disjoint: false,
});

/** A view of derivatives by the elements of another: floats of 16 bits have derivatives of f32. */
export const viewLike = (name: string, param: ViewParam | ScatterParam, disjoint: boolean): ViewParam => ({
  ...(param.kind === "view" && param.bounds && { bounds: param.bounds }),
  kind: "view",
  name,
  element: valueType(param.element),
  rank: param.rank,
  disjoint,
});

/** The same where many elements add into one. */
export const scatterLike = (name: string, { element, rank }: ViewParam): ScatterParam => ({
  kind: "scatter",
  name,
  element: valueType(element),
  rank,
  op: "sum",
});
