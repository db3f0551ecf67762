import type * as acorn from "acorn";
import { loadInt, localOf } from "../../ir/by-name.js";
import { valueType } from "../../ir/scalars.js";
import type { Expr, KernelIR, Param, Stmt } from "../../ir/types.js";
import type { AxisToken, ParticleLists } from "../declare/cells.js";
import type { Lowering } from "./lowering.js";
import type { CellValue, FieldValue, Scope, LoweredValue } from "./values.js";
import { asIndex, scalarsOf } from "./operands.js";
import { add, binary, index, int, mul, ne } from "../../ir/expressions.js";

/*
 * Fields of a grid in the body of a container. In the IR each is one dense array over the whole grid, [z][y][x][k], and the cell is the
 * policy's index triple (z, y, x); in two dimensions [y][x][k] and (y, x).
 */

/** Number of axes that a container runs over. */
export const lowerCellAxes = (ir: KernelIR): number => (ir.policy.kind === "range" ? ir.policy.rank : 0);

/** The parameter of the code for an array along axes of a grid of `dimension` axes, and the value of its name. */
export function axisParam(
  dimension: number,
  name: string,
  { element, cardinality, ghosts, axes: along }: AxisToken,
): [Param, LoweredValue] {
  const axes = along.map((axis) => dimension - 1 - axis).toReversed();
  return [
    { kind: "view", name, element, rank: axes.length + (cardinality > 1 ? 1 : 0), disjoint: false },
    { kind: "axis", name, element: valueType(element), axes, cardinality, ghosts },
  ];
}

/** `c.x`, `c.y`, `c.z` */
export function coordinate(cx: Lowering, cell: CellValue, name: string, node: acorn.Node): LoweredValue {
  const { dimension } = cell;
  const n = ["x", "y", "z"].slice(0, dimension).indexOf(name);
  if (n < 0) return cx.fail(node, `the cell has no ".${name}"`, `its coordinates are ${["c.x, c.y", "c.x, c.y, c.z"][dimension - 2]}`);
  requireCurrent(cx, cell, node);
  return { kind: "scalar", expr: here(cell, dimension - 1 - n) };
}

/** `p[c]` */
export function ownCell(cx: Lowering, field: FieldValue, cell: LoweredValue, node: acorn.MemberExpression): LoweredValue {
  const own = requireCell(cx, field, cell, node.property, `${field.name}[c]`);
  if (field.level !== "own")
    return cx.fail(
      node,
      `${field.name} belongs to a grid of ${field.level === "fine" ? "half" : "twice"} the cell size and is read at the cell`,
      `write ${field.name}.${field.level}(c, ...)`,
    );
  const place = Array.from({ length: lowerCellAxes(cx.ir) }, (_, axis) => here(own, axis));
  return valueIn(cx, field, place, true, node);
}

/** `u[c][k]`, where `u[c]` is already known. */
export function component(cx: Lowering, { field, cell }: LoweredValue & { kind: "components" }, k: Expr, node: acorn.Node): LoweredValue {
  return valueAt(cx, field, [...cell, k], node);
}

/** `m[c]`, `m.at(c, d)`: the value of an array along axes at the cell's coordinates, or `d` further. */
export function alongAxis(
  cx: Lowering,
  array: LoweredValue & { kind: "axis" },
  args: readonly acorn.Node[],
  node: acorn.Node,
  scope: Scope,
): LoweredValue {
  const { name, element, axes, cardinality, ghosts } = array;
  const [cell, ...further] = args as acorn.Expression[];
  const distances =
    axes.length === 1
      ? "d"
      : axes
          .map((axis) => `d${"xyz"[lowerCellAxes(cx.ir) - 1 - axis]}`)
          .toReversed()
          .join(", ");
  const usage = `${name}[c] or ${name}.at(c, ${distances})`;
  if (!cell || (further.length > 0 && further.length !== axes.length))
    return cx.fail(node, `${name}.at is given ${args.length} arguments instead of ${axes.length + 1}`, `write ${usage}`);
  const own = requireCell(cx, array, cx.expression(cell, scope), cell, usage);
  const values = scalarsOf(cx, further, scope)
    .map((value, n) => asIndex(cx, value, further[n]))
    .toReversed();
  const places = axes.map((axis, n) => add(add(here(own, axis), values[n] ?? int(0)), ghosts));
  const along: FieldValue = { kind: "field", name, element, cardinality, level: "own", constant: true };
  return cardinality === 1 ? valueAt(cx, along, places, node) : { kind: "components", field: along, cell: places, own: false };
}

