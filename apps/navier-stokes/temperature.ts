import type { Container } from "isoform/grid";
import type { Model } from "./model.js";

/** Brings the temperatures of a thermally perfect gas up to date with conserved values, by Newton's method from the last ones. */
export function temperature({ grid, cell, fields }: Model, w = fields.w): Container {
  const { temperatureOfEnergy } = cell;
  const { T } = fields;
  return grid.container(
    "temperature",
    { w, T },
    ({ w, T }, c) => {
      const inverse = 1 / w[c][0];
      let square = 0;
      for (let k = 1; k < 4; k++) square += w[c][k] * w[c][k];
      T[c] = temperatureOfEnergy(inverse * (w[c][4] - 0.5 * inverse * square), T[c]);
    },
    () => [temperatureOfEnergy],
  );
}
