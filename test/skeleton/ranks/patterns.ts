import type { DeviceSet } from "../../../src/set/index.js";
import type { PlanPattern } from "../../../src/skeleton/ranks/pattern.js";
import type { SkeletonModule, SkeletonSettings } from "../../../src/skeleton/settings.js";

/** Settings of applications whose plans are looked at. */
export const SETTINGS: SkeletonSettings = { grid: "dense", layout: "soa", occ: "standard", precision: "strict", fuse: true, unroll: 1 };

/** The pattern of an application on a set, in its steady state. */
export async function patternOn(
  makeSkeleton: SkeletonModule["makeSkeleton"],
  set: DeviceSet,
  settings: SkeletonSettings,
): Promise<PlanPattern> {
  const skeleton = await makeSkeleton(set, settings);
  await skeleton.run(2);
  return skeleton.pattern();
}
