/** Particles on grids. */
export { Column, deposit, type ColumnLayout, type ColumnType, type ColumnTypes, type Deposit } from "./columns.js";
export type { ParticleBody, ParticleParam, ParticleParams } from "./declare-particles.js";
export { particles, Species, type Columns, type HostColumns, type SpeciesOptions } from "./species.js";
export type { GridSpecies } from "../grid/grid.js";
export type { Particle } from "../../kernel/declare/cells.js";
