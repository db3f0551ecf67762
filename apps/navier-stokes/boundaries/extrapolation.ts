import { face, type Container, type Side } from "isoform/grid";
import type { Model } from "../equations/model.js";
import type { RealField } from "../equations/state.js";
import { outward } from "./sides.js";

/** An open end: ghosts hold what the last cell holds. */
export function extrapolation({ grid, fields, gas, ghosts }: Model, side: Side): Container {
  const { w, T } = fields;
  const isThermal = gas.heat !== undefined;
  const [dx, dy, dz] = outward(side);
  return grid.container(
    `open end at ${side}`,
    { w, T },
    ({ w, T }, c) => {
      for (let l = 1; l <= ghosts; l++) {
        for (let k = 0; k < 5; k++) w.at(c, l * dx, l * dy, l * dz)[k] = w[c][k];
        if (isThermal) T.put(c, l * dx, l * dy, l * dz, T[c]);
      }
    },
    () => [ghosts, isThermal, dx, dy, dz],
    { on: face(side) },
  );
}

/** The same of one field of numbers. */
export function repeatEdge({ grid, ghosts }: Model, field: RealField<1>, side: Side): Container {
  const [dx, dy, dz] = outward(side);
  return grid.container(
    `edge of ${field.name} at ${side}`,
    { field },
    ({ field }, c) => {
      for (let l = 1; l <= ghosts; l++) field.put(c, l * dx, l * dy, l * dz, field[c]);
    },
    () => [ghosts, dx, dy, dz],
    { on: face(side) },
  );
}
