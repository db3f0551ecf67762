import type { Precision } from "../device/device.js";
import type { FieldLayout } from "../domain/field.js";
import type { Grid } from "../domain/grid.js";
import type { DeviceSet } from "../set/index.js";
import type { OccLevel } from "./occ.js";
import type { Skeleton } from "./skeleton.js";

/** How a sequence is stored, spread and run; each is an option of the command line. */
export interface SkeletonSettings {
  readonly grid: Grid["kind"];
  readonly layout: FieldLayout;
  readonly occ: OccLevel | "auto";
  readonly fuse: boolean;
  readonly unroll: number;
  readonly precision: Precision;
  /** Cells along each axis; the application's default where absent. */
  readonly size?: number;
}

/** What an application exports so that `isoform explain` can show its plan. */
export interface SkeletonModule {
  /** The sequence of one iteration, its fields filled, ready to run. */
  makeSkeleton(set: DeviceSet, settings: SkeletonSettings): Skeleton | Promise<Skeleton>;
}
