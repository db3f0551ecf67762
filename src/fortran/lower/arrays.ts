import { isPacked } from "../../ir/scalars.js";
import { binary, element, load } from "../../ir/expressions.js";
import type { ArrayRef } from "../../ir/expressions.js";
import type { Expr, Location, ScalarType, Stmt, ViewParam } from "../../ir/types.js";
import type { Bound, Expr as Tree } from "../tree/index.js";
import { fortranConstant, minus, plus, sameConstant, productExpr } from "./constants.js";
import { fromMemory, ONE, signedByte, toMemory, ZERO } from "./values.js";

/** One element, that can be read and written. */
export interface ArrayElement {
  load(at: Location): Expr;
  store(value: Expr, at: Location): Stmt;
}

/** An array, or a part of one. Axes are in Fortran's order: the first one's elements lie side by side. */
export interface ArrayValue {
  readonly name: string;
  readonly type: ScalarType;
  readonly lowers: readonly Expr[];
  readonly extents: readonly Expr[];
  /** The element with these indices, counted from 0. */
  at(indices: readonly Expr[]): ArrayElement;
  /** The element at this place in the order of the array's elements. */
  nth(place: Expr): ArrayElement;
}

type Shape = Pick<ArrayValue, "lowers" | "extents">;

/** Place in the order of elements. */
export function place({ extents }: Pick<Shape, "extents">, indices: readonly Expr[]): Expr {
  let sum: Expr = ZERO;
  for (let axis = indices.length - 1; axis >= 0; axis--) sum = plus(productExpr(sum, extents[axis]), indices[axis]);
  return sum;
}

/** The indices of an element, of its place. */
export function elementIndices({ extents }: Pick<Shape, "extents">, at: Expr): Expr[] {
  let rest = at;
  return extents.map((extent, axis) => {
    if (axis === extents.length - 1) return rest;
    const index = binary("rem", rest, extent);
    rest = binary("div", rest, extent);
    return index;
  });
}

/** An array that each element of the range has for itself. */
export function privateArray(ref: ArrayRef, type: ScalarType, shape: Shape): ArrayValue {
  const nth = (index: Expr): ArrayElement => ({
    load: (at) => fromMemory(type, element(ref, index, at)),
    store: (value, location) => ({ kind: "setElement", array: ref.name, index, value: toMemory(value), location }),
  });
  return { name: ref.name, type, ...shape, nth, at: (indices) => nth(place(shape, indices)) };
}

/** An array in a row of a view: the row of the team or of the element that the range's axes give. */
export function rowArray(param: ViewParam, type: ScalarType, shape: Shape, axes: readonly number[]): ArrayValue {
  const row = (index: Expr): Expr[] => [...axes.map((axis): Expr => ({ op: "index", type: "i32", axis })), index];
  const nth = (index: Expr): ArrayElement => ({
    load: (at) => fromMemory(type, load(param, row(index), at)),
    store: (value, location) => ({ kind: "store", view: param.name, indices: row(index), value: toMemory(value), location }),
  });
  return { name: param.name, type, ...shape, nth, at: (indices) => nth(place(shape, indices)) };
}

export function viewArray(param: ViewParam, type: ScalarType, shape: Shape): ArrayValue {
  const at = (given: readonly Expr[]): ArrayElement => {
    const indices = [...given].reverse();
    return {
      load: (location) => {
        const held = load(param, indices, location);
        return isPacked(param.element) ? signedByte(held) : fromMemory(type, held);
      },
      store: (value, location) => ({ kind: "store", view: param.name, indices, value: toMemory(value), location }),
    };
  };
  return { name: param.name, type, ...shape, at, nth: (index) => at(elementIndices(shape, index)) };
}

/** A box of an array with steps; axes that are held at one index are gone. */
export function section(
  array: ArrayValue,
  axes: readonly (
    | { readonly start: Expr; readonly step?: Expr; readonly extent: Expr }
    | { readonly index: Expr }
    /** The indices stand in a list. */
    | { readonly of: (n: Expr) => Expr; readonly extent: Expr }
  )[],
): ArrayValue {
  const extents = axes.flatMap((axis) => ("extent" in axis ? [axis.extent] : []));
  const at = (indices: readonly Expr[]): ArrayElement => {
    let n = 0;
    return array.at(
      axes.map((axis) => {
        if ("index" in axis) return axis.index;
        const index = indices[n++];
        if ("of" in axis) return axis.of(index);
        return plus(axis.start, axis.step ? productExpr(index, axis.step) : index);
      }),
    );
  };
  return {
    name: array.name,
    type: array.type,
    extents,
    lowers: extents.map(() => ONE),
    at,
    nth: (index) => at(elementIndices({ extents }, index)),
  };
}

/** An array as a dummy argument sees it that begins at an element of it. */
export function associated(array: ArrayValue, shape: Shape, first?: Expr): ArrayValue {
  const alike =
    !first &&
    shape.extents.length === array.extents.length &&
    shape.extents.slice(0, -1).every((extent, axis) => sameConstant(extent, array.extents[axis]));
  const nth = (index: Expr): ArrayElement => array.nth(first ? plus(first, index) : index);
  return { ...array, ...shape, nth, at: alike ? (indices) => array.at(indices) : (indices) => nth(place(shape, indices)) };
}

/** The place of an element among the others. */
export const elementPlace = (array: ArrayValue, indices: readonly Expr[]): Expr => place(array, indices);

/** The indices of Fortran, counted from 0. */
export const counted = (array: ArrayValue, indices: readonly Expr[]): Expr[] =>
  indices.map((index, axis) => minus(index, array.lowers[axis]));

/** Bounds and extents by a declaration, as far as it gives them. `value` gives the value of a bound. */
export function declaredShape(
  dims: readonly Pick<Bound, "lower" | "upper">[],
  value: (bound: Tree) => Expr,
): { lower: Expr; upper?: Expr; extent?: Expr }[] {
  return dims.map(({ lower, upper }) => {
    const first = lower ? value(lower) : ONE;
    if (!upper || upper === "*") return { lower: first };
    const last = value(upper);
    return { lower: first, upper: last, extent: plus(minus(last, first), ONE) };
  });
}

/** The lengths of an array with constant bounds; undefined if a bound is not constant. */
export function constantLength(extents: readonly (Expr | undefined)[]): number | undefined {
  let length = 1;
  for (const extent of extents) {
    const value = extent && fortranConstant(extent);
    if (typeof value !== "number") return undefined;
    length *= Math.max(value, 0);
  }
  return length;
}
