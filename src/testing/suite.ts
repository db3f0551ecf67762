import type { Device } from "../device/device.js";
import type { Rung } from "./case.js";
import { arithmetic } from "./cases/arithmetic.js";
import { control } from "./cases/control.js";
import { graphs } from "./cases/graphs.js";
import { launches } from "./cases/launches.js";
import { levels } from "./cases/levels.js";
import { locals } from "./cases/locals.js";
import { mathematics } from "./cases/mathematics.js";
import { memory } from "./cases/memory.js";
import { partials } from "./cases/partials.js";
import { ranges } from "./cases/ranges.js";
import { reductions } from "./cases/reductions.js";
import { scatters } from "./cases/scatters.js";
import { team } from "./cases/team.js";

/**
 * The conformance ladder, from "allocates zeroed arrays" to team kernels: a backend is whatever climbs it. Expected values are computed
 * by each rung in plain JavaScript and compared bit for bit, as launches run in strict mode unless a rung says otherwise. Most rungs are there
 * twice, for f64 and for f32.
 */
export const ladder: readonly Rung[] = [
  ...memory,
  ...ranges,
  ...arithmetic,
  ...control,
  ...locals,
  ...reductions,
  ...scatters,
  ...team,
  ...mathematics,
  ...launches,
  ...partials,
  ...graphs,
  ...levels,
];

export interface RungResult {
  rung: Rung;
  /** Why the device need not climb it; such a rung is not run. */
  excuse?: string;
  /** Absent where the device passed. */
  error?: Error;
}

/** Climbs the ladder, rung by rung, and reports each; a failed rung does not end it. The device's precision is strict meanwhile. */
export async function runLadder(device: Device, rungs: readonly Rung[] = ladder): Promise<RungResult[]> {
  const { precision } = device;
  device.precision = "strict";
  const results: RungResult[] = [];
  for (const rung of rungs) results.push(await climb(device, rung));
  device.precision = precision;
  return results;
}

async function climb(device: Device, rung: Rung): Promise<RungResult> {
  const excuse = rung.excuse(device);
  if (excuse !== undefined) return { rung, excuse };
  try {
    await rung.run(device);
    return { rung };
  } catch (error) {
    return { rung, error: error as Error };
  }
}
