import { isFloat, wrap } from "../../ir/scalars.js";
import { define, loadInt, localOf, paramOf } from "../../ir/by-name.js";
import { literal } from "../../ir/simplify.js";
import type { Expr, KernelIR, ScalarType, Stmt } from "../../ir/types.js";
import { substituteCells, type CellCode } from "../container/cell-code.js";
import { guard } from "../container/guard.js";
import type { FieldUse } from "../grid/grid.js";
import type { Parity } from "../grid/region.js";
import { StorageKernel, type ContainerPlan, type FieldPlan, type StorageShape } from "../container/storage-kernel.js";
import { add, binary, compare, index, int, mul, ne, select, sub, truth } from "../../ir/expressions.js";

/** Parameters that a kernel over a dense box needs in addition to the container's own. */
export type DenseRole = "mask" | "origin" | "rowOrigin" | "begin" | "end";

export interface DenseFieldPlan extends FieldPlan {
  readonly level: FieldUse["level"];
  /** Padding of the field's grid, in kernel order. */
  readonly padding: readonly number[];
  /** Rings of the field's grid, like the container's. */
  readonly rings: Rings;
  readonly fillValue: number;
}

/** In kernel order: the extent of an axis on which memory has no places beyond the ends, for the other end is there. */
export type Rings = readonly (number | undefined)[];

export interface DensePlan extends ContainerPlan {
  readonly fields: ReadonlyMap<string, DenseFieldPlan>;
  /** Padding of the container's grid, in kernel order: (z, y, x) or (y, x). */
  readonly padding: readonly number[];
  readonly rings: Rings;
  /** If x is a ring, its neighbours are read by value, from two places side by side: loops over x stay vectors. Otherwise by their place. */
  readonly byValue: boolean;
  /** Members have some of the rows of their planes. */
  readonly cutsRows: boolean;
  /** Cells along x. */
  readonly width: number;
  /** Memory has no places for cells beyond the ends of rows: it holds others there. */
  readonly packed: boolean;
  /** Some cells are not active, and the body must not run for them. */
  readonly masked: boolean;
  /** It runs over ghosts, too. */
  readonly onGhosts: boolean;
  /** Whether all other cells that it writes are ghosts. */
  readonly writesGhosts: boolean;
  /** The kernel axis along which the range counts stretches of `stretch` cells, from the index `begin` to `end`. */
  readonly march?: { readonly axis: number; readonly stretch: number };
  /** The range counts the cells of one parity between two x, the second one excluded. */
  readonly everySecond?: { readonly parity: Parity; readonly begin: number; readonly end: number };
}

/**
 * A container over the cells of one member's box. The range's indices are storage indices: a cell's local coordinates plus the padding.
 * A field is indexed [z][y][x] for cardinality 1, else [k][z][y][x] (soa) or [z][y][x][k] (aos); `mask` is indexed like cardinality 1;
 * `origin` is the global coordinate of the first plane, `rowOrigin` of the first row where rows are cut.
 */
export function lowerDense(container: KernelIR, plan: DensePlan): { ir: KernelIR; roles: ReadonlyMap<DenseRole, string> } {
  const kernel = new StorageKernel<DenseRole>(container);
  const { padding, march } = plan;
  const atCell = (at: Place) => storedCell(kernel, plan, at);
  const substituted = (body: readonly Stmt[], code: CellCode) => substituteCells({ ...container, body: [...body] }, plan, code);
  const local: Place["local"] = (wish, value) => kernel.local(wish, value);
  const cell = atCell({ index, local });
  const second = plan.everySecond && everySecond(kernel, plan.padding, plan.everySecond, cell.code);
  const own = second ? atCell({ index: second.index, local }) : cell;
  const body = march ? marched(container, kernel, march, atCell, substituted) : substituted(container.body, own.code);
  const active = plan.masked ? own.isActive(padding.map(() => 0)) : undefined;
  const inside = (among: readonly Stmt[], test: Expr | undefined): readonly Stmt[] =>
    test ? guard(among, test, container, (wish) => kernel.fresh(wish)) : among;
  const guarded = inside(inside(body, active), second?.isInside);
  const shape: StorageShape = {
    policy: { kind: "range", rank: padding.length },
    fieldRank: ({ cardinality }) => padding.length + (cardinality === 1 ? 0 : 1),
    cell: padding.map((_, axis) => index(axis)),
  };
  return { ir: kernel.finish([...kernel.prologue, ...guarded], plan, shape), roles: kernel.roles };
}

