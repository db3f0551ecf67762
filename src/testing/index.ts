export { ladder, runLadder, type RungResult } from "./ladder.js";
export type { Rung } from "./rung.js";
