import { GRID_KINDS, type GridKind } from "../domain/grid/options.js";
import type { Trial } from "./tuning/choice.js";
import type { GridSettings, Resolved } from "./settings.js";
import type { Tunable } from "./fastest-storage.js";

export type { Tunable } from "./fastest-storage.js";

/**
 * The name of the fastest of several ways to do the same work: kinds of grids, layouts, sets of devices. Each is made, measured and
 * freed, one after the other; one that is refused, or for which memory does not suffice, does not count. What was found for the same `key`
 * before is taken over, so the key must tell the problem, its size and the devices.
 * @throws DeviceError or LaunchError where there is no way that can run
 */
export async function fastest<K extends string>(
  key: readonly string[],
  ways: Readonly<Record<K, () => Trial | Promise<Trial>>>,
): Promise<K> {
  const { fastestWay } = await import("./tuning/auto.js");
  return (await fastestWay(key, ways)).best;
}

/**
 * Makes an application with the kind of grid and the layout that its settings ask for. Where they leave one to measurement, each
 * candidate is made, iterated and freed, and the fastest is made anew; what was found for the same sequence, extents, active cells
 * and devices before is taken over. A candidate that cannot be made does not count. `explain` of the skeleton tells what was found.
 * @param kinds grids that the application can do with. Default: all
 * @throws what the first candidate has thrown, where none can be made
 */
export async function tuned<A extends Tunable, S extends GridSettings>(
  settings: S,
  make: (settings: Resolved<S>) => A | Promise<A>,
  kinds: readonly GridKind[] = GRID_KINDS,
): Promise<A> {
  const { grid, layout } = settings;
  if (grid !== "auto" && layout !== "auto") return make({ ...settings, grid, layout });
  const { withFastestStorage } = await import("./fastest-storage.js");
  return withFastestStorage(settings, make, kinds);
}
