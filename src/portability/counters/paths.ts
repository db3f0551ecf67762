import { LaunchError } from "../../base/errors.js";
import type { ProgressFactory } from "../application.js";
import type { CodePath } from "../code-paths.js";
import { portDevice } from "../ports/names.js";
import type { KernelCounters } from "../schema.js";
import { contestantOf } from "../trials.js";
import { measureCounters, type CountersTools } from "./measure.js";
import { findNcu } from "./ncu.js";

/** Backends whose kernels ncu sees. */
const COUNTED: readonly string[] = ["cuda", portDevice("cuda")];

/**
 * Hardware counters of each code path on one of NVIDIA's GPUs, each counted in a process of its own, before this one has data in memory.
 * @throws LaunchError where there is no such code path, IsoformError where ncu may not count
 */
export async function countersOfPaths(
  paths: readonly CodePath[],
  tools: Omit<CountersTools, "ncu">,
  progress: ProgressFactory,
): Promise<KernelCounters[]> {
  const counted = paths.filter(({ target: { set, devices } }) => set.members.length === 1 && COUNTED.includes(devices[0].backend));
  if (counted.length === 0) {
    const names = [...new Set(paths.map(({ target }) => target.name))].join(", ");
    throw new LaunchError(
      `--counters reads hardware counters of NVIDIA's GPUs, and ${names} ${names.includes(",") ? "are" : "is"} not one: add cuda:0 to --devices, or leave the option out`,
    );
  }
  const ncu = findNcu();
  const found: KernelCounters[] = [];
  const task = progress("counters");
  try {
    for (const [n, path] of counted.entries()) {
      const { application, target, problem } = path;
      task.update(n, counted.length, `${application.name} on ${target.name}`);
      const part = { application: application.name, devices: target.name, problem };
      const key = { application: contestantOf(path).codePath, platform: target.platform };
      found.push(...(await measureCounters(part, { ...tools, ncu })).map((one) => ({ ...key, ...one })));
    }
  } finally {
    task.done();
  }
  return found;
}
