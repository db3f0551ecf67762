import { helper } from "isoform";
import type { Cell } from "isoform/grid";
import { STATE, type Conserved, type Pointwise, type Real, type Temperatures, type Values } from "./pointwise.js";

/*
 * Waves of the Roe average of the two cells beside a face (Roe, J. Comput. Phys. 43, 1981): fields in characteristic variables, and back.
 */

/**
 * Numbers of an average. 0 to 2: velocity; 3: total enthalpy by mass; 4: temperature; 5: speed of sound; 6: heat capacity at constant volume over the gas
 * constant; 7 to 11: factors of the conserved values in the even part of sound waves; 12 and 13: of momentum along the axis and density in the odd part.
 */
export const MEAN = 14;

/** Functions of averages. Sound waves are kept as the sum of an even and an odd part, and their difference. */
export function characteristics(cell: Pointwise, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const { stateOf, enthalpyOf, temperatureOf, heatOf } = cell;
  const average = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, dx: number, dy: number, dz: number, n: number, from: number, mean: Values): void => {
      const [a, b] = [new Real(STATE), new Real(STATE)];
      stateOf(w, T, c, from * dx, from * dy, from * dz, a);
      stateOf(w, T, c, (from + 1) * dx, (from + 1) * dy, (from + 1) * dz, b);
      const ratio = Math.sqrt(b[0] / a[0]);
      const part = 1 / (ratio + 1);
      for (let k = 0; k < 3; k++) mean[k] = (ratio * b[1 + k] + a[1 + k]) * part;
      mean[3] = (ratio * enthalpyOf(b) + enthalpyOf(a)) * part;
      const kinetic = 0.5 * (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
      mean[4] = temperatureOf(mean[3] - kinetic, a[5]);
      const cvOverR = heatOf(mean[4]) - 1;
      const inverseCv = 1 / cvOverR;
      const sound = Math.sqrt((1 + inverseCv) * mean[4]);
      const inverse = 1 / sound;
      const b2 = inverseCv * inverse * inverse;
      mean[5] = sound;
      mean[6] = cvOverR;
      mean[7] = mean[4] * inverse * inverse - b2 * (mean[3] - mean[4] - 2 * kinetic);
      for (let k = 0; k < 3; k++) mean[8 + k] = b2 * mean[k];
      mean[11] = b2;
      mean[12] = inverse;
      mean[13] = mean[n] * inverse;
    },
    () => [Real, STATE, stateOf, enthalpyOf, temperatureOf, heatOf],
  );

  /** Waves of a cell along axis n by the left eigenvectors: its values, and what the pressure adds to their fluxes. */
  const toWaves = helper((mean: Values, n: number, x: Values, along: number, pressure: number, values: Values, added: Values): void => {
    const inverse = mean[12];
    const t1 = n === 0 ? 1 : 0;
    const t2 = n === 2 ? 1 : 2;
    const sum = mean[7] * x[0] - mean[8] * x[1] - mean[9] * x[2] - mean[10] * x[3] + mean[11] * x[4];
    const difference = mean[13] * x[0] - inverse * x[1 + n];
    values[0] = sum + difference;
    values[1] = x[0] - sum;
    values[2] = x[1 + t1] - mean[t1] * x[0];
    values[3] = x[1 + t2] - mean[t2] * x[0];
    values[4] = sum - difference;
    const push = mean[11] * pressure * (along - mean[n]);
    added[0] = push - inverse * pressure;
    added[1] = -push;
    added[4] = push + inverse * pressure;
  });

  /** The flux along axis n whose waves are `found`, each of them twice, by the right eigenvectors. */
  const fromWaves = helper((mean: Values, n: number, found: Values, flux: Values): void => {
    const t1 = n === 0 ? 1 : 0;
    const t2 = n === 2 ? 1 : 2;
    const even = 0.25 * (found[0] + found[4]);
    const odd = 0.25 * mean[5] * (found[4] - found[0]);
    const [entropy, first, second] = [0.5 * found[1], 0.5 * found[2], 0.5 * found[3]];
    const sum = even + entropy;
    flux[0] = sum;
    for (let k = 0; k < 3; k++) flux[1 + k] = mean[k] * sum;
    flux[1 + n] += odd;
    flux[1 + t1] += first;
    flux[1 + t2] += second;
    flux[4] = mean[3] * even + mean[n] * odd + (mean[3] - mean[4] - mean[4] * mean[6]) * entropy + mean[t1] * first + mean[t2] * second;
  });
  return { average, toWaves, fromWaves };
}
