export { ladder, runLadder, type RungResult } from "./suite.js";
export type { Rung } from "./case.js";