/** The cell of one parity that the range's last index counts in its row, and a test where a row may have one cell fewer than another. */
function everySecond(
  kernel: StorageKernel<DenseRole>,
  padding: readonly number[],
  { parity, begin, end }: NonNullable<DensePlan["everySecond"]>,
  { coordinate }: CellCode,
): Pick<Place, "index"> & { readonly isInside: Expr | undefined } {
  const last = padding.length - 1;
  const others = Array.from({ length: last }, (_, n) => coordinate(n + 1)).reduce((a, b) => add(a, b));
  const odd = binary("and", add(others, int(begin + parity)), int(1));
  const x = kernel.local("x", add(add(mul(index(last), 2), odd), int(begin + padding[last])));
  const isInside = (end - begin) % 2 === 0 ? undefined : compare("lt", x, int(end + padding[last]));
  return { index: (axis) => (axis === last ? x : index(axis)), isInside };
}

/** A march over the cells of one stretch. */
function marched(
  { body, location }: KernelIR,
  kernel: StorageKernel<DenseRole>,
  { axis, stretch }: NonNullable<DensePlan["march"]>,
  atCell: (at: Place) => { readonly code: CellCode },
  substituted: (body: readonly Stmt[], code: CellCode) => Stmt[],
): Stmt[] {
  const loop = body.at(-1) as Extract<Stmt, { kind: "for" }>;
  const [begin, end] = (["begin", "end"] as const).map((role) => paramOf(kernel.scalar(role), "i32"));
  const first = kernel.local("first", add(begin, mul(index(axis), stretch)));
  const cells = kernel.local("cells", binary("min", sub(end, first), int(stretch)));
  const placed = (place: Expr) => (other: number) => (other === axis ? place : index(other));
  const start = atCell({ index: placed(first), local: (wish, value) => kernel.local(wish, value) });
  const inLoop: Stmt[] = [];
  const current = atCell({
    index: placed(add(first, localOf(loop.name, "i32"))),
    local(wish, value) {
      const name = kernel.fresh(wish);
      inLoop.push(define(name, value, location));
      return localOf(name, value.type);
    },
  });
  const each = substituted(loop.body, current.code);
  return [...substituted(body.slice(0, -1), start.code), { ...loop, stop: cells, body: [...inLoop, ...each] }];
}

/** A cell in code: its storage index along each kernel axis, and how to declare a local before what runs for it. */
interface Place {
  readonly index: (axis: number) => Expr;
  readonly local: (wish: string, value: Expr) => Expr;
}

