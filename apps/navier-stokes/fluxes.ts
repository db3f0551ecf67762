import { helper } from "isoform";
import { face, type AxisAccess, type Cell, type Container, type FieldAccess } from "isoform/grid";
import type { Model } from "./model.js";
import { CONSERVED, type Conserved, type Temperatures, type Values } from "./pointwise.js";
import { wenoFlux } from "./weno.js";

/*
 * Fluxes through faces, of schemes with WENO: a field for each axis, that of a face in the cell before it.
 */

/** Containers that bring the fluxes along an axis up to date. */
export function fluxes(model: Model, axis: number): Container[] {
  const { grid, real, Real, isHybrid, cell, central, scheme, reference, fields, metrics } = model;
  const { w, T, sensor } = fields;
  const { threshold, ...weno } = scheme.weno!;
  const { speed } = reference;
  const wenoThrough = wenoFlux(weno, cell, { density: speed ** -2, momentum: speed ** -4, energy: speed ** -6 }, real);
  const { centralThrough } = central;
  const { reach, wenoReach, isBounded } = metrics[axis];
  const W = weno.halfWidth;
  const [dx, dy, dz] = [0, 1, 2].map((n) => (n === axis ? 1 : 0));

  /** Puts the flux through the face behind the cell which is `from` cells further into `through`. */
  const find = helper(
    (
      w: Conserved,
      T: Temperatures,
      sensor: FieldAccess<1, 3>,
      c: Cell<3>,
      from: number,
      reach: AxisAccess,
      wenoReach: AxisAccess,
      through: Values,
    ): void => {
      const K = isBounded ? wenoReach.at(c, from) : W;
      let most = 0;
      if (isHybrid) for (let m = from + 1 - W; m <= from + W; m++) most = Math.max(most, sensor.at(c, m * dx, m * dy, m * dz));
      if (!isHybrid || most > threshold) wenoThrough(w, T, c, axis, dx, dy, dz, from, K, through);
      else centralThrough(w, T, c, axis, dx, dy, dz, from, isBounded, reach, through);
    },
    () => [axis, W, isHybrid, isBounded, threshold, dx, dy, dz, wenoThrough, centralThrough],
  );
  const params = { w, T, sensor, flux: fields.fluxes[axis], reach, wenoReach };
  const behind = grid.container(
    `flux along ${"xyz"[axis]}`,
    params,
    ({ w, T, sensor, flux, reach, wenoReach }, c) => {
      const through = new Real(CONSERVED);
      find(w, T, sensor, c, 0, reach, wenoReach, through);
      for (let k = 0; k < CONSERVED; k++) flux[c][k] = through[k];
    },
    () => [Real, CONSERVED, find],
  );
  if (!isBounded) return [behind];
  const first = grid.container(
    `first flux along ${"xyz"[axis]}`,
    params,
    ({ w, T, sensor, flux, reach, wenoReach }, c) => {
      const through = new Real(CONSERVED);
      find(w, T, sensor, c, -1, reach, wenoReach, through);
      for (let k = 0; k < CONSERVED; k++) flux.at(c, -dx, -dy, -dz)[k] = through[k];
    },
    () => [Real, CONSERVED, find, dx, dy, dz],
    { on: face((["xmin", "ymin", "zmin"] as const)[axis]) },
  );
  return [behind, first];
}
