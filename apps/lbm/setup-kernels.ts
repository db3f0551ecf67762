import { table } from "isoform";
import type { Container } from "isoform/grid";
import { isFluid, isMoving, isOutlet, sendsBack } from "./kinds.js";
import { dot, moments, take, type Macroscopic, type Stencil } from "./stencil.js";

/** Containers that begin a flow, and that hold its outlet. */
export function setupKernels({ grid, type, populations, hasOnePopulation, Real, e, w, opposite, origin, left }: Stencil) {
  const captured = () => [Real, e, w, opposite, origin, left, moments, take, dot, isFluid, isOutlet, isMoving, sendsBack];
  return {
    /**
     * Gives cells the equilibrium of their `density` and `velocity`, which is 0 in walls at rest (density 1, velocity 0), and moving walls what
     * they add: 6 w_q (e_q . u), Ladd, J. Fluid Mech. 271 (1994). With one population, walls begin empty: their cells hold what is on its way back.
     */
    initialise({ density, velocity }: Macroscopic): Container {
      const added = table(type, [hasOnePopulation ? 0 : 6]);
      return grid.container(
        "initialise",
        { density, velocity, added, ...populations },
        ({ density, velocity, added, f, g, kind }, c) => {
          const u = new Real(3);
          take(velocity, c, u);
          const square = 1.5 * dot(u, u);
          const deviation = density[c] - 1;
          for (let q = 0; q < w.length; q++) {
            const along = dot(e[q], u);
            const fluid = deviation + (1 + deviation) * (3 * along + 4.5 * along * along - square);
            f[c][q] = w[q] * (isMoving(kind[c]) ? added[0] * along : fluid);
            g[c][q] = f[c][q];
          }
        },
        captured,
      );
    },

    /**
     * Notes which populations of each cell of fluid come back from walls, and in which directions moving walls have fluid beside them, so
     * that steps look at no neighbour's kind.
     */
    connect(): Container {
      return grid.container(
        "connect",
        { ...populations },
        ({ kind, links }, c) => {
          let found = isFluid(kind[c]) ? 0 : 1;
          for (let q = 1; q < w.length; q++) {
            const returns = isFluid(kind[c]) && sendsBack(origin(kind, c, e[q]));
            const pushes = isMoving(kind[c]) && isFluid(origin(kind, c, e[opposite[q]]));
            if (returns || pushes) found |= 1 << q;
          }
          links[c] = found;
        },
        captured,
      );
    },

    /** Gives outlet cells the equilibrium of density 1 and their neighbour's velocity. */
    outlet(): Container {
      return grid.container(
        "outlet",
        { ...populations },
        ({ f, g, kind }, c) => {
          if (!isOutlet(kind[c])) return;
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = left(f, c)[q];
          const u = new Real(3);
          moments(own, u, e);
          const square = 1.5 * dot(u, u);
          for (let q = 0; q < w.length; q++) {
            const along = dot(e[q], u);
            g[c][q] = w[q] * (3 * along + 4.5 * along * along - square);
          }
        },
        captured,
      );
    },
  };
}
