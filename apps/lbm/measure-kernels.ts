import { max, sum } from "isoform";
import type { Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import { returned } from "./curved-walls.js";
import { isFluid, isWall, sendsBack } from "./kinds.js";
import { moments, type Macroscopic, type RealField, type Stencil } from "./stencil.js";

/** Containers that measure a flow. */
export function measureKernels({ grid, populations, Real, e, w, opposite, origin, sent }: Stencil) {
  const captured = () => [Real, e, w, opposite, origin, sent, moments, isFluid, isWall, sendsBack];
  return {
    /** Density and velocity of the fluid, its mass beyond density 1, and the most by which a component of the velocity has changed. */
    macroscopic({ density, velocity }: Macroscopic, mass: Scalar<"f64">, change: Scalar<"f64">): Container {
      const params = { density, velocity, mass: sum(mass), change: max(change), ...populations };
      return grid.container(
        "macroscopic",
        params,
        ({ density, velocity, mass, change, f, kind }, c) => {
          if (!isFluid(kind[c])) return;
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          const u = new Real(3);
          const deviation = moments(own, u, e);
          mass.add(deviation);
          density[c] = 1 + deviation;
          for (let axis = 0; axis < velocity[c].length; axis++) {
            change.max(Math.abs(u[axis] - velocity[c][axis]));
            velocity[c][axis] = u[axis];
          }
        },
        captured,
      );
    },

    /** Adds up what is on its way back from walls, which wait one step in the walls' cells where there is one population. */
    returning(mass: Scalar<"f64">): Container {
      return grid.container(
        "mass on its way back from walls",
        { mass: sum(mass), ...populations },
        ({ mass, f, kind }, c) => {
          if (!sendsBack(kind[c])) return;
          let total = f[c][0];
          for (let q = 1; q < w.length; q++) total += f[c][q];
          mass.add(total);
        },
        captured,
      );
    },

    /**
     * The force on walls at rest along x and y, by the momentum that populations exchange (Ladd): of the next step, and with one population of the
     * last.
     */
    force(alongX: Scalar<"f64">, alongY: Scalar<"f64">): Container {
      return grid.container(
        "force",
        { x: sum(alongX), y: sum(alongY), ...populations },
        ({ x, y, f, kind }, c) => {
          if (!isFluid(kind[c])) return;
          for (let q = 1; q < w.length; q++) {
            const twice = isWall(origin(kind, c, e[q])) ? 2 * sent(f, c, e[q], opposite[q]) : 0;
            x.add(-e[q][0] * twice);
            y.add(-e[q][1] * twice);
          }
        },
        captured,
      );
    },

    /** The same of the interpolated step: what is sent to the wall and what comes back differ (Mei, Yu, Shyy and Luo, Phys. Rev. E 65, 2002). */
    interpolatedForce(alongX: Scalar<"f64">, alongY: Scalar<"f64">, shares: RealField): Container {
      const listed = () => [w, e, opposite, origin, isFluid, isWall, returned];
      return grid.container(
        "force on curved walls",
        { x: sum(alongX), y: sum(alongY), ...populations, shares },
        ({ x, y, f, kind, shares }, c) => {
          if (!isFluid(kind[c])) return;
          for (let q = 1; q < w.length; q++) {
            const sent = f[c][opposite[q]];
            const back = returned(shares[c][q], sent, origin(f, c, e[opposite[q]])[opposite[q]], f[c][q]);
            const both = isWall(origin(kind, c, e[q])) ? sent + back : 0;
            x.add(-e[q][0] * both);
            y.add(-e[q][1] * both);
          }
        },
        listed,
      );
    },
  };
}
