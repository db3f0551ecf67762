import { f64, max, min, sum } from "isoform";
import type { Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Bulk } from "../steps/forcing.js";
import type { Model } from "../equations/model.js";
import { STATE } from "../equations/pointwise.js";

/*
 * Values of a line of progress. After a step, `next` and `nextT` hold the input of its last stage.
 */

const EXTREMES = ["minRho", "maxRho", "minT", "maxT", "minP", "maxP"] as const;
/** Extremes of density, temperature and pressure, and the sum of squares of what the last stage has changed the momentum along x by. */
type Diagnosed = Readonly<Record<(typeof EXTREMES)[number], Scalar>> & { readonly residual: Scalar<"f64"> };

export interface Diagnostics {
  readonly scalars: Diagnosed;
  readonly containers: readonly Container[];
  /** Residual of the last stage; where boundaries write cells, it has to run before them. */
  readonly residual: Container;
  /** Cells whose density or temperature are not above 0, as the flow is now, and what counts them. */
  readonly broken: { readonly cells: Scalar<"f64">; readonly count: Container };
}

/** @param bulk of a channel that is reheated: then the temperature is that before, of the last stage */
export function diagnosticsOf(model: Model, reheated?: { readonly bulk: Bulk; readonly target: number }): Diagnostics {
  const { grid, fields, cell, real, Real, toReal } = model;
  const { w, T, next, nextT } = fields;
  const { stateOf } = cell;
  const extreme = Object.fromEntries(EXTREMES.map((name) => [name, grid.scalar(name, real)])) as Record<(typeof EXTREMES)[number], Scalar>;
  const scalars: Diagnosed = { ...extreme, residual: grid.scalar("residual", f64) };
  const { minRho, maxRho, minT, maxT, minP, maxP, residual } = scalars;
  const results = { minRho: min(minRho), maxRho: max(maxRho), minT: min(minT), maxT: max(maxT), minP: min(minP), maxP: max(maxP) };
  const isReheated = reheated !== undefined;
  const { carried, momentum } = reheated?.bulk ?? { carried: 0, momentum: 1 };
  const target = reheated?.target ?? 0;
  const extremes = grid.container(
    "extremes",
    { w, T, next, nextT, carried, momentum, target, ...results },
    ({ w, T, next, nextT, carried, momentum, target, minRho, maxRho, minT, maxT, minP, maxP }, c) => {
      const s = new Real(STATE);
      if (isReheated) stateOf(w, T, c, 0, 0, 0, s);
      else stateOf(next, nextT, c, 0, 0, 0, s);
      const temperature = isReheated ? s[5] - toReal(target - carried / momentum) : s[5];
      const rho = next[c][0];
      minRho.min(rho);
      maxRho.max(rho);
      minT.min(temperature);
      maxT.max(temperature);
      minP.min(rho * temperature);
      maxP.max(rho * temperature);
    },
    () => [Real, STATE, isReheated, toReal, stateOf],
  );
  return { scalars, containers: [extremes], residual: residualOf(model, residual), broken: brokenOf(model) };
}

function brokenOf({ grid, fields, cell, Real }: Model): Diagnostics["broken"] {
  const { w, T } = fields;
  const { stateOf } = cell;
  const cells = grid.scalar("broken cells", f64);
  const count = grid.container(
    "broken cells",
    { w, T, cells: sum(cells) },
    ({ w, T, cells }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      // False for NaN, too.
      cells.add(s[0] > 0 && s[5] > 0 ? 0 : 1);
    },
    () => [Real, STATE, stateOf],
  );
  return { cells, count };
}

/** Valid after a stage, and after the swap that follows it. */
function residualOf({ grid, fields }: Model, residual: Scalar<"f64">): Container {
  const { w, next } = fields;
  return grid.container("residual", { w, next, residual: sum(residual) }, ({ w, next, residual }, c) => {
    const change = w[c][1] - next[c][1];
    residual.add(change * change);
  });
}
