import { table } from "isoform";
import { face, type Container } from "isoform/grid";
import { placeOf, type Axis } from "../axes.js";
import type { Along } from "../metrics.js";
import type { Model } from "../model.js";
import { CONSERVED } from "../pointwise.js";

/** An oblique shock that comes in through the upper side. */
export interface IncidentShock {
  /** To the stream, in radians. */
  readonly angle: number;
  /** Where it would meet the wall at y = 0. */
  readonly foot: number;
  /** Conserved values before and behind it. */
  readonly before: readonly number[];
  readonly behind: readonly number[];
}

/** How far from a shock its layer's values are smeared, in cells. */
const SMEAR = 8;

/** The upper layer of cells, and ghosts beyond it: near a shock its two states, smeared over some cells; else what the last cell holds. */
export function incidentShock(model: Model, x: Axis, y: Axis, { angle, foot, before, behind }: IncidentShock): Container {
  const { grid, real, fields, ghosts } = model;
  const { w } = fields;
  const [, ny] = grid.extents;
  const step = placeOf(x, 1) - placeOf(x, 0);
  const places = table(
    real,
    Array.from({ length: ghosts + 1 }, (_, l) => foot - placeOf(y, ny - 1 + l) / Math.tan(angle)),
  );
  const [upstream, jump] = [
    table(real, before),
    table(
      real,
      behind.map((value, k) => value - before[k]),
    ),
  ];
  const reach = SMEAR * step;
  return grid.container(
    "shock at ymax",
    { w, x: grid.axis("x", real, (i) => placeOf(x, i)) as Along },
    ({ w, x }, c) => {
      for (let l = 0; l <= ghosts; l++) {
        const away = x[c] - places[l];
        const share = 0.5 * (1 + Math.tanh(away / step));
        for (let k = 0; k < CONSERVED; k++) w.at(c, 0, l, 0)[k] = Math.abs(away) > reach ? w[c][k] : upstream[k] + share * jump[k];
      }
    },
    () => [CONSERVED, ghosts, step, reach, places, upstream, jump],
    { on: face("ymax") },
  );
}
