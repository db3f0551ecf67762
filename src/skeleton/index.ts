export { skeleton, Skeleton, type RunOptions, type RunResult, type SkeletonOptions } from "./skeleton.js";
export { swap, type Step, type Swap } from "./sequence.js";
export { fastest, type Trial } from "./auto.js";
export { OCC_LEVELS, type OccLevel } from "./occ.js";
export type { SkeletonModule, SkeletonSettings } from "./application.js";
