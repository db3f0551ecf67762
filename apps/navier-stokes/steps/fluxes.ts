import { helper } from "isoform";
import { face, slab, type AxisAccess, type Cell, type Container, type FieldAccess, type Region } from "isoform/grid";
import { SIDES } from "../boundaries/sides.js";
import type { Model } from "../equations/model.js";
import { CONSERVED, type Conserved, type Temperatures, type Values } from "../equations/pointwise.js";
import { wenoFlux } from "../equations/weno-flux.js";

/*
 * Fluxes through faces, of schemes with WENO: a field for each axis, with a face's flux in the cell before it.
 */

const AXES = ["x", "y", "z"] as const;

/** Containers that bring the fluxes along an axis up to date. */
export function fluxes(model: Model, axis: number): Container[] {
  const { grid, ghosts, real, Real, isHybrid, cell, central, scheme, reference, fields, metrics } = model;
  const { w, T, sensor } = fields;
  const { threshold, ...weno } = scheme.weno!;
  const { speed } = reference;
  const scales = { density: speed ** -2, momentum: speed ** -4, energy: speed ** -6 };
  const { centralThrough } = central;
  const { reach, wenoReach, isBounded } = metrics[axis];
  const W = weno.halfWidth;
  const [dx, dy, dz] = [0, 1, 2].map((n) => (n === axis ? 1 : 0));

  /** Puts the flux through the face after the cell which is `from` cells further into `through`; faces near the ends of the axis reach fewer cells. */
  const finding = (isNear: boolean) => {
    const wenoThrough = wenoFlux(weno, cell, scales, real, isNear);
    return helper(
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
        const K = isNear ? wenoReach.at(c, from) : W;
        let most = 0;
        if (isHybrid) for (let m = from + 1 - W; m <= from + W; m++) most = Math.max(most, sensor.at(c, m * dx, m * dy, m * dz));
        if (!isHybrid || most > threshold) wenoThrough(w, T, c, axis, dx, dy, dz, from, K, through);
        else centralThrough(w, T, c, axis, dx, dy, dz, from, isNear, reach, through);
      },
      () => [axis, W, isHybrid, isNear, threshold, dx, dy, dz, wenoThrough, centralThrough],
    );
  };
  const params = { w, T, sensor, flux: fields.fluxes[axis], reach, wenoReach };
  const name = `flux along ${AXES[axis]}`;
  /** Fluxes through the faces after cells. */
  const behind = (name: string, isNear: boolean, on?: Region): Container => {
    const find = finding(isNear);
    return grid.container(
      name,
      params,
      ({ w, T, sensor, flux, reach, wenoReach }, c) => {
        const through = new Real(CONSERVED);
        find(w, T, sensor, c, 0, reach, wenoReach, through);
        for (let k = 0; k < CONSERVED; k++) flux[c][k] = through[k];
      },
      () => [Real, CONSERVED, find],
      { on },
    );
  };
  const all = behind(name, false);
  if (!isBounded) return [all];
  const find = finding(true);
  const sides = SIDES.slice(2 * axis, 2 * axis + 2);
  const first = grid.container(
    `first ${name}`,
    params,
    ({ w, T, sensor, flux, reach, wenoReach }, c) => {
      const through = new Real(CONSERVED);
      find(w, T, sensor, c, -1, reach, wenoReach, through);
      for (let k = 0; k < CONSERVED; k++) flux.at(c, -dx, -dy, -dz)[k] = through[k];
    },
    () => [Real, CONSERVED, find, dx, dy, dz],
    { on: face(sides[0]) },
  );
  // They stand in place of what `all` has found there.
  const cells = grid.extents[axis];
  const near = [
    [0, Math.min(ghosts - 1, cells)],
    [Math.max(cells - ghosts, 0), cells],
  ]
    .filter(([from, to]) => from < to)
    .map(([from, to], end) => behind(`${name} near ${sides[end]}`, true, slab(AXES[axis], from, to)));
  return [all, first, ...near];
}
