import type { KernelIR } from "../../ir/types.js";

/** How the cells of a box become members of teams. */
export interface CellTeams {
  /** Cells of a team. */
  readonly members: number;
  /** Cells along each axis but the first, in kernel order. */
  readonly extents: readonly number[];
  /** Padding of the storage, in kernel order. */
  readonly padding: readonly number[];
}

export interface OverTeams {
  readonly ir: KernelIR;
  /** Parameters: the storage index of the first plane, and the number of cells. */
  readonly plane: string;
  readonly cells: string;
}
