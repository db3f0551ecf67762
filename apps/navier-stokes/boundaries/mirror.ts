import { face, type Container, type Side } from "isoform/grid";
import type { Model } from "../equations/model.js";
import { outward } from "./sides.js";

/** A wall without friction or heat flux: ghosts hold what the cells before it hold, with the velocity across it turned round. */
export function mirrorGhosts({ grid, fields, gas, ghosts }: Model, side: Side): Container {
  const { w, T } = fields;
  const isThermal = gas.heat !== undefined;
  const [dx, dy, dz] = outward(side);
  const across = 1 + "xyz".indexOf(side[0]);
  return grid.container(
    `wall at ${side}`,
    { w, T },
    ({ w, T }, c) => {
      for (let l = 1; l <= ghosts; l++) {
        const back = 1 - l;
        for (let k = 0; k < 5; k++) {
          const value = w.at(c, back * dx, back * dy, back * dz)[k];
          w.at(c, l * dx, l * dy, l * dz)[k] = k === across ? -value : value;
        }
        if (isThermal) T.put(c, l * dx, l * dy, l * dz, T.at(c, back * dx, back * dy, back * dz));
      }
    },
    () => [ghosts, isThermal, dx, dy, dz, across],
    { on: face(side) },
  );
}
