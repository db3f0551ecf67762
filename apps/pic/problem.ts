import type { LayoutName, Precision } from "isoform";
import type { CompositionName } from "./compositions.js";
import type { Mesh } from "./mesh.js";
import type { VectorField } from "./projection.js";
import type { Loading, Species } from "./species.js";

/** What is to be simulated: a periodic plasma at its start, in units of the electron's charge and mass, the plasma frequency and c = 1. */
export interface Problem {
  readonly mesh: Mesh;
  readonly species: readonly Species[];
  /** The magnetic field, projected as it is, or the vector potential, whose curl has no divergence at all. */
  readonly magnetic?: { readonly field: VectorField } | { readonly potential: VectorField };
}

/** Options of `Simulation.create`. */
export interface Settings {
  /** Particles of each species. */
  readonly count: number;
  readonly dt: number;
  readonly composition: CompositionName;
  readonly loading: Loading;
  /** Of the particles: `left` a column after the other, `right` a particle after the other. */
  readonly layout: LayoutName;
  readonly precision: Precision;
  /** Steps from one sort of the particles by cell to the next; 0 for never. */
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
