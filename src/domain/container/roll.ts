import { originalPosition } from "#source-map";
import { ContainerError } from "../../base/errors.js";
import { index, int } from "../../ir/expressions.js";
import { valueType } from "../../ir/scalars.js";
import type { KernelIR, Location, Param, Stmt } from "../../ir/types.js";
import { callSite } from "../../kernel/declare/location.js";
import type { Container, Field, FieldUse, Grid } from "../grid/grid.js";
import { boxOf, type CellBox, type Region } from "../grid/region.js";

/** Options of `roll`. */
export interface RollOptions {
  /** The cells that take values: a region, or the intersection of several. Default: all. */
  on?: Region | readonly Region[];
  /** The components to copy. Default: all. */
  components?: readonly number[];
  /** Name in `explain`. Default: "roll". */
  name?: string;
}

/**
 * A step that copies cells of a field to other places, like `numpy.roll`: the cell c of `target` takes the value that the cell `c - shift` of `source` had
 * before. Along periodic axes the coordinates come round; along the others they lead to existing cells and ghosts. The two may be one field.
 * Whatever members own the cells, values go from one to the other.
 * @param shift whole numbers, x first
 * @throws ContainerError for fields of two grids or types, for places outside the grid, and for grids that are not dense or have inactive cells
 */
export function roll(source: Field, target: Field, shift: readonly number[], options: RollOptions = {}): Container {
  const { on, name = "roll", components = [...Array(target.cardinality).keys()], ...others } = options;
  const location = originalPosition(callSite(roll));
  const refuse = (problem: string, remedy: string): never => {
    throw new ContainerError(name, location, problem, remedy);
  };
  for (const option of Object.keys(others)) refuse(`it has no option "${option}"`, "use on, components and name");
  const grid: Grid = target.grid;
  const { extents, periodic, ghosts } = grid;
  const differs = (["grid", "type", "scale"] as const).find((key) => source[key] !== target[key]);
  if (differs)
    refuse(`it copies "${source.name}" to "${target.name}", which are of two ${differs}s`, "give fields of one grid, type and scale");
  if (!grid.roll || !grid.activity.isFull)
    refuse(
      grid.roll ? "some cells of the grid are inactive" : `it runs on a ${grid.kind} grid`,
      "copy fields of dense grids whose cells are all active",
    );
  const missing = components.find((k) => !(Number.isInteger(k) && k >= 0 && k < Math.min(source.cardinality, target.cardinality)));
  if (missing !== undefined || components.length === 0)
    refuse(
      `it copies the components [${components}] of ${source.cardinality} of "${source.name}" to ${target.cardinality} of "${target.name}"`,
      "give { components } that both have",
    );
  if (shift.length !== extents.length || !shift.every(Number.isInteger))
    refuse(`it is shifted by [${shift}] on a grid of ${extents.length} dimensions`, "give a whole number for each axis, x first");
  const box = on && boxOfRoll(on, grid, refuse);
  const bounds = box?.bounds ?? extents.map((extent) => [0, extent] as const);
  const beyond = bounds.findIndex(
    ([first, end], axis) =>
      !periodic[axis] && (first - shift[axis] < -ghosts[axis][0] || end - shift[axis] > extents[axis] + ghosts[axis][1]),
  );
  if (beyond >= 0) {
    const [first, end] = bounds[beyond].map((n) => n - shift[beyond]);
    refuse(
      `cells from ${first} to ${end} along ${"xyz"[beyond]} are asked for, and the grid has cells from ${-ghosts[beyond][0]} to ${extents[beyond] + ghosts[beyond][1]}`,
      "give a region whose cells come from some of these, or a periodic axis",
    );
  }
  const uses: FieldUse[] =
    source === target
      ? [{ param: "target", field: target, read: true, written: true, offsets: [], level: "own" }]
      : [
          { param: "source", field: source, read: true, written: false, offsets: [], level: "own" },
          { param: "target", field: target, read: false, written: true, offsets: [], level: "own" },
        ];
  return {
    name,
    grid,
    box,
    location,
    ir: copyOf(uses, components, extents.length, name, location),
    uses,
    scalars: new Map(),
    reductions: new Map(),
    values: new Map(),
    stencil: false,
    reduces: false,
    inRounds: ({ uses: now }) => grid.roll!({ source: now[0].field, target: now.at(-1)!.field, components, bounds, shift }),
  };
}

/** Code of its reads and writes, which does not show the cells. */
function copyOf(uses: readonly FieldUse[], components: readonly number[], rank: number, name: string, location: Location): KernelIR {
  const { param: from, field } = uses[0];
  const type = valueType(field.type);
  const cell = Array.from({ length: rank }, (_, axis) => index(axis));
  const params = uses.map(({ param, field: of }): Param => ({
    kind: "view",
    name: param,
    element: of.type,
    rank: rank + 1,
    disjoint: false,
  }));
  const body = components.map((k): Stmt => ({
    kind: "store",
    view: "target",
    indices: [...cell, int(k)],
    value: { op: "load", type, view: from, indices: [...cell, int(k)] },
    location,
  }));
  return { name, policy: { kind: "range", rank }, params, tables: [], body, location };
}

function boxOfRoll(on: NonNullable<RollOptions["on"]>, grid: Grid, refuse: (problem: string, remedy: string) => never): CellBox {
  const box = boxOf(on, grid, refuse);
  return box.parity === undefined ? box : refuse(`it copies ${box.name}`, "give a face or slabs: rolls copy boxes of cells");
}
