import { helper } from "isoform";
import { C, weights } from "./constants.js";

const G = 9.75;
const half = (x: number): number => 0.5 * x;
/** With a list of its own. */
export const fall = helper(
  (t: number): number => half(G * t * t) + weights[1] * C,
  () => [half, G, weights, C],
);

/* Without: who uses them lists what they use. */
export const twice = (x: number): number => 2 * x;
export const STEP = 0.5;
export const steps = (x: number): number => twice(twice(x)) + STEP;
export const cubed = (x: number): number => x * x * x;
