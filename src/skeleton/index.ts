export { skeleton, Skeleton, type RunOptions, type RunResult, type SkeletonOptions } from "./skeleton.js";
export { every, swap, type Every, type Step, type Swap } from "./fusion/sequence.js";
export type { Choice, Trial } from "./tuning/choice.js";
export { OCC_LEVELS, type OccLevel } from "./plan/occ.js";
export {
  SETTING_OPTIONS,
  SPLIT_OPTION,
  DEFAULT_SETTINGS,
  type GridSettings,
  type Resolved,
  type SettingOption,
  type SkeletonModule,
  type SkeletonSettings,
  type SplitSetting,
  type Storage,
  type Unresolved,
} from "./settings.js";
export { SWEEP_ORDERS, type SweepOrder } from "./run/sweep-order.js";
export { fastest, tuned, type Tunable } from "./tuned.js";
