import { helper } from "isoform";
import type { Cell, Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Model } from "./model.js";
import { CONSERVED, STATE, type Conserved, type Values } from "./pointwise.js";
import { TERMS, viscousTerms } from "./viscous.js";

/** Factors of the stages: w += dt (before * rate of the stage before + now * rate), Wray's scheme of third order. */
const BEFORE = [0, -17 / 60, -5 / 12];
export const NOW = [8 / 15, 5 / 12, 3 / 4];
export const STAGES = 3;

/** A stage of the Runge-Kutta scheme, from 0 on: all that changes a cell, and what becomes of it. */
export function stage(
  { grid, real, Real, axes, isCentral, cell, central, scheme, gas, fields, along }: Model,
  dt: Scalar,
  stage: number,
): Container {
  const { w, T, third, next, rate } = fields;
  const { fullStateOf, addInflow } = central;
  const { viscosityOf } = cell;
  const form = scheme.viscous === "none" ? "conservative" : scheme.viscous;
  const { addViscous, addRest } = viscousTerms(form, scheme.order, gas.prandtl, cell, real);
  const isViscous = scheme.viscous !== "none";
  const [before, now, isLast] = [BEFORE[stage], NOW[stage], stage === STAGES - 1];
  const [ix, iy, iz] = along("inflow");
  const [rx, ry, rz] = along("reach");
  const [isBoundedX, isBoundedY, isBoundedZ] = along("isBounded");
  const [sx, sy, sz] = along("slope");
  const [bx, by, bz] = along("bend");
  const [gx, gy, gz] = along("gap");
  const [px, py, pz] = along("span");
  const [fx, fy, fz] = fields.fluxes;

  const addFlux = helper(
    (f: Conserved, c: Cell<3>, dx: number, dy: number, dz: number, scale: number, sum: Values): void => {
      for (let k = 0; k < CONSERVED; k++) sum[k] -= (f[c][k] - f.at(c, -dx, -dy, -dz)[k]) * scale;
    },
    () => [CONSERVED],
  );
  return grid.container(
    `stage ${stage + 1}`,
    { w, T, third, next, rate, dt, fx, fy, fz, ix, iy, iz, rx, ry, rz, sx, sy, sz, bx, by, bz, gx, gy, gz, px, py, pz },
    ({ w, T, third, next, rate, dt, fx, fy, fz, ix, iy, iz, rx, ry, rz, sx, sy, sz, bx, by, bz, gx, gy, gz, px, py, pz }, c) => {
      const own = new Real(STATE);
      fullStateOf(w, T, c, 0, 0, 0, own);
      const sum = new Real(CONSERVED);
      if (isCentral) {
        addInflow(w, T, c, 0, 1, 0, 0, own, ix[c], isBoundedX, rx, sum);
        if (axes > 1) addInflow(w, T, c, 1, 0, 1, 0, own, iy[c], isBoundedY, ry, sum);
        if (axes > 2) addInflow(w, T, c, 2, 0, 0, 1, own, iz[c], isBoundedZ, rz, sum);
      } else {
        addFlux(fx, c, 1, 0, 0, ix[c], sum);
        if (axes > 1) addFlux(fy, c, 0, 1, 0, iy[c], sum);
        if (axes > 2) addFlux(fz, c, 0, 0, 1, iz[c], sum);
      }
      if (isViscous) {
        const terms = new Real(TERMS);
        const mu = viscosityOf(own[5]);
        addViscous(w, T, third, c, 0, 1, 0, 0, own, mu, sx, bx, gx, px, terms, sum);
        if (axes > 1) addViscous(w, T, third, c, 1, 0, 1, 0, own, mu, sy, by, gy, py, terms, sum);
        if (axes > 2) addViscous(w, T, third, c, 2, 0, 0, 1, own, mu, sz, bz, gz, pz, terms, sum);
        addRest(own, mu, terms, sum);
      }
      for (let k = 0; k < CONSERVED; k++) {
        let change = now * sum[k];
        if (before !== 0) change += before * rate[c][k];
        next[c][k] = w[c][k] + dt * change;
        if (!isLast) rate[c][k] = sum[k];
      }
    },
    () => [
      Real,
      STATE,
      CONSERVED,
      TERMS,
      axes,
      isCentral,
      isViscous,
      isBoundedX,
      isBoundedY,
      isBoundedZ,
      isLast,
      before,
      now,
      fullStateOf,
      addInflow,
      addFlux,
      viscosityOf,
      addViscous,
      addRest,
    ],
  );
}
