import { LaunchError } from "../base/errors.js";
import { devices, subDevices } from "../set/index.js";
import type { SkeletonModule, SkeletonSettings } from "./settings.js";
import type { PlanPattern } from "./ranks/pattern.js";
import { rankPlanOf, SAMPLE_SIZE, samplesFor, type RankPlan } from "./ranks/rank-plan.js";

/** Plans before the one that counts: halos are then as in all later ones, and fields that are swapped back in place. */
const PLANS_BEFORE = 2;

/**
 * Plans an application for ranks of any number, from small cubes on one device, on one member and on three or nine.
 * @param device one device, not divided
 * @throws LaunchError for what cannot be planned so: other grids than dense ones, overlap that is measured or stores in halos, particles
 */
export async function sampledPlan({ makeSkeleton }: SkeletonModule, device: string, settings: SkeletonSettings): Promise<RankPlan> {
  const { grid, layout, occ } = settings;
  const refuse = (option: string, value: string, remedy: string): never => {
    throw new LaunchError(`--${option} ${value}: plans for many ranks ${remedy}`);
  };
  if (grid !== "dense") refuse("grid", grid, "are made of dense grids only, whose work grows with the box");
  if (layout === "auto") refuse("layout", layout, "need a layout; choose soa or aos");
  if (occ === "auto" || occ === "in-kernel")
    refuse("occ", occ, "need a level of overlap by messages; choose none, standard, extended or two-way");
  if ((await subDevices(device)).length !== 1) refuse("devices", device, "are made on one device; name one, such as wasm");
  const patterns: PlanPattern[] = [];
  for (const { set, split } of samplesFor(device, settings.split))
    patterns.push(await patternOn(makeSkeleton, set, { ...settings, split, size: SAMPLE_SIZE, planes: undefined }));
  return rankPlanOf(patterns);
}

async function patternOn(makeSkeleton: SkeletonModule["makeSkeleton"], spec: string, settings: SkeletonSettings): Promise<PlanPattern> {
  const set = await devices(spec);
  try {
    const skeleton = await makeSkeleton(set, settings);
    await skeleton.run(PLANS_BEFORE * settings.unroll);
    return await skeleton.pattern();
  } finally {
    await set.close();
  }
}
