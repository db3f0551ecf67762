import { helper, table } from "isoform";
import type { AxisAccess, Cell } from "isoform/grid";
import type { Conserved, Pointwise, Real, Temperatures, Values } from "./pointwise.js";
import { CONSERVED, STATE } from "./pointwise.js";
import { FIRST_DERIVATIVE } from "./schemes.js";
import { twoPointFlux, type Splitting } from "./two-point.js";

/*
 * Central fluxes: sums of two-point fluxes over the pairs of cells on both sides of a face, F_i = 2 sum_l c_l sum_{m<l} phi(i-m, i-m+l). In the
 * difference of two faces of one order, all pairs without the cell itself cancel.
 */

export function centralFluxes(order: number, splitting: Splitting, { stateOf, energyOf, enthalpyOf }: Pointwise, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const addFlux = twoPointFlux(splitting);
  const carried =
    splitting < 0
      ? enthalpyOf
      : helper(
          (s: Values): number => energyOf(s[5]),
          () => [energyOf],
        );
  const half = order / 2;
  const weights = table(real, [0, ...FIRST_DERIVATIVE[order]]);

  /** A state with what central fluxes carry. */
  const fullStateOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, dx: number, dy: number, dz: number, s: Values): void => {
      stateOf(w, T, c, dx, dy, dz, s);
      s[6] = carried(s);
    },
    () => [stateOf, carried],
  );

  // Faces near the ends of an axis that is not periodic reach fewer cells: row L is of faces that reach L on each side.
  const reduced = table(
    real,
    [0, 1, 2, 3, 4].map((L) => [0, 1, 2, 3, 4].map((l) => (L > 0 && l > 0 && FIRST_DERIVATIVE[2 * L][l - 1]) || 0)),
  );

  /**
   * Adds to `sum` what flows into a cell along axis n, times `scale`. `own` is the cell's state; `reach` are cells on each side of the faces,
   * where they are not the same everywhere (`isBounded`).
   */
  const addInflow = helper(
    (
      w: Conserved,
      T: Temperatures,
      c: Cell<3>,
      n: number,
      dx: number,
      dy: number,
      dz: number,
      own: Values,
      scale: number,
      isBounded: boolean,
      reach: AxisAccess,
      sum: Values,
    ): void => {
      for (let l = 1; l <= half; l++) {
        const ahead = new Real(STATE);
        fullStateOf(w, T, c, l * dx, l * dy, l * dz, ahead);
        addFlux(own, ahead, n, -2 * scale * (isBounded ? reduced[reach[c]][l] : weights[l]), sum);
        const behind = new Real(STATE);
        fullStateOf(w, T, c, -l * dx, -l * dy, -l * dz, behind);
        addFlux(behind, own, n, 2 * scale * (isBounded ? reduced[reach.at(c, -1)][l] : weights[l]), sum);
      }
      // Pairs around the cell do not cancel between faces that reach unlike far.
      if (isBounded && reach[c] !== reach.at(c, -1))
        for (let l = 2; l <= half; l++)
          for (let m = 1; m < l; m++) {
            const [a, b] = [new Real(STATE), new Real(STATE)];
            fullStateOf(w, T, c, -m * dx, -m * dy, -m * dz, a);
            fullStateOf(w, T, c, (l - m) * dx, (l - m) * dy, (l - m) * dz, b);
            addFlux(a, b, n, 2 * scale * (reduced[reach.at(c, -1)][l] - reduced[reach[c]][l]), sum);
          }
    },
    () => [Real, STATE, half, weights, reduced, fullStateOf, addFlux],
  );

  /** Puts the flux through the face after the cell which is `from` cells further into `flux`. */
  const centralThrough = helper(
    (
      w: Conserved,
      T: Temperatures,
      c: Cell<3>,
      n: number,
      dx: number,
      dy: number,
      dz: number,
      from: number,
      isBounded: boolean,
      reach: AxisAccess,
      flux: Values,
    ): void => {
      for (let k = 0; k < CONSERVED; k++) flux[k] = 0;
      for (let l = 1; l <= half; l++)
        for (let m = 0; m < l; m++) {
          const [a, b] = [new Real(STATE), new Real(STATE)];
          fullStateOf(w, T, c, (from - m) * dx, (from - m) * dy, (from - m) * dz, a);
          fullStateOf(w, T, c, (from + l - m) * dx, (from + l - m) * dy, (from + l - m) * dz, b);
          addFlux(a, b, n, 2 * (isBounded ? reduced[reach.at(c, from)][l] : weights[l]), flux);
        }
    },
    () => [Real, STATE, CONSERVED, half, weights, reduced, fullStateOf, addFlux],
  );

  return { fullStateOf, addInflow, centralThrough };
}
