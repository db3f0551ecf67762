import { originalPosition } from "#source-map";
import { LaunchError } from "../../base/errors.js";
import { requireThing } from "../../base/own.js";
import { callSite } from "../../kernel/declare/location.js";
import { requireSet, type DeviceSet } from "../../set/device-set.js";

/** Makes a grid of the given extents on a set; errors name the author's line, where he called `callee`. */
export function atCallSite<T>(callee: Function, set: DeviceSet, extents: readonly number[], make: () => T): T {
  try {
    requireSet("it", set);
    requireThing("it", extents, Array.isArray(extents), "give its numbers of cells as [nx, ny] or [nx, ny, nz]");
    return make();
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const { file, line, column } = originalPosition(callSite(callee));
    throw new LaunchError(`grid, ${file}:${line}:${column}: ${error.message}`);
  }
}
