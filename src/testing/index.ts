export { suite, runSuite, type CaseResult } from "./suite.js";
export type { ConformanceCase } from "./case.js";
