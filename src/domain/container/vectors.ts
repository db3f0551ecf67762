import { isInteger, valueType } from "../../ir/scalars.js";
import { originalPosition } from "#source-map";
import type { NumberType } from "../../ir/types.js";
import { ContainerError } from "../../base/errors.js";
import { callSite } from "../../kernel/declare/location.js";
import { assign, max, sum } from "../../kernel/declare/params.js";
import type { Scalar } from "../../set/scalar.js";
import type { AssignedScalar, Container, ContainerBody, ContainerParams, Field, ScalarStepBody, ScalarStepParams } from "../grid/grid.js";
import { declareContainer } from "./declare.js";
import { declareScalarStep } from "./scalar-step.js";

/*
 * Containers that treat fields as vectors, like level 1 of BLAS (C. L. Lawson et al., ACM TOMS 5, 1979), for fields of any cardinality and
 * type on any kind of grid. They are ordinary containers: they fuse, and their scalars may lie on the devices.
 * Maps compute in the type of the field that they write, reductions in the type of the scalar that takes the result.
 */

/** A number, or a scalar that lies on the devices. */
export type Factor = number | Scalar;

/** One component of a cell, however many the field has. */
interface Access {
  readonly count: (u: Values, c: symbol) => number;
  readonly get: (u: Values, c: symbol, k: number) => number;
  readonly put: (u: Values, c: symbol, k: number, value: number) => void;
}
type Values = Record<symbol, number & Record<number, number> & { readonly length: number }>;

const ONE: Access = {
  count: () => 1,
  get: (u, c) => u[c],
  put: (u, c, _k, value) => {
    (u as Record<symbol, number>)[c] = value;
  },
};
const SEVERAL: Access = {
  count: (u, c) => u[c].length,
  get: (u, c, k) => u[c][k],
  put: (u, c, k, value) => {
    u[c][k] = value;
  },
};

/** Conversions to the type in which a container computes. */
const CONVERT: Record<NumberType, (value: number) => number> = {
  f64: (value) => +value,
  f32: (value) => Math.fround(value),
  i32: (value) => value | 0,
  u32: (value) => value >>> 0,
};

/** Parameters that the bodies below have in addition to their own. */
interface Given extends Access {
  readonly as: (value: number) => number;
}

/** y = x */
export function copy(x: Field, y: Field, name = "copy"): Container {
  return declare(copy, name, y, { x, y }, {}, ({ x, y, count, get, put, as }, c) => {
    for (let k = 0; k < count(y, c); k++) put(y, c, k, as(get(x, c, k)));
  });
}

/** x = a in all components */
export function fill(a: Factor, x: Field, name = "fill"): Container {
  return declare(fill, name, x, { x }, { a }, ({ x, a, count, put, as }, c) => {
    for (let k = 0; k < count(x, c); k++) put(x, c, k, as(a));
  });
}

/** x = a x */
export function scale(a: Factor, x: Field, name = "scale"): Container {
  return declare(scale, name, x, { x }, { a }, ({ x, a, count, get, put, as }, c) => {
    for (let k = 0; k < count(x, c); k++) put(x, c, k, as(a) * get(x, c, k));
  });
}

/** y = a x + y */
export function axpy(a: Factor, x: Field, y: Field, name = "axpy"): Container {
  return declare(axpy, name, y, { x, y }, { a }, ({ x, y, a, count, get, put, as }, c) => {
    for (let k = 0; k < count(y, c); k++) put(y, c, k, as(a) * as(get(x, c, k)) + get(y, c, k));
  });
}

/** result = <x, y>, over all components of all active cells */
export function dot(x: Field, y: Field, result: Scalar, name = "dot"): Container {
  return declare(dot, name, result, { x, y }, { result: sum(result) }, ({ x, y, result, count, get, as }, c) => {
    for (let k = 0; k < count(x, c); k++) result.add(as(get(x, c, k)) * as(get(y, c, k)));
  });
}

/** result = sum of |x| */
export function norm1(x: Field, result: Scalar, name = "norm1"): Container {
  return declare(norm1, name, result, { x }, { result: sum(result) }, ({ x, result, count, get, as }, c) => {
    for (let k = 0; k < count(x, c); k++) result.add(Math.abs(as(get(x, c, k))));
  });
}

/** result = largest |x| */
export function normMax(x: Field, result: Scalar, name = "normMax"): Container {
  return declare(normMax, name, result, { x }, { result: max(result) }, ({ x, result, count, get, as }, c) => {
    for (let k = 0; k < count(x, c); k++) result.max(Math.abs(as(get(x, c, k))));
  });
}

/**
 * result = the root of <x, x>: a container and a scalar step, since no cell knows the sum before all are done. Where the square does as well,
 * as in most iterations, `dot(x, x, squared)` is one.
 */
export function norm2(x: Field, result: Scalar, name = "norm2"): readonly [squares: Container, root: Container] {
  const location = callSite(norm2);
  const as = CONVERT[result.type];
  const squared = x.grid.scalar(`${result.name} squared`, { kind: "scalar", type: result.type });
  return [
    declare(norm2, `${name} squared`, result, { x }, { squared: sum(squared) }, ({ x, squared, count, get, as }, c) => {
      for (let k = 0; k < count(x, c); k++) squared.add(as(get(x, c, k)) * as(get(x, c, k)));
    }),
    declareScalarStep(x.grid, name, { squared, result: assign(result), as }, ROOT, location),
  ];
}

const ROOT = (({ squared, result, as }: { squared: number; result: AssignedScalar; as: (value: number) => number }): void => {
  result.set(as(Math.sqrt(squared)));
}) as unknown as ScalarStepBody<ScalarStepParams>;

type Results = Record<string, ContainerParams[string]>;
type InBody<R> = { [K in keyof R]: R[K] extends Factor ? number : Reduction };
interface Reduction {
  add(value: number): void;
  max(value: number): void;
}

/**
 * @param callee the function that the author has called; errors tell his line
 * @param into what decides the type in which the container computes
 */
function declare<F extends { x: Field; y?: Field }, R extends Results>(
  callee: Function,
  name: string,
  into: Field | Scalar,
  fields: F,
  others: R,
  body: (params: Record<keyof F, Values> & InBody<R> & Given, c: symbol) => void,
): Container {
  const location = callSite(callee);
  const { grid, cardinality } = fields.x;
  const refuse = (problem: string, remedy: string): never => {
    throw new ContainerError(name, originalPosition(location), problem, remedy);
  };
  const type = valueType(into.type);
  for (const field of Object.values<Field>(fields))
    if (field.cardinality !== cardinality)
      refuse(
        `the field "${field.name}" has ${field.cardinality} components and the field "${fields.x.name}" ${cardinality}`,
        "give fields of one cardinality",
      );
  for (const value of Object.values(others))
    if (typeof value === "number" && isInteger(type) && !Number.isInteger(value))
      refuse(`the field "${into.name}" holds whole numbers and is given ${value}`, "give a whole number, or a field of f64");
  const given: Given = { ...(cardinality === 1 ? ONE : SEVERAL), as: CONVERT[type] };
  const params = { ...fields, ...others, ...given } as ContainerParams;
  const made = declareContainer(grid, name, params, body as unknown as ContainerBody<ContainerParams>, location);
  grid.requireStencils(made);
  return made;
}