/** A call of something that a field offers. */
export function fieldMethod(cx: Lowering, field: FieldValue, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const [cell, ...offsets] = node.arguments;
  if (name === "put") return put(cx, field, node, scope);
  if (name !== "at" && name !== "isActive" && name !== "fine" && name !== "coarse")
    return cx.fail(node, `${field.name} has no method "${name}"`, `a field offers at, put, isActive, fine and coarse`);
  const dimension = lowerCellAxes(cx.ir);
  const usage = `${field.name}.${name}(c, ${["dx, dy", "dx, dy, dz"][dimension - 2]})`;
  if (!cell) return cx.fail(node, `${field.name}.${name} is called without the cell`, `write ${usage}`);
  const own = requireCell(cx, field, cx.expression(cell, scope), cell, usage);
  if (offsets.length !== dimension && !(name === "isActive" && offsets.length === 0))
    return cx.fail(
      node,
      `${field.name}.${name} is given ${offsets.length} offset${offsets.length === 1 ? "" : "s"} on a grid of ${dimension} dimensions`,
      `write ${usage}`,
    );
  const level = name === "fine" || name === "coarse" ? name : "own";
  if (level !== field.level)
    return cx.fail(
      node,
      `${field.name} ${LEVELS[field.level]}`,
      `write ${field.name}.${field.level === "own" ? "at" : field.level}(c, ...)`,
    );

  const values = scalarsOf(cx, offsets, scope).map((v, n) => asIndex(cx, v, offsets[n]));
  const around = Array.from({ length: dimension }, (_, axis) => {
    const offset = values[dimension - 1 - axis];
    return offset ? add(BASES[level](here(own, axis)), offset) : here(own, axis);
  });
  if (name !== "isActive") return valueIn(cx, field, around, false, node);
  const active: Expr = { op: "load", type: "i32", view: cx.mask(), indices: around, location: cx.at(node) };
  return { kind: "scalar", expr: ne(active, int(0)) };
}

/** `p.put(c, dx, dy, dz, value)`: sets the cell at an offset. */
function put(cx: Lowering, field: FieldValue, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const { name, element, cardinality, level } = field;
  const dimension = lowerCellAxes(cx.ir);
  const offsets = ["dx, dy", "dx, dy, dz"][dimension - 2];
  if (cardinality > 1)
    return cx.fail(node, `${name} has ${cardinality} components in a cell`, `write ${name}.at(c, ${offsets})[k] = value`);
  if (level !== "own") return cx.fail(node, `writes ${name}, which ${LEVELS[level]}`, "write it by a container of its own grid");
  const usage = `${name}.put(c, ${offsets}, value)`;
  const { around, values } = aroundCell(cx, field, node, scope, 1, usage);
  const value = cx.stored(values[0], element, node, name);
  cx.out.push({ kind: "store", view: name, indices: [...around, int(0)], value, location: cx.at(node) });
  return { kind: "void" };
}

/** The arguments (c, dx, dy, dz, ...values) of a call, with `count` values. */
function aroundCell(
  cx: Lowering,
  target: { readonly name: string },
  node: acorn.CallExpression,
  scope: Scope,
  count: number,
  usage: string,
): { around: Expr[]; values: ReturnType<typeof scalarsOf> } {
  const dimension = lowerCellAxes(cx.ir);
  const [cell, ...rest] = node.arguments;
  if (!cell || rest.length !== dimension + count)
    return cx.fail(
      node,
      `${usage.slice(0, usage.indexOf("("))} is given ${node.arguments.length} arguments instead of ${dimension + count + 1}`,
      `write ${usage}`,
    );
  requireCell(cx, target, cx.expression(cell, scope), cell, usage);
  const values = scalarsOf(cx, rest, scope);
  const offset = values.slice(0, dimension).map((v, n) => asIndex(cx, v, rest[n]));
  return {
    around: Array.from({ length: dimension }, (_, axis) => add(index(axis), offset[dimension - 1 - axis])),
    values: values.slice(dimension),
  };
}

