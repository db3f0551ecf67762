import { table } from "isoform";
import { face, type Container } from "isoform/grid";
import { placeOf, type Axis } from "../equations/axes.js";
import type { Model } from "../equations/model.js";
import { CONSERVED } from "../equations/pointwise.js";

/** An oblique shock that comes in through the upper side. */
export interface IncidentShock {
  /** Angle to the stream, in radians. */
  readonly angle: number;
  /** Place at which it would meet the wall at y = 0. */
  readonly foot: number;
  /** Conserved values upstream and downstream of it. */
  readonly before: readonly number[];
  readonly behind: readonly number[];
}

/** How far from a shock its layer's values are smeared, in cells. */
const SMEAR = 8;

/** Marks cells too far from the shock for a share of the state downstream. */
const UNTOUCHED = -1;

/** The upper layer of cells, and ghosts beyond it: near a shock its two states, smeared over some cells; else what the last cell holds. */
export function incidentShock(model: Model, x: Axis, y: Axis, { angle, foot, before, behind }: IncidentShock): Container {
  const { grid, real, fields, ghosts } = model;
  const { w } = fields;
  const [nx, ny] = grid.extents;
  const step = placeOf(x, 1) - placeOf(x, 0);
  // Uses the host's tanh: devices' differ in the last bit.
  const shares = grid.field("shares", real, { axes: ["x"], cardinality: ghosts + 1 });
  shares.set(
    Array.from({ length: nx }, (_, i) =>
      Array.from({ length: ghosts + 1 }, (_, l) => {
        const away = (placeOf(x, i) - foot + placeOf(y, ny - 1 + l) / Math.tan(angle)) / step;
        return Math.abs(away) > SMEAR ? UNTOUCHED : 0.5 * (1 + Math.tanh(away));
      }),
    ).flat(),
  );
  const upstream = table(real, before);
  const jump = table(
    real,
    behind.map((value, k) => value - before[k]),
  );
  return grid.container(
    "shock at ymax",
    { w, shares },
    ({ w, shares }, c) => {
      for (let l = 0; l <= ghosts; l++) {
        const share = shares[c][l];
        for (let k = 0; k < CONSERVED; k++) w.at(c, 0, l, 0)[k] = share === UNTOUCHED ? w[c][k] : upstream[k] + share * jump[k];
      }
    },
    () => [CONSERVED, ghosts, UNTOUCHED, upstream, jump],
    { on: face("ymax") },
  );
}
