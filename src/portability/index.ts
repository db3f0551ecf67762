export {
  ITERATION,
  type ProblemOptions,
  type GridReport,
  type Sample,
  type Verdict,
  type PreparedApplication,
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
export { CsvTable, InputError, readCsv } from "./csv.js";
export { measurePeaks, type Peaks } from "./measure.js";
export type { Mover } from "./movers.js";
export { merge } from "./merge.js";
export * from "./metric.js";
export { type Port, PORTS } from "./ports/names.js";
export * from "./profile/index.js";
export { readRoofs, readTimings } from "./published.js";
export { report } from "./report.js";
export { type Assessment, assessmentJsonSchema, assessmentSchema, SCHEMA } from "./schema.js";
export * from "./statistics.js";
export { type Table, tablesOf, tableText } from "./tables.js";
