import type { LayoutName, Precision } from "isoform";
import type { CompositionName } from "./compositions.js";
import type { Mesh } from "../mesh/mesh.js";
import type { VectorField } from "../mesh/projection.js";
import type { Loading, Species } from "../particles/species.js";

/** Problem to be simulated: a periodic plasma at its start, in units of the electron's charge and mass, the plasma frequency and c = 1. */
export interface Problem {
  /** From `meshOf`. */
  readonly mesh: Mesh;
  readonly species: readonly Species[];
  /** At the start: the magnetic field, projected as it is, or the vector potential, whose curl is free of divergence to round-off. */
  readonly magnetic?: { readonly field: VectorField } | { readonly potential: VectorField };
}

/** Options of `Simulation.create`; `DEFAULTS` has a value for each but `count` and `dt`. */
export interface Settings {
  /** Particles of each species. */
  readonly count: number;
  /** The time step, in inverse plasma frequencies. */
  readonly dt: number;
  /** How the time step is split: `lie` is of first order, `strang` and `4-lie` of second, `3-strang` and `10-lie` of fourth. */
  readonly composition: CompositionName;
  /** How particles are placed: by Sobol's sequence (`sobol`), or in mirrored groups (`symmetric`). */
  readonly loading: Loading;
  /** Layout of the particles: `left` a column after the other, `right` a particle after the other. */
  readonly layout: LayoutName;
  /** `strict`: the same bits on every device. */
  readonly precision: Precision;
  /** Steps from one sort of the particles by cell to the next, in three dimensions; 0 for never. */
  readonly sort: number;
}

/** The defaults of `Settings`. */
export const DEFAULTS = {
  composition: "strang",
  loading: "sobol",
  layout: "left",
  precision: "fast",
  sort: 0,
} as const satisfies Partial<Settings>;
