/**
 * Plasmas by geometric electromagnetic particle-in-cell methods (GEMPIC), in units of the electron's charge and mass, the plasma frequency and
 * c = 1: `Simulation.create` takes a `Problem` from one of `CASES`, or one of your own; `follow` runs it with a sample now and then.
 * @module
 */
export { Simulation, type State } from "./simulation.js";
export { DEFAULTS, type Problem, type Settings } from "./problem.js";
export { CASES, type Case, type CaseOptions } from "./cases.js";
export { meshOf, type Axis, type Mesh } from "./mesh.js";
export type { Beam, Loading, Species } from "./species.js";
export type { CompositionName } from "./compositions.js";
export type { VectorField } from "./projection.js";
export type { Distribution } from "./distribution.js";
export { tableDistribution } from "./distribution-table.js";
export { energyError, follow, seriesOfMode, type Row, type Schedule, type Watched } from "./run.js";
export { totalEnergy, type Measures } from "./diagnostics.js";
export type { Exponential, Series } from "./fits.js";
export { missOf, type Comparison, type Curve, type Judgement, type Window } from "./judgement.js";
