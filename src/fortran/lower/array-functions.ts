import { binary, constant, logical, select, unary } from "../../ir/expressions.js";
import { own } from "../../ir/own.js";
import type { Expr, Location, ScalarType } from "../../ir/types.js";
import type { Apply, Expr as Tree } from "../tree/index.js";
import { constantOf, minus, plus } from "./constants.js";
import { designated, eachIndex, probe, shapeOf, value } from "./expressions.js";
import { elemental } from "./intrinsics.js";
import type { Frame, Lowering } from "./lowering.js";
import { converted, ONE, promoted, treeName, Unlowerable, ZERO } from "./values.js";

/* Functions over whole arrays: what they ask, folds, and arrays with their elements elsewhere. */

/** Arguments by their keywords, in order. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["sum", "product", "minval", "maxval"].map((name) => [name, "array dim mask"])),
  ...Object.fromEntries(["any", "all", "count"].map((name) => [name, "array dim"])),
  ...Object.fromEntries(["size", "lbound", "ubound"].map((name) => [name, "array dim kind"])),
  dot_product: "array other",
};

interface Call {
  readonly name: string;
  readonly at: Location;
  readonly array: Tree;
  readonly given: ReadonlyMap<string, Tree>;
  /** The extents of the first argument. */
  readonly shape: readonly Expr[];
  /** The axis that `dim` names, counted from 0. */
  readonly axis?: number;
}

/** Functions whose elements are not those of their arguments at the same place. */
export const isOverArrays = (name: string): boolean => Object.hasOwn(ARGUMENTS, name);

function callOf(cx: Lowering, frame: Frame, e: Apply): Call | undefined {
  const name = treeName(e.base);
  if (!isOverArrays(name)) return undefined;
  const wanted = ARGUMENTS[name].split(" ");
  const given = new Map<string, Tree>();
  e.args.forEach((arg, n) => {
    if (arg.kind !== "value") return;
    const keyword = arg.keyword ?? wanted[n];
    // The second of `sum(a, a > 0)` is no axis.
    const isMask = !arg.keyword && keyword === "dim" && wanted.includes("mask") && shapeOf(cx, frame, arg.value);
    // The first has many names.
    const known = isMask ? "mask" : n === 0 && !wanted.includes(keyword) ? "array" : keyword;
    if (!wanted.includes(known) || given.has(known)) throw new Unlowerable(e.at, name, "an argument is not read", "write a loop");
    given.set(known, arg.value);
  });
  const [array, dim] = [given.get("array"), given.get("dim")];
  const shape = array && shapeOf(cx, frame, array);
  if (!shape) throw new Unlowerable(e.at, name, "its argument is no array");
  if (!dim) return { name, at: e.at, array, given, shape };
  const n = constantOf(value(cx, frame, dim));
  const axes = shape.length;
  if (typeof n !== "number" || n < 1 || n > axes)
    throw new Unlowerable(e.at, name, `the axis has to be a constant from 1 to ${axes}`, `write ${name}(a, dim=1)`);
  return { name, at: e.at, array, given, shape, axis: n - 1 };
}

/** The extents of what the function gives; undefined of one value, and of other names. @throws Unlowerable */
export function arrayShape(cx: Lowering, frame: Frame, e: Apply): readonly Expr[] | undefined {
  const call = callOf(cx, frame, e);
  if (!call) return undefined;
  const { name, shape, axis } = call;
  const isFold = Object.hasOwn(FOLDS, name);
  return !isFold || axis === undefined || shape.length === 1 ? undefined : shape.toSpliced(axis, 1);
}

/** What the function gives, an element of it where that is an array; undefined of other names. @throws Unlowerable */
export function overArrays(cx: Lowering, frame: Frame, e: Apply, index: readonly Expr[]): Expr | undefined {
  const call = callOf(cx, frame, e);
  if (!call) return undefined;
  const { name, at, array, given, shape, axis } = call;
  const element = (indices: readonly Expr[]): Expr => value(cx, frame, array, indices);
  switch (name) {
    case "size":
      return axis === undefined ? shape.reduce((a, b) => binary("mul", a, b)) : shape[axis];
    case "lbound":
    case "ubound": {
      if (axis === undefined) throw new Unlowerable(at, name, "its axis is missing", `write ${name}(a, 1)`);
      const found = designated(cx, frame, array);
      const lower = found?.array.lowers[axis] ?? ONE;
      return name === "lbound" ? lower : minus(plus(lower, shape[axis]), ONE);
    }
    case "dot_product":
      return folded(cx, "sum", at, shape, (k) => [multiplied(element(k), value(cx, frame, given.get("other")!, k), at)]);
    // Any other function folds.
    default: {
      const along = axis === undefined ? shape : [shape[axis]];
      const at_ = (k: readonly Expr[]): readonly Expr[] => (axis === undefined || shape.length === 1 ? k : index.toSpliced(axis, 0, k[0]));
      const mask = given.get("mask");
      return folded(cx, name, at, along, (k) => [element(at_(k)), mask && value(cx, frame, mask, at_(k))]);
    }
  }
}

function multiplied(a: Expr, b: Expr, at: Location): Expr {
  const type = promoted(a.type, b.type);
  return binary("mul", converted(type, a, at), converted(type, b, at));
}

const FOLDS: Readonly<Record<string, (so: Expr, a: Expr) => Expr>> = {
  sum: (so, a) => binary("add", so, a),
  product: (so, a) => binary("mul", so, a),
  minval: (so, a) => binary("min", so, a),
  maxval: (so, a) => binary("max", so, a),
  any: (so, a) => logical("or", so, a),
  all: (so, a) => logical("and", so, a),
  count: (so, a) => select(a, binary("add", so, ONE), so),
};

/** Folds over all elements of a shape, the first axis innermost; where there is a mask, over those where it is true. */
function folded(
  cx: Lowering,
  name: string,
  at: Location,
  shape: readonly Expr[],
  of: (index: readonly Expr[]) => readonly [Expr, (Expr | undefined)?],
): Expr {
  const { type } = probe(cx, () => of(shape.map(() => ZERO)))[0];
  const held: ScalarType = name === "count" ? "i32" : type;
  let start: Expr = constant(held, held === "bool" ? name === "all" : name === "product" ? 1 : 0);
  if (name === "minval" || name === "maxval") {
    const limit = elemental("huge", [constant(type, 0)], at, cx);
    const least = unary("neg", limit);
    start = name === "minval" ? limit : type === "i32" ? binary("sub", least, ONE) : least;
  }
  const local = cx.local(name, held, start);
  const so: Expr = { op: "local", type: held, name: local.name };
  eachIndex(cx, shape, (index) => {
    const [a, mask] = of(index);
    const next = own(FOLDS, name)!(so, a);
    cx.assign(local.name, mask ? select(mask, next, so) : next);
  });
  return so;
}
