import type { DeviceSet } from "isoform/set";
import type { SkeletonOptions } from "isoform/skeleton";
import { DEFAULTS, Poisson, type PoissonSettings, type SolveOptions } from "../../../apps/poisson/poisson.js";

/** All that a strict run leaves. */
export async function solved(set: DeviceSet, settings: Partial<PoissonSettings>, options?: SolveOptions, planning?: SkeletonOptions) {
  const poisson = new Poisson(set, { ...DEFAULTS, precision: "strict", ...settings }, planning);
  const solution = await poisson.solve(options);
  const result = { ...solution, values: await poisson.x.download(), errors: await poisson.errors(), drift: await poisson.drift() };
  poisson.free();
  return result;
}