/** Places of the values of a cell and of its neighbours. */
function storedCell(
  kernel: StorageKernel<DenseRole>,
  plan: DensePlan,
  at: Place,
): { readonly code: CellCode; readonly isActive: (offset: readonly number[]) => Expr } {
  const { padding } = plan;
  const last = padding.length - 1;
  const own: CellLayout = { level: "own", ...plan };

  /** Storage index along a kernel axis of the cell at distance `d` from the own one, or from its first fine cell or its coarse one. */
  const storageIndex = (axis: number, d: number, { level, padding: theirs, rings }: CellLayout): Expr => {
    const here = at.index(axis);
    const extent = rings[axis];
    const isNear = level === "fine" ? d === 0 || d === 1 : d === 0 || (level === "own" && axis === last && plan.byValue);
    if (extent !== undefined && !isNear)
      return wrapped(`${level === "own" ? "" : `${level}_`}${"xyz"[last - axis]}`, baseOf(here, level), d, extent);
    if (level === "own") return shifted(here, d);
    return level === "fine"
      ? shifted(mul(here, 2), theirs[axis] - 2 * padding[axis] + d)
      : shifted(binary("shr", shifted(here, -padding[axis]), 1), theirs[axis] + d);
  };
  const cellIndex = (offset: readonly number[], of: CellLayout): Expr[] =>
    padding.map((_, axis) => storageIndex(axis, offset[last - axis], of));
  const known = new Map<string, Expr>();
  /** The place at distance `d` from another one of a ring. */
  const wrapped = (name: string, from: Expr, d: number, extent: number): Expr => {
    const wish = `${name}_${d < 0 ? "m" : ""}${Math.abs(d)}`;
    const [inside, back] = d < 0 ? [compare("ge", from, int(-d)), extent] : [compare("lt", from, int(extent - d)), -extent];
    if (!known.has(wish)) known.set(wish, at.local(wish, select(inside, shifted(from, d), shifted(from, d + back))));
    return known.get(wish)!;
  };
  const ring = plan.rings[last];
  /** Whether memory has a place for the cell at distance `dx` along x; undefined if it has in any case. */
  const isInRow = (dx: number): Expr | undefined => {
    if (dx === 0 || !(ring === undefined ? plan.packed : plan.byValue)) return undefined;
    const x = shifted(at.index(last), -padding[last]);
    return dx < 0 ? compare("ge", x, int(-dx)) : compare("lt", x, int(plan.width - dx));
  };
  const fillValueOf = (name: string, type: ScalarType): Expr => {
    const { fillValue } = plan.fields.get(name)!;
    return literal(type, isFloat(type) ? wrap(type, fillValue) : fillValue);
  };
  /** Whether there is an active cell for certain. */
  const isThere = (offset: readonly number[]): boolean =>
    !plan.masked && !plan.onGhosts && padding.every((_, axis) => plan.rings[axis] !== undefined || offset[last - axis] === 0);
  /** The offset of the same cell on the other side of the ring of x. */
  const around = ([dx, ...others]: readonly number[]): number[] => [dx < 0 ? dx + ring! : dx - ring!, ...others];
  const isActive = (offset: readonly number[]): Expr => {
    const activeAt = (at: readonly number[]) => ne(loadInt(kernel.view("mask", "u8", padding.length), ...cellIndex(at, own)), int(0));
    const inRow = isInRow(offset[0]);
    if (inRow && ring !== undefined) return select(inRow, activeAt(offset), activeAt(around(offset)));
    return inRow ? { op: "logical", type: "bool", fn: "and", a: inRow, b: activeAt(offset) } : activeAt(offset);
  };
  const element = (name: string, offset: readonly number[], component: Expr): Expr[] => {
    const field = plan.fields.get(name)!;
    const cell = cellIndex(offset, field);
    if (field.cardinality === 1) return cell;
    return field.layout === "soa" ? [component, ...cell] : [...cell, component];
  };

  const code: CellCode = {
    element,
    read: (name, offset, load) => {
      const { level, layout } = plan.fields.get(name)!;
      const inRow = level === "own" ? isInRow(offset[0]) : undefined;
      if (!inRow) return load;
      if (ring === undefined) return select(inRow, load, fillValueOf(name, load.type));
      const component = layout === "soa" ? load.indices[0] : load.indices.at(-1)!;
      return select(inRow, load, { ...load, indices: element(name, around(offset), component) });
    },
    // No branch, so that loops stay vectors; cells that share a place of the padding all put the same there.
    kept: (name, offset, value) =>
      plan.writesGhosts || isThere(offset) ? value : select(isActive(offset), value, fillValueOf(name, value.type)),
    active: (offset) => (isThere(offset) ? truth(true) : isActive(offset)),
    coordinate: (n) => {
      const axis = last - n;
      const local = shifted(at.index(axis), -padding[axis]);
      const origin = axis === 0 ? "origin" : n === 1 && plan.cutsRows ? "rowOrigin" : undefined;
      return origin ? add(local, paramOf(kernel.scalar(origin), "i32")) : local;
    },
  };
  return { code, isActive };
}

/** Layout of the cells of a field, or of the mask. */
type CellLayout = Pick<DenseFieldPlan, "level" | "padding" | "rings">;

/** Index along an axis that offsets count from, on rings: these have no padding. */
function baseOf(here: Expr, level: DenseFieldPlan["level"]): Expr {
  return level === "own" ? here : level === "fine" ? mul(here, 2) : binary("shr", here, 1);
}

const shifted = (expr: Expr, d: number): Expr => (d === 0 ? expr : add(expr, d));
