import { face, type Container, type Side } from "isoform/grid";
import type { Model } from "../equations/model.js";
import { STATE } from "../equations/pointwise.js";
import { outward } from "./sides.js";

/**
 * A wall at rest of some temperature, midway between the first cell and its ghost: ghosts mirror the cells, with the same pressure, the opposite
 * velocity, and temperatures whose mean is the wall's.
 */
export function wall({ grid, cell, Real, fields, gas, ghosts }: Model, side: Side, wallTemperature: number): Container {
  const { w, T } = fields;
  const { stateOf, energyOf } = cell;
  const isThermal = gas.heat !== undefined;
  const [dx, dy, dz] = outward(side);
  return grid.container(
    `wall at ${side}`,
    { w, T },
    ({ w, T }, c) => {
      for (let l = 1; l <= ghosts; l++) {
        const s = new Real(STATE);
        stateOf(w, T, c, (1 - l) * dx, (1 - l) * dy, (1 - l) * dz, s);
        const temperature = 2 * wallTemperature - s[5];
        const rho = s[4] / temperature;
        w.at(c, l * dx, l * dy, l * dz)[0] = rho;
        for (let k = 1; k < 4; k++) w.at(c, l * dx, l * dy, l * dz)[k] = -rho * s[k];
        w.at(c, l * dx, l * dy, l * dz)[4] = rho * (energyOf(temperature) + 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]));
        if (isThermal) T.put(c, l * dx, l * dy, l * dz, temperature);
      }
    },
    () => [Real, STATE, ghosts, wallTemperature, isThermal, dx, dy, dz, stateOf, energyOf],
    { on: face(side) },
  );
}
