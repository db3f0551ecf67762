import type { Container, Field } from "isoform/grid";
import type { Model } from "./model.js";
import { STATE } from "./pointwise.js";

/** Fields of density, velocity, pressure and temperature, and what finds them from the flow as it is now. */
export function primitives({ grid, real, Real, cell, fields }: Model): {
  readonly fields: readonly Field[];
  readonly container: Container;
} {
  const { w, T } = fields;
  const { stateOf } = cell;
  const [density, pressure, temperature] = ["density", "pressure", "temperature"].map((name) => grid.field(name, real));
  const velocity = grid.field("velocity", real, { cardinality: 3 });
  const container = grid.container(
    "primitives",
    { w, T, density, velocity, pressure, temperature },
    ({ w, T, density, velocity, pressure, temperature }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      density[c] = s[0];
      for (let k = 0; k < 3; k++) velocity[c][k] = s[1 + k];
      pressure[c] = s[0] * s[5];
      temperature[c] = s[5];
    },
    () => [Real, STATE, stateOf],
  );
  return { fields: [density, velocity, pressure, temperature], container };
}
