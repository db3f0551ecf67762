import { memoised, named } from "#memoise";
import { derive } from "../../cache/derive.js";
import type { Container, FieldUse, Field } from "../../domain/grid/grid.js";
import { assignedKeys } from "../../ir/analysis/assigned.js";
import { costOf } from "../../ir/analysis/cost.js";
import type { Expr, KernelIR } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";

/** Use of one field by a container, seen from one cell. Components are numbers from 0. */
export interface Touch {
  readonly field: Field;
  /** The field belongs to a grid of half or twice the cell size, and is read only. */
  readonly foreign: boolean;
  /** It writes cells other than its own, where no other cell reads or writes. */
  readonly spread: boolean;
  /** Neighbours that are read, [dx, dy, dz]. */
  readonly offsets: readonly (readonly number[])[];
  /** Components that are read of other cells. */
  readonly around: ReadonlySet<number>;
  /** Values of other cells that are read. */
  readonly values: number;
  /** Components of the own cell whose value from before the container counts: read before they are written, or not written on every path. */
  readonly old: ReadonlySet<number>;
  /** Components of the own cell that are written. */
  readonly written: ReadonlySet<number>;
}

/** Components whose values from before it a container needs, in its own cell or in others. */
export const neededOf = ({ old, around }: Touch): ReadonlySet<number> => new Set([...old, ...around]);

/** True if some component is in both. */
export const meet = (a: Iterable<number>, b: ReadonlySet<number>): boolean => [...a].some((k) => b.has(k));

/** Properties of a container that count for fusion. */
interface Footprint {
  readonly touches: ReadonlyMap<Field, Touch>;
  /** Operations a cell. */
  readonly flops: number;
}

/** Remembered for each container. */
export const footprintOf = (container: Container): Footprint => derive(container, footprint);

function footprint(container: Container): Footprint {
  const { ir, uses } = container;
  const params = uses.map(({ param, field, level }) => ({ param, cardinality: field.cardinality, foreign: level !== "own" }));
  const { places, flops } = derive(ir, factsOf, params);
  return { touches: new Map(uses.map((use) => [use.field, touchOf(container, use, places.get(use.param)!)])), flops };
}

function touchOf({ box }: Container, { field, offsets, spread, level }: FieldUse, places: Places): Touch {
  const foreign = level !== "own";
  const { around, values, written, exposed, assigned } = places;
  // Cells outside of its box keep their values.
  const old = new Set([...exposed, ...[...written].filter((k) => box !== undefined || !assigned.has(k))]);
  return { field, foreign, spread: spread !== undefined, offsets, around, values, old, written };
}

/** Use of one field by a container's code. */
interface Places extends Pick<Touch, "around" | "values" | "written"> {
  /** Components of the own cell that some path reads before they are written. */
  readonly exposed: ReadonlySet<number>;
  /** Components that every path has written at the end. */
  readonly assigned: ReadonlySet<number>;
}

/** Facts from a container's code. */
interface CodeFacts {
  /** By view parameter. */
  readonly places: ReadonlyMap<string, Places>;
  readonly flops: number;
}

/** A field's parameter in a container's code. */
interface FieldParam {
  readonly param: string;
  readonly cardinality: number;
  readonly foreign: boolean;
}

/** Containers with fields that take turns share their code. */
const factsOf = (ir: KernelIR, params: readonly FieldParam[]): CodeFacts =>
  memoised("footprint", [named(ir), params], () => ({
    places: new Map(params.map(({ param, cardinality, foreign }) => [param, findPlaces(ir, param, cardinality, foreign)])),
    flops: flopsOf(ir),
  }));

function findPlaces(ir: KernelIR, param: string, cardinality: number, foreign: boolean): Places {
  const around = new Set<number>();
  const values = new Set<string>();
  const written = new Set<number>();
  const components = (indices: readonly Expr[]) => componentsOf(indices, cardinality);
  walkExprs(ir.body, (node) => {
    if (node.op !== "load" || node.view !== param || (!foreign && isOwnCell(node.indices))) return;
    for (const k of components(node.indices)) {
      around.add(k);
      values.add([...cellOffset(node.indices), k].join());
    }
  });
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "store" && stmt.view === param) for (const k of components(stmt.indices)) written.add(k);
  });
  const { exposed, assigned } = assignedKeys(
    ir.body,
    (node) => (node.op === "load" && node.view === param && !foreign && isOwnCell(node.indices) ? components(node.indices) : NOTHING),
    (stmt) => {
      const [k, another] = stmt.kind === "store" && stmt.view === param ? components(stmt.indices) : NOTHING;
      return another === undefined ? k : undefined;
    },
  );
  return { around, values: values.size, written, exposed, assigned };
}

const NOTHING: readonly number[] = [];

/** The components that an access may touch: its last index, or all where that is not constant. */
function componentsOf(indices: readonly Expr[], cardinality: number): number[] {
  const k = indices[indices.length - 1];
  return k.op === "const" ? [k.value as number] : Array.from({ length: cardinality }, (_, n) => n);
}

/** True for the indices of a component of the own cell, in the plain form that containers have. */
const isOwnCell = (indices: readonly Expr[]): boolean =>
  indices.slice(0, -1).every((index, axis) => index.op === "index" && index.axis === axis);

/** The offset [dx, dy, dz] of a cell of the own grid, whose indices are in the plain form that containers have. */
export function cellOffset(indices: readonly Expr[]): number[] {
  return indices
    .slice(0, -1)
    .map((index) => {
      if (index.op !== "binary" || index.b.op !== "const") return 0;
      return (index.fn === "sub" ? -1 : 1) * (index.b.value as number);
    })
    .reverse();
}

/** Operations in one cell. */
function flopsOf(ir: KernelIR): number {
  const rank = ir.policy.kind === "range" ? ir.policy.rank : 0;
  const views = Object.fromEntries(
    ir.params.flatMap((p) => (p.kind === "view" ? [[p.name, { shape: Array<number>(p.rank).fill(1) }]] : [])),
  );
  const cell = { kind: "range", begin: Array<number>(rank).fill(0), extents: Array<number>(rank).fill(1) } as const;
  return costOf(ir, { policy: cell, views, scalars: {} }).flops;
}