/** `rho.add(c, dx, dy, dz, value)`, `j.add(c, dx, dy, dz, k, value)`: the cell at an offset takes a value. */
export function lowerDeposit(
  cx: Lowering,
  target: LoweredValue & { kind: "deposit" },
  method: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue {
  const { name, element, cardinality } = target;
  const dimension = lowerCellAxes(cx.ir);
  const usage = `${name}.add(c, ${["dx, dy", "dx, dy, dz"][dimension - 2]}, ${cardinality > 1 ? "k, " : ""}value)`;
  if (method !== "add") return cx.fail(node, `${name} has no method "${method}"`, `particles only add to it: write ${usage}`);
  const { around, values } = aroundCell(cx, target, node, scope, cardinality > 1 ? 2 : 1, usage);
  const k = cardinality > 1 ? asIndex(cx, values[0], node.arguments[dimension + 1]) : int(0);
  cx.out.push({
    kind: "scatter",
    target: name,
    indices: [...around, k],
    value: cx.stored(values.at(-1)!, element, node, name),
    location: cx.at(node),
  });
  return { kind: "void" };
}

const LEVELS = {
  own: "belongs to the container's own grid",
  fine: "belongs to a grid of half the cell size",
  coarse: "belongs to a grid of twice the cell size",
};

/** The cell of a field's grid, along one axis, that offsets count from. */
const BASES = {
  own: (place: Expr): Expr => place,
  fine: (place: Expr): Expr => mul(place, 2),
  coarse: (place: Expr): Expr => binary("shr", place, 1),
};

function valueAt(cx: Lowering, { element, name }: FieldValue, indices: Expr[], node: acorn.Node): LoweredValue {
  return { kind: "scalar", expr: { op: "load", type: element, view: name, indices, location: cx.at(node) } };
}

/** Coordinate of the cell along a kernel axis. */
const here = ({ at }: CellValue, axis: number): Expr => (at?.axis === axis ? add(index(axis), localOf(at.counter, "i32")) : index(axis));

function valueIn(cx: Lowering, field: FieldValue, cell: Expr[], own: boolean, node: acorn.Node): LoweredValue {
  const components: LoweredValue = { kind: "components", field, cell, own };
  return field.cardinality === 1 ? component(cx, components, int(0), node) : components;
}

function requireCell(cx: Lowering, field: { readonly name: string }, cell: LoweredValue, node: acorn.Node, usage: string): CellValue {
  if (cell.kind !== "cell")
    return cx.fail(node, `${field.name} is not indexed by the cell`, `write ${usage}, with the c that the function is given`);
  requireCurrent(cx, cell, node);
  return cell;
}

/** Refuses the first cell of a march while it goes on. */
function requireCurrent(cx: Lowering, cell: CellValue, node: acorn.Node): void {
  if (cx.marching && !cell.at)
    cx.fail(node, "the cell where the march began is used inside of it", "use the cell that the function of c.march is given");
}

/** The body for each particle of a cell. */
export function overParticles(ir: KernelIR, body: Stmt[], lists: ParticleLists, particle: string): Stmt {
  const { location } = ir;
  const here = Array.from({ length: lowerCellAxes(ir) }, (_, axis) => index(axis));
  const start = loadInt(lists.first, ...here, int(0));
  const stop: Expr = { op: "binary", type: "i32", fn: "add", a: start, b: loadInt(lists.count, ...here, int(0)) };
  return { kind: "for", name: particle, start, stop, step: 1, body, location };
}
