import { assign, helper, max } from "isoform";
import type { Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Model } from "../equations/model.js";
import { STATE, type Values } from "../equations/pointwise.js";

/**
 * The time step of a Courant number: by the greatest of (|u_n| + c) xi_x, nu xi_x^2 and nu/Pr xi_x^2 over cells and directions.
 */
export function chooseStep(model: Model, dt: Scalar, courant: number): [Container, ReturnType<Model["grid"]["scalarStep"]>] {
  const { grid, real, toReal } = model;
  const limit = grid.scalar("limit", real);
  return [
    greatestRate(model, limit),
    grid.scalarStep(
      "dt",
      { dt: assign(dt), limit, courant },
      ({ dt, limit, courant }) => {
        dt.set(toReal(courant / limit));
      },
      () => [toReal],
    ),
  ];
}

function greatestRate({ grid, Real, axes, cell, scheme, gas, fields, along }: Model, limit: Scalar): Container {
  const { w, T } = fields;
  const { stateOf, gammaOf, viscosityOf } = cell;
  const isViscous = scheme.viscous !== "none";
  const inversePrandtl = 1 / gas.prandtl;
  const [x, y, z] = along("slope");
  const rateAlong = helper(
    (s: Values, n: number, sound: number, diffusion: number, slope: number): number =>
      Math.max((Math.abs(s[1 + n]) + sound) * slope, diffusion * slope * slope),
    () => [],
  );
  return grid.container(
    "limit",
    { w, T, x, y, z, limit: max(limit) },
    ({ w, T, x, y, z, limit }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const sound = Math.sqrt(gammaOf(s[5]) * s[5]);
      const diffusion = isViscous ? Math.max(1, inversePrandtl) * (viscosityOf(s[5]) / s[0]) : 0;
      let most = rateAlong(s, 0, sound, diffusion, x[c]);
      if (axes > 1) most = Math.max(most, rateAlong(s, 1, sound, diffusion, y[c]));
      if (axes > 2) most = Math.max(most, rateAlong(s, 2, sound, diffusion, z[c]));
      limit.max(most);
    },
    () => [Real, STATE, axes, isViscous, inversePrandtl, stateOf, gammaOf, viscosityOf, rateAlong],
  );
}
