import { helper, table } from "isoform";
import type { Cell } from "isoform/grid";
import { CONSERVED, STATE, type Conserved, type Pointwise, type Real, type Temperatures, type Values } from "./pointwise.js";
import { MEAN, characteristics } from "./roe.js";
import { reconstruction, type Weno } from "./weno.js";

/* Fluxes by WENO reconstruction (weno.ts) of split fluxes, in characteristic variables of the Roe average or component by component. */

/** Factors of the smoothness, for fields of a density's or a momentum's kind. */
interface WenoScales {
  /** 1 / (rho0 u0)^2 */
  readonly density: number;
  /** 1 / (rho0 u0^2)^2 */
  readonly momentum: number;
  /** 1 / (rho0 u0^3)^2 */
  readonly energy: number;
}

/** Greatest speeds around a face: of u - c, u and u + c. */
const SPEEDS = 3;

/**
 * The flux along axis n, in direction (dx, dy, dz), through the face after the cell which is `from` cells further. Faces that are `isNear` the ends
 * of an axis have a half-width `K` less than the scheme's, or 1.
 */
export function wenoFlux(weno: Weno, cell: Pointwise, scales: WenoScales, real: Real, isNear = false) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const W = weno.halfWidth;
  const cells = 2 * W;
  const isRoe = weno.splitting === "roe";
  const speedsAround = speedsOf(cell, W, isRoe, real);
  const { average, toWaves, fromWaves } = characteristics(cell, real);
  const sidesOf = facesOf(weno, scales, real, isNear);

  return helper(
    (
      w: Conserved,
      T: Temperatures,
      c: Cell<3>,
      n: number,
      dx: number,
      dy: number,
      dz: number,
      from: number,
      K: number,
      flux: Values,
    ): void => {
      const [along, pressure, speeds] = [new Real(cells), new Real(cells), new Real(SPEEDS)];
      speedsAround(w, T, c, n, dx, dy, dz, from, along, pressure, speeds);
      const mean = new Real(MEAN);
      average(w, T, c, dx, dy, dz, n, from, mean);
      const forward = new Real(CONSERVED * cells);
      const backward = new Real(CONSERVED * cells);
      for (let m = 0; m < cells; m++) {
        const away = from + m + 1 - W;
        const x = new Real(CONSERVED);
        for (let k = 0; k < CONSERVED; k++) x[k] = w.at(c, away * dx, away * dy, away * dz)[k];
        // The flux is the velocity times the values, and what the pressure adds.
        const [values, added] = [new Real(CONSERVED), new Real(CONSERVED)];
        if (isRoe) toWaves(mean, n, x, along[m], pressure[m], values, added);
        else {
          for (let k = 0; k < CONSERVED; k++) values[k] = x[k];
          added[1 + n] = pressure[m];
          added[4] = along[m] * pressure[m];
        }
        for (let k = 0; k < CONSERVED; k++) {
          const speed = k === 0 ? speeds[0] : k === 4 ? speeds[2] : speeds[1];
          forward[cells * k + m] = (along[m] + speed) * values[k] + added[k];
          backward[cells * k + m] = (along[m] - speed) * values[k] + added[k];
        }
      }
      const found = new Real(CONSERVED);
      sidesOf(forward, backward, K, found);
      if (isRoe) fromWaves(mean, n, found, flux);
      else for (let k = 0; k < CONSERVED; k++) flux[k] = 0.5 * found[k];
    },
    () => [Real, W, cells, CONSERVED, SPEEDS, MEAN, isRoe, speedsAround, average, toWaves, fromWaves, sidesOf],
  );
}

/** Velocities along axis n and pressures of the cells around a face, and the greatest speeds: one for all without Roe's waves. */
function speedsOf({ stateOf, heatOf }: Pointwise, W: number, isRoe: boolean, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const cells = 2 * W;
  return helper(
    (
      w: Conserved,
      T: Temperatures,
      c: Cell<3>,
      n: number,
      dx: number,
      dy: number,
      dz: number,
      from: number,
      along: Values,
      pressure: Values,
      speeds: Values,
    ): void => {
      let [slow, middle, fast] = [0, 0, 0];
      for (let m = 0; m < cells; m++) {
        const s = new Real(STATE);
        const away = from + m + 1 - W;
        stateOf(w, T, c, away * dx, away * dy, away * dz, s);
        const cpOverR = heatOf(s[5]);
        const sound = Math.sqrt((cpOverR / (cpOverR - 1)) * s[5]);
        slow = Math.max(slow, Math.abs(s[1 + n] - sound));
        middle = Math.max(middle, Math.abs(s[1 + n]));
        fast = Math.max(fast, Math.abs(s[1 + n] + sound));
        along[m] = s[1 + n];
        pressure[m] = s[4];
      }
      if (!isRoe) {
        slow = Math.max(slow, fast);
        middle = slow;
        fast = slow;
      }
      speeds[0] = slow;
      speeds[1] = middle;
      speeds[2] = fast;
    },
    () => [Real, W, cells, STATE, isRoe, stateOf, heatOf],
  );
}

/** Sums of both split fluxes at a face. The distance from the ends of the axis decides the half-width. */
function facesOf({ halfWidth: W, weights, splitting }: Weno, scales: WenoScales, real: Real, isNear: boolean) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const cells = 2 * W;
  const { density, momentum, energy } = scales;
  // Split fluxes are taken twice, and sound waves twice more.
  const scaleOf = table(
    real,
    splitting === "roe"
      ? [density / 16, density / 4, momentum / 4, momentum / 4, density / 16]
      : [density / 4, momentum / 4, momentum / 4, momentum / 4, energy / 4],
  );

  /** Puts the sums of the values from both sides of a face into `found`. */
  const reconstructAll = (K: number) => {
    const reconstruct = reconstruction(K, W, weights, real);
    return helper(
      (forward: Values, backward: Values, found: Values): void => {
        for (let k = 0; k < CONSERVED; k++) {
          const [left, right] = [new Real(cells - 1), new Real(cells - 1)];
          for (let j = 0; j < cells - 1; j++) {
            left[j] = forward[cells * k + j];
            right[j] = backward[cells * k + cells - 1 - j];
          }
          found[k] = reconstruct(left, right, scaleOf[k]);
        }
      },
      () => [Real, CONSERVED, cells, reconstruct, scaleOf],
    );
  };
  const whole = reconstructAll(W);
  const [narrow1, narrow2, narrow3] = [1, 2, 3].map((K) => reconstructAll(Math.min(K, W)));
  const most = Math.max(W - 1, 1);
  return helper(
    (forward: Values, backward: Values, K: number, found: Values): void => {
      if (!isNear) whole(forward, backward, found);
      else if (most === 1 || K === 1) narrow1(forward, backward, found);
      else if (most === 2 || K === 2) narrow2(forward, backward, found);
      else narrow3(forward, backward, found);
    },
    () => [isNear, most, whole, narrow1, narrow2, narrow3],
  );
}
