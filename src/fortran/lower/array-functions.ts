import { isInteger } from "../../ir/scalars.js";
import { binary, compare, constant, int, logical, select, unary } from "../../ir/expressions.js";
import { own } from "../../base/own.js";
import type { Expr, Location, ScalarType } from "../../ir/types.js";
import type { Apply, Expr as Tree } from "../tree/index.js";
import { elementIndices, place } from "./arrays.js";
import { fortranConstant, minus, plus } from "./constants.js";
import { designated, eachIndex, indexOf, itemsOf, probe, extentsOfExpr, value, valueAs } from "./expressions.js";
import { elemental } from "./intrinsics.js";
import type { ProcedureFrame, FortranLowering } from "./lowering.js";
import { converted, ONE, promoted, treeName, Unlowerable, ZERO } from "./values.js";

/* Functions over whole arrays: what they ask, folds, and arrays with their elements elsewhere. */

/** Arguments by their keywords, in order. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["sum", "product", "minval", "maxval", "minloc", "maxloc"].map((name) => [name, "array dim mask"])),
  ...Object.fromEntries(["any", "all", "count"].map((name) => [name, "array dim"])),
  ...Object.fromEntries(["size", "lbound", "ubound"].map((name) => [name, "array dim kind"])),
  dot_product: "array other",
  matmul: "array other",
  transpose: "array",
  shape: "array",
  cshift: "array shift dim",
  eoshift: "array shift boundary dim",
  spread: "array dim ncopies",
  reshape: "array shape",
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

/** Functions whose elements are not computed from the same element of their arguments. */
export const isOverArrays = (name: string): boolean => Object.hasOwn(ARGUMENTS, name);

function callOf(cx: FortranLowering, frame: ProcedureFrame, e: Apply): Call | undefined {
  const name = treeName(e.base);
  if (!isOverArrays(name)) return undefined;
  const wanted = ARGUMENTS[name].split(" ");
  const given = new Map<string, Tree>();
  e.args.forEach((arg, n) => {
    if (arg.kind !== "value") return;
    const keyword = arg.keyword ?? wanted[n];
    // Takes the second argument of `sum(a, a > 0)` as a mask, not an axis.
    const isMask = !arg.keyword && keyword === "dim" && wanted.includes("mask") && extentsOfExpr(cx, frame, arg.value);
    // The first has many names.
    const known = isMask ? "mask" : n === 0 && !wanted.includes(keyword) ? "array" : keyword;
    if (!wanted.includes(known) || given.has(known)) throw new Unlowerable(e.at, name, "an argument is not supported", "write a loop");
    given.set(known, arg.value);
  });
  const [array, dim] = [given.get("array"), given.get("dim")];
  const shape = array && extentsOfExpr(cx, frame, array);
  if (!shape) throw new Unlowerable(e.at, name, "its argument is not an array");
  if (!dim) return { name, at: e.at, array, given, shape, ...(name.endsWith("shift") && { axis: 0 }) };
  const n = fortranConstant(value(cx, frame, dim));
  const axes = shape.length + (name === "spread" ? 1 : 0);
  if (typeof n !== "number" || n < 1 || n > axes)
    throw new Unlowerable(e.at, name, `the axis has to be a constant from 1 to ${axes}`, `write ${name}(a, dim=1)`);
  return { name, at: e.at, array, given, shape, axis: n - 1 };
}

/** The extents of what the function gives; undefined of one value, and of other names. @throws Unlowerable */
export function arrayShape(cx: FortranLowering, frame: ProcedureFrame, e: Apply): readonly Expr[] | undefined {
  const call = callOf(cx, frame, e);
  if (!call) return undefined;
  const { name, at, given, shape, axis } = call;
  const argument = (keyword: string): Tree => {
    const found = given.get(keyword);
    if (!found) throw new Unlowerable(at, name, `its argument ${keyword} is missing`);
    return found;
  };
  switch (name) {
    case "size":
    case "lbound":
    case "ubound":
    case "dot_product":
      return undefined;
    case "shape":
      return [int(shape.length)];
    case "cshift":
    case "eoshift":
      for (const one of [argument("shift"), given.get("boundary")])
        if (one && extentsOfExpr(cx, frame, one))
          throw new Unlowerable(at, name, "the shift is an array, with a value for each row", "write a loop");
      return shape;
    case "transpose":
      if (shape.length !== 2) throw new Unlowerable(at, name, "its argument is not a matrix");
      return [shape[1], shape[0]];
    case "matmul": {
      const other = extentsOfExpr(cx, frame, argument("other")) ?? [];
      if (shape.length + other.length < 3) throw new Unlowerable(at, name, "its arguments are not matrices", "write dot_product");
      return [...shape.slice(0, -1), ...other.slice(1)];
    }
    case "spread":
      if (axis === undefined) throw new Unlowerable(at, name, "its axis is missing", "write spread(a, dim=1, ncopies=n)");
      return shape.toSpliced(axis, 0, indexOf(cx, frame, argument("ncopies")));
    case "reshape":
      return numbersIn(cx, frame, argument("shape"));
    // Any other function folds.
    default:
      if (axis === undefined) return name.endsWith("loc") ? [int(shape.length)] : undefined;
      return shape.length === 1 ? undefined : shape.toSpliced(axis, 1);
  }
}

