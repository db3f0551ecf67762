import { Field, type Container, type FieldUse, type Grid } from "../../src/domain/grid/grid.js";
import type { Scalar } from "../../src/set/index.js";

/* Containers that know what they use and cannot run: enough for graphs and schedules. */

/** The one grid of all, as far as fields ask for it. */
const GRID = { periodic: [false, false, false], cutAxes: [2] } as Partial<Grid> as Grid;

export const field = (name: string): Field => Object.create(Field.prototype, { name: { value: name }, grid: { value: GRID } });
export const scalar = (name: string): Scalar => ({ name }) as Scalar;

interface Uses {
  reads?: Field[];
  writes?: Field[];
  /** Fields whose neighbours along z are read. */
  around?: Field[];
  /** Fields whose neighbours along x are read. */
  beside?: Field[];
  scalars?: Scalar[];
  reduces?: Scalar[];
  level?: FieldUse["level"];
}

export function container(
  name: string,
  { reads = [], writes = [], around = [], beside = [], scalars = [], reduces = [], level = "own" }: Uses,
): Container {
  const fields = [...new Set([...reads, ...around, ...beside, ...writes])];
  return {
    name,
    grid: GRID,
    location: { file: "sequence.ts", line: 7, column: 1 },
    ir: undefined as never,
    uses: fields.map((used) => ({
      param: used.name,
      field: used,
      read: reads.includes(used) || around.includes(used) || beside.includes(used),
      written: writes.includes(used),
      offsets: [
        ...(around.includes(used)
          ? [
              [0, 0, -1],
              [0, 0, 1],
            ]
          : []),
        ...(beside.includes(used) ? [[1, 0, 0]] : []),
      ],
      level,
    })),
    scalars: new Map(scalars.map((s) => [s.name, s])),
    reductions: new Map(reduces.map((s) => [s.name, s])),
    values: new Map(),
    stencil: around.length + beside.length > 0,
    reduces: reduces.length > 0,
  };
}

/** The example of the paper's figure 4: axpy, laplace, dot. */
export function figure4(): { containers: Container[]; x: Field; y: Field; d: Scalar } {
  const [x, y, d] = [field("x"), field("y"), scalar("d")];
  const containers = [
    container("axpy", { reads: [x, y], writes: [x] }),
    container("laplace", { around: [x], reads: [x], writes: [y] }),
    container("dot", { reads: [x, y], reduces: [d] }),
  ];
  return { containers, x, y, d };
}
