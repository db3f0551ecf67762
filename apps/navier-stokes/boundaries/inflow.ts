import { face, type Container } from "isoform/grid";
import type { Model } from "../equations/model.js";
import { CONSERVED } from "../equations/pointwise.js";

/** A stream that does not change: ghosts before xmin hold conserved values, `at(column, j)` with columns -1, -2, ... */
export function steadyInflow({ grid, real, fields, gas, ghosts }: Model, at: (column: number, j: number) => readonly number[]): Container {
  const { w, T } = fields;
  const stream = grid.field("stream", real, { axes: ["y"], cardinality: CONSERVED * ghosts });
  const [, ny] = grid.extents;
  stream.set(Array.from({ length: ny }, (_, j) => Array.from({ length: ghosts }, (_, l) => [...at(-1 - l, j)])).flat(2));
  const isThermal = gas.heat !== undefined;
  return grid.container(
    "stream at xmin",
    { w, T, stream },
    ({ w, T, stream }, c) => {
      for (let l = 1; l <= ghosts; l++) {
        for (let k = 0; k < CONSERVED; k++) w.at(c, -l, 0, 0)[k] = stream[c][CONSERVED * (l - 1) + k];
        if (isThermal) T.put(c, -l, 0, 0, 1 / stream[c][CONSERVED * (l - 1)]);
      }
    },
    () => [CONSERVED, ghosts, isThermal],
    { on: face("xmin") },
  );
}
