import type { Container } from "isoform/grid";
import type { Model } from "../equations/model.js";

/** Finds the temperatures of the conserved values in `next`, of a thermally perfect gas, by Newton's method from the temperatures of `w`. */
export function temperature({ grid, cell, fields }: Model): Container {
  const { temperatureOfEnergy } = cell;
  const { next, T, nextT } = fields;
  return grid.container(
    "temperature",
    { next, T, nextT },
    ({ next, T, nextT }, c) => {
      const inverse = 1 / next[c][0];
      let square = 0;
      for (let k = 1; k < 4; k++) square += next[c][k] * next[c][k];
      nextT[c] = temperatureOfEnergy(inverse * (next[c][4] - 0.5 * inverse * square), T[c]);
    },
    () => [temperatureOfEnergy],
  );
}
