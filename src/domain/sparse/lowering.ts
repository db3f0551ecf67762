import { define, loadInt, localOf, paramOf } from "../../ir/by-name.js";
import type { Level } from "../../kernel/declare/cells.js";
import type { Expr, KernelIR, ReduceParam, Stmt, TeamResult } from "../../ir/types.js";
import { mapStmts } from "../../ir/walk.js";
import { substituteCells } from "../container/cell-code.js";
import type { Offset } from "../grid/parts.js";
import { GROUP } from "../indexed/indexing.js";
import { StorageKernel, type ContainerPlan, type FieldPlan, type StorageShape } from "../container/storage-kernel.js";
import { add, binary, compare, index, int, ne, select, truth } from "../../ir/expressions.js";

/** Parameters that a kernel over indexed cells needs in addition to the container's own. */
export type SparseRole = "near" | "far" | "fillCell" | "runs" | "distances" | "firstRun" | "fine" | "coarse" | "x" | "y" | "z";

/** Offsets in the order of the grid's tables: from the own cell, from its first fine cell and from its coarse one. */
export type Directions = Readonly<Record<Level, readonly Offset[]>>;

export interface LoweredSparse {
  readonly ir: KernelIR;
  readonly roles: ReadonlyMap<SparseRole, string>;
}

/** The roles of coordinates, by axis. */
export const COORDINATES: readonly SparseRole[] = ["x", "y", "z"];
const SHIFT = Math.log2(GROUP);

/*
 * Containers over the cells of one partition of an element-sparse grid, by index. A field lies in a view of rank 1 for cardinality 1, else
 * of `[component][cell]` (soa) or `[cell][component]` (aos). The offsets that the container uses are among the `directions`.
 */

/** For GPUs: an element a cell, which finds its neighbours by `near` and `far` (see Connectivity). */
export function lowerCells(container: KernelIR, plan: ContainerPlan, directions: Directions): LoweredSparse {
  const kernel = new StorageKernel<SparseRole>(container);
  const cell = index(0);
  const body = substituteNeighbours(container, plan, kernel, cell, directions, (direction) => {
    const entry = kernel.local(`near_${direction}`, loadInt(kernel.view("near", "i32", 2), int(direction), binary("shr", cell, SHIFT)));
    const far = loadInt(kernel.view("far", "i32", 2), binary("shr", entry, 1), binary("and", cell, GROUP - 1));
    return kernel.local(`neighbour_${direction}`, select(ne(binary("and", entry, 1), int(0)), far, add(cell, binary("shr", entry, 1))));
  });
  const shape: StorageShape = { policy: { kind: "range", rank: 1 }, fieldRank, cell: [cell] };
  return { ir: kernel.finish([...kernel.prologue, ...body], plan, shape), roles: kernel.roles };
}

/** For CPUs: a team a run (see Runs), whose members are its cells; neighbours are at one distance for all of them. */
export function lowerRuns(container: KernelIR, plan: ContainerPlan, directions: Directions): LoweredSparse {
  const { location } = container;
  const kernel = new StorageKernel<SparseRole>(container);
  const run = kernel.local("run", add(index(0), paramOf(kernel.scalar("firstRun"), "i32")));
  const bound = (n: number): Expr => loadInt(kernel.view("runs", "i32", 2), run, int(n));
  const first = kernel.local("first", bound(0));
  const member = localOf(kernel.fresh("member"), "i32");
  const cell = localOf(kernel.fresh("cell"), "i32");
  const substituted = substituteNeighbours(container, plan, kernel, cell, directions, (direction) =>
    add(cell, kernel.local(`distance_${direction}`, loadInt(kernel.view("distances", "i32", 2), run, int(direction)))),
  );

  const reduced = plan.storeReduced ? [] : container.params.filter((p): p is ReduceParam => p.kind === "reduce");
  const totals = new Map(reduced.map(({ name, type, op }) => [name, { name: kernel.fresh(`${name}_run`), type, op } as TeamResult]));
  const toTotal = (stmt: Stmt): Stmt =>
    stmt.kind === "reduce" && totals.has(stmt.target) ? { ...stmt, target: totals.get(stmt.target)!.name } : stmt;
  const body = [define(cell.name, add(first, member), location), ...mapStmts(substituted, { stmt: toTotal })];
  const shared = { name: member.name, count: bound(1), body, location };
  const loop: Stmt = totals.size > 0 ? { kind: "teamReduce", results: [...totals.values()], ...shared } : { kind: "teamFor", ...shared };
  const folds = [...totals].map(([target, { name, type }]): Stmt => ({ kind: "reduce", target, value: localOf(name, type), location }));
  const shape: StorageShape = { policy: { kind: "team" }, fieldRank, cell: [cell] };
  return { ir: kernel.finish([...kernel.prologue, loop, ...folds], plan, shape), roles: kernel.roles };
}

/** The container's body, given the index of the own cell and what finds the neighbour in a direction. */
function substituteNeighbours(
  container: KernelIR,
  { fields, mask }: ContainerPlan,
  kernel: StorageKernel<SparseRole>,
  cell: Expr,
  directions: Directions,
  find: (direction: number) => Expr,
): Stmt[] {
  const known = new Map<string, Expr>();
  const isOwn = (offset: Offset): boolean => offset.every((d) => d === 0);
  const indexAt = (offset: Offset, level: Level = "own"): Expr => {
    if (level === "own" && isOwn(offset)) return cell;
    const key = `${level} ${offset}`;
    if (!known.has(key)) {
      const direction = directions[level].findIndex((other) => other.join() === offset.join());
      known.set(key, level === "own" ? find(direction) : link(level, direction));
    }
    return known.get(key)!;
  };
  const link = (level: "fine" | "coarse", direction: number): Expr => {
    const table = kernel.view(level, "i32", 2);
    return kernel.local(`${level}_${direction}`, loadInt(table, int(direction), cell));
  };
  return substituteCells(
    container,
    { fields, mask },
    {
      element: (field, offset, component) => {
        const { cardinality, layout, level } = fields.get(field)!;
        const index = indexAt(offset, level);
        return cardinality === 1 ? [index] : layout === "soa" ? [component, index] : [index, component];
      },
      active: (offset) => (isOwn(offset) ? truth(true) : compare("lt", indexAt(offset), paramOf(kernel.scalar("fillCell"), "i32"))),
      coordinate: (axis) => loadInt(kernel.view(COORDINATES[axis], "i32", 1), cell),
    },
  );
}

const fieldRank = ({ cardinality }: FieldPlan): number => (cardinality === 1 ? 1 : 2);
