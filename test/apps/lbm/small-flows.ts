import { FLUID, MOVING_WALL, OUTLET, STREAM, WALL } from "../../../apps/lbm/kinds.js";
import { D2Q9, D3Q19, type Lattice } from "../../../apps/lbm/lattice.js";
import { wayToSphere } from "../../../apps/lbm/obstacle.js";
import type { Flow } from "../../../apps/lbm/simulation.js";

const SPEED = 0.08;

/** A stream through a small box, past a body that is off its centre: all kinds of cells beside each other. */
export function stream(lattice: Lattice): Flow {
  const extents = [21, 12, 15].slice(0, lattice.dimension);
  const [nx, ny] = extents;
  return {
    lattice,
    extents,
    active: (x, y, z) => (x - 7) ** 2 + (y - 5) ** 2 + (z && (z - 6) ** 2) >= 7,
    wallAt: (cell, e) => {
      const share = wayToSphere(cell.slice(0, lattice.dimension), e.slice(0, lattice.dimension), [7, 5, 6], Math.sqrt(7));
      return share >= 0 && share <= 1 ? share : undefined;
    },
    kind: (x, y) => {
      if (y === 0) return MOVING_WALL;
      if (x === 0 || y === ny - 1) return STREAM;
      // A block at rest, where `velocity` has a value that is not the wall's.
      if (x >= 13 && x < 15 && y >= 7 && y < 9) return WALL;
      return x === nx - 1 ? OUTLET : FLUID;
    },
    velocity: (x, y, z) => [SPEED, 0.01 * Math.sin(x + 2 * y + 3 * z), 0.01 * Math.cos(x - y)],
    viscosity: 0.03,
  };
}

/** A closed box of moving fluid around a body. */
export function box(lattice: Lattice): Flow {
  const open = stream(lattice);
  return { ...open, kind: () => FLUID };
}

export const LATTICES = [D2Q9, D3Q19];