/** The integers of a list of constant length. */
function numbersIn(cx: FortranLowering, frame: ProcedureFrame, list: Tree): Expr[] {
  if (list.kind === "constructor") return itemsOf(cx, frame, list).map((item) => indexOf(cx, item.frame, item.e));
  const length = extentsOfExpr(cx, frame, list)?.map(fortranConstant)[0];
  if (typeof length !== "number") throw new Unlowerable(list.at, treeName(list), "its length is not constant", "write [n, m]");
  return Array.from({ length }, (_, n) => valueAs(cx, frame, "i32", list, [int(n)]));
}

/** Result of the function, or one element if it is an array; undefined for other names. @throws Unlowerable */
export function overArrays(cx: FortranLowering, frame: ProcedureFrame, e: Apply, index: readonly Expr[]): Expr | undefined {
  const call = callOf(cx, frame, e);
  if (!call) return undefined;
  const { name, at, array, given, shape, axis } = call;
  const element = (indices: readonly Expr[]): Expr => value(cx, frame, array, indices);
  switch (name) {
    case "size":
      return axis === undefined ? shape.reduce((a, b) => binary("mul", a, b)) : shape[axis];
    case "shape":
      return shape.reduceRight((rest, each, n) => select(compare("eq", index[0], int(n)), each, rest));
    case "cshift":
    case "eoshift": {
      const extent = shape[axis!];
      const last = minus(extent, ONE);
      const from = cx.kept("from", plus(index[axis!], indexOf(cx, frame, given.get("shift")!)));
      if (name === "cshift") return element(index.with(axis!, elemental("modulo", [from, extent], at, cx)));
      const inside = logical("and", compare("ge", from, ZERO), compare("le", from, last));
      const kept = cx.kept("shifted", element(index.with(axis!, binary("min", binary("max", from, ZERO), last))));
      const boundary = given.get("boundary");
      const edge = boundary ? valueAs(cx, frame, kept.type, boundary) : constant(kept.type, kept.type === "bool" ? false : 0);
      return select(inside, kept, edge);
    }
    case "spread":
      return element(index.toSpliced(axis!, 1));
    case "transpose":
      return element([index[1], index[0]]);
    case "reshape":
      return element(elementIndices({ extents: shape }, cx.kept("from", place({ extents: arrayShape(cx, frame, e)! }, index))));
    case "matmul": {
      const rows = shape.length - 1;
      const [left, right] = [index.slice(0, rows), index.slice(rows)];
      const other = given.get("other")!;
      return folded(cx, "sum", at, [shape[rows]], ([k]) => [multiplied(element([...left, k]), value(cx, frame, other, [k, ...right]), at)]);
    }
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
      const of = (k: readonly Expr[]): [Expr, Expr?] => [element(at_(k)), mask && value(cx, frame, mask, at_(k))];
      if (!name.endsWith("loc")) return folded(cx, name, at, along, of);
      const found = located(cx, name, at, along, of);
      if (along.length === 1) return plus(found, ONE);
      const indices = elementIndices({ extents: along }, found).map((each) => plus(each, ONE));
      const wanted = indices.reduceRight((rest, each, n) => select(compare("eq", index[0], int(n)), each, rest));
      return select(compare("lt", found, ZERO), ZERO, wanted);
    }
  }
}

function multiplied(a: Expr, b: Expr, at: Location): Expr {
  const type = promoted(a.type, b.type);
  if (type === "bool") throw new Unlowerable(at, "product", "its arrays are logical", "write any(a .and. b)");
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
  cx: FortranLowering,
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
    start = name === "minval" ? limit : isInteger(type) ? binary("sub", least, ONE) : least;
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

/** The place of the first least or greatest element, counted from 0 in the order of elements; -1 where there is none. */
function located(
  cx: FortranLowering,
  name: string,
  at: Location,
  shape: readonly Expr[],
  of: (index: readonly Expr[]) => readonly [Expr, Expr?],
): Expr {
  const { type } = probe(cx, () => of(shape.map(() => ZERO)))[0];
  const [found, best] = [cx.local(name, "i32", int(-1)), cx.local("best", type)];
  const [so, known]: Expr[] = [found, best].map((each) => ({ op: "local", type: each.type, name: each.name }));
  eachIndex(cx, shape, (index) => {
    const [a, mask] = of(index);
    const x = cx.kept("x", a);
    const better = compare(name === "maxloc" ? "gt" : "lt", x, known);
    // A NaN is taken only until there is a number.
    const first = logical("or", compare("lt", so, ZERO), logical("and", compare("ne", known, known), compare("eq", x, x)));
    const cond = logical("or", first, better);
    const then = cx.collect(() => {
      cx.assign(best.name, x);
      cx.assign(found.name, place({ extents: shape }, index));
    });
    cx.push({ kind: "if", cond: mask ? logical("and", mask, cond) : cond, then, else: [], location: at });
  });
  return cx.kept("found", so);
}
