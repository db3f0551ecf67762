/**
 * Plasmas by geometric electromagnetic particle-in-cell methods (GEMPIC), in units of the electron's charge and mass, the plasma frequency and
 * c = 1: `Simulation.create` takes a `Problem` from one of `CASES`, or one of your own; `follow` runs it with a sample now and then.
 * @module
 */
export { Simulation, type State } from "./simulation/simulation.js";
export { DEFAULTS, type Problem, type Settings } from "./simulation/problem.js";
export { CASES, type Case, type CaseOptions } from "./simulation/cases.js";
export { meshOf, type Axis, type Mesh } from "./mesh/mesh.js";
export type { Beam, Loading, Species } from "./particles/species.js";
export type { CompositionName } from "./simulation/compositions.js";
export type { VectorField } from "./mesh/projection.js";
export type { Distribution } from "./particles/distribution.js";
export { tableDistribution } from "./results/distribution-table.js";
export { energyError, follow, seriesOfMode, type Row, type Schedule, type Watched } from "./simulation/run.js";
export { totalEnergy, type Measures } from "./simulation/diagnostics.js";
export type { Exponential, Series } from "./judgement/fits.js";
export { missOf, type Comparison, type Curve, type Judgement, type Window } from "./judgement/judgement.js";
