import { f64, table } from "isoform";

export const C = 6.283185307179586;
export const COUNT = 3;
export const isFast = true;
export const weights = table(f64, [0.5, 0.25, 0.125]);
