import { helper, table } from "isoform";
import type { AxisAccess, Cell, FieldAccess } from "isoform/grid";
import { STATE, type Conserved, type Pointwise, type Real, type Temperatures, type Values } from "./pointwise.js";
import { FIRST_DERIVATIVE, SECOND_DERIVATIVE } from "./schemes.js";

/*
 * Viscous terms with Stokes' hypothesis: the part that needs the cell and its neighbours, and mu grad(div/3), for which the divergence of the velocity is
 * a field of its own. Axes are numbered 0, 1, 2; gradients are arrays of d u_i / d x_n at 3 n + i.
 */

export const VISCOUS_FORMS = ["conservative", "expanded", "none"] as const;
/** Conservative: fluxes through faces by neighbours alone, of second order; else derivatives of the scheme's order. */
export type ViscousForm = (typeof VISCOUS_FORMS)[number];

type AddViscous = (
  w: Conserved,
  T: Temperatures,
  third: FieldAccess<1, 3>,
  c: Cell<3>,
  n: number,
  dx: number,
  dy: number,
  dz: number,
  own: Values,
  mu: number,
  slope: AxisAccess,
  bend: AxisAccess,
  gap: AxisAccess,
  span: AxisAccess,
  terms: Values,
  sum: Values,
) => void;

/** Length of the arrays `terms`: gradients of u (9), of the viscosity (3), of div/3 (3). */
export const TERMS = 15;

/** First differences of a field and of velocities, to be multiplied by the metrics' `span` in conservative form, else by `slope`. */
export function differences(form: ViscousForm, order: number, { stateOf }: Pointwise, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const given = form === "expanded" ? FIRST_DERIVATIVE[order] : [1];
  const reach = given.length;
  const weights = table(real, [0, ...given]);
  const difference = helper(
    (f: FieldAccess<1, 3>, c: Cell<3>, dx: number, dy: number, dz: number): number => {
      let sum = 0;
      for (let l = 1; l <= reach; l++) sum += weights[l] * (f.at(c, l * dx, l * dy, l * dz) - f.at(c, -l * dx, -l * dy, -l * dz));
      return sum;
    },
    () => [reach, weights],
  );
  const addGradient = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, n: number, dx: number, dy: number, dz: number, metric: number, gradient: Values): void => {
      for (let l = 1; l <= reach; l++) {
        const [ahead, behind] = [new Real(STATE), new Real(STATE)];
        stateOf(w, T, c, l * dx, l * dy, l * dz, ahead);
        stateOf(w, T, c, -l * dx, -l * dy, -l * dz, behind);
        for (let i = 0; i < 3; i++) gradient[3 * n + i] += weights[l] * metric * (ahead[1 + i] - behind[1 + i]);
      }
    },
    () => [Real, STATE, reach, weights, stateOf],
  );
  return { difference, addGradient };
}

