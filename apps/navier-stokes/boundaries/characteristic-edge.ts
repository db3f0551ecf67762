import { face, type Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Model } from "../equations/model.js";
import { CONSERVED, STATE } from "../equations/pointwise.js";
import { NOW, STAGES } from "../equations/stage.js";

export type OpenEdge = "xmax" | "ymax";

/**
 * Convection across an open side in its layer of cells, which get no fluxes there: characteristic waves that leave, by one-sided differences;
 * none comes in. To follow a stage from 0 on, whose results it changes.
 */
export function characteristicEdge(model: Model, side: OpenEdge, dt: Scalar, stage: number): Container {
  const { grid, cell, Real, fields, metrics } = model;
  const { w, T, next, rate } = fields;
  const { stateOf, enthalpyOf, gammaOf } = cell;
  const n = side === "xmax" ? 0 : 1;
  const [dx, dy] = n === 0 ? [-1, 0] : [0, -1];
  const [now, isLast] = [NOW[stage], stage === STAGES - 1];
  return grid.container(
    `edge at ${side} ${stage + 1}`,
    { w, T, next, rate, dt, slope: metrics[n].slope },
    ({ w, T, next, rate, dt, slope }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const H = enthalpyOf(s);
      const gamma = gammaOf(s[5]);
      const sound = Math.sqrt(gamma * s[5]);
      const q = 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
      const b2 = (gamma - 1) / (sound * sound);
      const b1 = s[5] / (sound * sound) - b2 * (H - s[5] - 2 * q);
      const normal = s[1 + n];
      const d = new Real(CONSERVED);
      for (let k = 0; k < CONSERVED; k++) d[k] = 1.5 * w[c][k] - 2 * w.at(c, dx, dy, 0)[k] + 0.5 * w.at(c, 2 * dx, 2 * dy, 0)[k];

      const both = b1 * d[0] - b2 * (s[1] * d[1] + s[2] * d[2] + s[3] * d[3]) + b2 * d[4];
      const odd = (normal * d[0] - d[1 + n]) / sound;
      const along = Math.max(normal, 0);
      const slow = 0.5 * (both + odd) * Math.max(normal - sound, 0);
      const fast = 0.5 * (both - odd) * Math.max(normal + sound, 0);
      const entropy = (d[0] - both) * along;

      const change = new Real(CONSERVED);
      change[0] = slow + entropy + fast;
      change[4] = H * (slow + fast) + normal * sound * (fast - slow) + (H - s[5] - s[5] / (gamma - 1)) * entropy;
      for (let k = 0; k < 3; k++) {
        change[1 + k] = s[1 + k] * change[0];
        if (k === n) change[1 + k] += sound * (fast - slow);
        else {
          const shear = (d[1 + k] - s[1 + k] * d[0]) * along;
          change[1 + k] += shear;
          change[4] += s[1 + k] * shear;
        }
      }
      for (let k = 0; k < CONSERVED; k++) {
        next[c][k] -= dt * now * slope[c] * change[k];
        if (!isLast) rate[c][k] -= slope[c] * change[k];
      }
    },
    () => [Real, CONSERVED, STATE, n, dx, dy, now, isLast, stateOf, enthalpyOf, gammaOf],
    { on: face(side) },
  );
}
