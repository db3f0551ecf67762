import type { Grid } from "isoform/grid";
import type { Lattice } from "./lattice.js";
import { measureKernels } from "./measure-kernels.js";
import { setupKernels } from "./setup-kernels.js";
import { stencilOf, type Populations, type Real } from "./stencil.js";
import { stepKernels, type Subgrid } from "./step-kernels.js";

/** The containers of a lattice on a grid. */
export function kernelsOf(grid: Grid, lattice: Lattice, type: Real, populations: Populations, subgrid?: Subgrid) {
  const stencil = stencilOf(grid, lattice, type, populations);
  return { ...setupKernels(stencil), ...stepKernels(stencil, subgrid), ...measureKernels(stencil) };
}