/** The terms along one axis, called for each axis, and what is left when `terms` are complete. */
export function viscousTerms(form: Exclude<ViscousForm, "none">, order: number, prandtl: number, cell: Pointwise, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const { stateOf, viscosityOf, heatOf } = cell;
  const { difference } = differences(form, order, cell, real);
  const inversePrandtl = 1 / prandtl;

  const square = helper(
    (s: Values): number => s[1] * s[1] + s[2] * s[2] + s[3] * s[3],
    () => [],
  );

  /** Adds what comes through the face to a neighbour in `s`; `factor` is (mu + mu_s) / distance / width. */
  const addThroughFace = helper(
    (own: Values, s: Values, factor: number, sum: Values): void => {
      for (let k = 1; k < 4; k++) sum[k] += factor * (s[k] - own[k]);
      const heat = inversePrandtl * heatOf(0.5 * (own[5] + s[5])) * (s[5] - own[5]);
      sum[4] += factor * (heat + 0.5 * (square(s) - square(own)));
    },
    () => [inversePrandtl, heatOf, square],
  );

  const addConservative: AddViscous = helper(
    (w, T, third, c, n, dx, dy, dz, own, mu, slope, bend, gap, span, terms, sum) => {
      const [ahead, behind] = [new Real(STATE), new Real(STATE)];
      stateOf(w, T, c, dx, dy, dz, ahead);
      stateOf(w, T, c, -dx, -dy, -dz, behind);
      const [muAhead, muBehind] = [viscosityOf(ahead[5]), viscosityOf(behind[5])];
      for (let i = 0; i < 3; i++) terms[3 * n + i] = (ahead[1 + i] - behind[1 + i]) * span[c];
      terms[9 + n] = (muAhead - muBehind) * span[c];
      terms[12 + n] = difference(third, c, dx, dy, dz) * span[c];
      addThroughFace(own, ahead, (mu + muAhead) * gap[c] * span[c], sum);
      addThroughFace(own, behind, (mu + muBehind) * gap.at(c, -1) * span[c], sum);
    },
    () => [Real, STATE, stateOf, viscosityOf, difference, addThroughFace],
  );

  const first = table(real, [0, ...FIRST_DERIVATIVE[order]]);
  const second = table(real, SECOND_DERIVATIVE[order]);
  const half = order / 2;
  const addFull: AddViscous = helper(
    (w, T, third, c, n, dx, dy, dz, own, mu, slope, bend, gap, span, terms, sum) => {
      // First and second differences of u, v, w, T, and of the viscosity.
      const [once, twice] = [new Real(5), new Real(4)];
      for (let k = 0; k < 3; k++) twice[k] = second[0] * own[1 + k];
      twice[3] = second[0] * own[5];
      for (let l = 1; l <= half; l++) {
        const [ahead, behind] = [new Real(STATE), new Real(STATE)];
        stateOf(w, T, c, l * dx, l * dy, l * dz, ahead);
        stateOf(w, T, c, -l * dx, -l * dy, -l * dz, behind);
        for (let k = 0; k < 3; k++) {
          once[k] += first[l] * (ahead[1 + k] - behind[1 + k]);
          twice[k] += second[l] * (ahead[1 + k] + behind[1 + k]);
        }
        once[3] += first[l] * (ahead[5] - behind[5]);
        twice[3] += second[l] * (ahead[5] + behind[5]);
        once[4] += first[l] * (viscosityOf(ahead[5]) - viscosityOf(behind[5]));
      }
      for (let k = 0; k < 5; k++) once[k] *= slope[c];
      for (let k = 0; k < 4; k++) twice[k] = twice[k] * slope[c] * slope[c] - once[k] * bend[c];
      for (let i = 0; i < 3; i++) terms[3 * n + i] = once[i];
      terms[9 + n] = once[4];
      terms[12 + n] = difference(third, c, dx, dy, dz) * slope[c];
      for (let k = 0; k < 3; k++) {
        sum[1 + k] += mu * twice[k];
        sum[4] += mu * twice[k] * own[1 + k];
      }
      sum[4] += (once[4] * once[3] + mu * twice[3]) * heatOf(own[5]) * inversePrandtl;
    },
    () => [Real, STATE, half, first, second, stateOf, viscosityOf, heatOf, inversePrandtl, difference],
  );

  /** In conservative form, fluxes through faces hold mu (grad u)^2 and grad mu . grad u already. */
  const isFull = form === "expanded";
  const addRest = helper(
    (own: Values, mu: number, terms: Values, sum: Values): void => {
      const trace = (2 / 3) * (terms[0] + terms[4] + terms[8]);
      let work = 0;
      for (let i = 0; i < 3; i++) {
        let force = mu * terms[12 + i];
        for (let d = 0; d < 3; d++) {
          let stress = terms[3 * i + d];
          if (isFull) stress += terms[3 * d + i];
          if (d === i) stress -= trace;
          force += terms[9 + d] * stress;
          work += stress * terms[3 * d + i];
        }
        sum[1 + i] += force;
        sum[4] += own[1 + i] * force;
      }
      sum[4] += mu * work;
    },
    () => [isFull],
  );

  return { addViscous: isFull ? addFull : addConservative, addRest };
}
