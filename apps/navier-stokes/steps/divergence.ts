import { helper } from "isoform";
import type { Cell, Container } from "isoform/grid";
import type { Model } from "../equations/model.js";
import type { Conserved, Temperatures, Values } from "../equations/pointwise.js";
import { differences } from "../equations/viscous.js";

/**
 * A third of the divergence of the velocity, and with the sensor how shock-like the flow is (Ducros et al., J. Comput. Phys. 152, 1999):
 * max(-div / sqrt(omega^2 + div^2 + (u0/l0)^2), 0)^2.
 */
export function divergence({ grid, real, Real, axes, cell, scheme, reference, fields, along }: Model, withSensor: boolean): Container {
  const { w, T, third, sensor } = fields;
  const { addGradient } = differences(scheme.viscous, scheme.order, cell, real);
  const [x, y, z] = along(scheme.viscous === "expanded" ? "slope" : "span");
  const least = (reference.speed / reference.length) ** 2;
  const gradientOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, x: number, y: number, z: number, gradient: Values): void => {
      addGradient(w, T, c, 0, 1, 0, 0, x, gradient);
      if (axes > 1) addGradient(w, T, c, 1, 0, 1, 0, y, gradient);
      if (axes > 2) addGradient(w, T, c, 2, 0, 0, 1, z, gradient);
    },
    () => [axes, addGradient],
  );
  if (!withSensor)
    return grid.container(
      "divergence",
      { w, T, third, x, y, z },
      ({ w, T, third, x, y, z }, c) => {
        const g = new Real(9);
        gradientOf(w, T, c, x[c], y[c], z[c], g);
        third[c] = (g[0] + g[4] + g[8]) / 3;
      },
      () => [Real, gradientOf],
    );
  return grid.container(
    "divergence and sensor",
    { w, T, third, sensor, x, y, z },
    ({ w, T, third, sensor, x, y, z }, c) => {
      const g = new Real(9);
      gradientOf(w, T, c, x[c], y[c], z[c], g);
      const div = g[0] + g[4] + g[8];
      third[c] = div / 3;
      const [a, b, d] = [g[5] - g[7], g[6] - g[2], g[1] - g[3]];
      const compression = Math.max(-div / Math.sqrt(a * a + b * b + d * d + div * div + least), 0);
      sensor[c] = compression * compression;
    },
    () => [Real, gradientOf, least],
  );
}
