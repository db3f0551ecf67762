export {
  ITERATION,
  type ProblemOptions,
  type GridReport,
  type Sample,
  type Verdict,
  type PreparedApplication,
  type IterationLaunch,
  type HandWritten,
  type Application,
  type ApplicationForms,
  type MemberTraffic,
  type WorkDivision,
  type Progress,
  type Interruption,
  type ProgressFactory,
  type OutputFiles,
  type Shell,
} from "./application.js";
export { assess, type Evidence, published, readAssessment } from "./assessment.js";
export { type CampaignOptions, measureApplications, type Registry } from "./campaign.js";
export {
  type Cell,
  cellsOf,
  type Direction,
  DIRECTIONS,
  isTimed,
  type Run,
  type ScoredCell,
  type ScoredRun,
  type TimedCell,
  type TimedRun,
} from "./cells.js";
export { CsvTable, InputError, readCsv } from "./csv.js";
export { measurePeaks, type Peaks } from "./measure.js";
export type { Mover } from "./movers.js";
export { merge } from "./merge.js";
export * from "./metric.js";
export { type Port, PORTS } from "./ports/names.js";
export * from "./profile/index.js";
export { readRoofs, readTimings, type Timings } from "./published.js";
export type { ReadingOptions } from "./read-rows.js";
export { report } from "./report.js";
export { type Assessment, assessmentJsonSchema, assessmentSchema, SCHEMA } from "./schema.js";
export * from "./statistics.js";
export { type Table, tablesOf, tableText } from "./tables.js";
