import type { Device } from "../device/device.js";
import type { ConformanceCase } from "./case.js";
import { arithmetic } from "./cases/arithmetic.js";
import { checked } from "./cases/checked.js";
import { control } from "./cases/control.js";
import { atomicCases } from "./cases/atomics.js";
import { extremaCases } from "./cases/extrema.js";
import { listCases } from "./cases/lists.js";
import { graphs } from "./cases/graphs.js";
import { limits } from "./cases/limits.js";
import { launches } from "./cases/launches.js";
import { levels } from "./cases/levels.js";
import { locals } from "./cases/locals.js";
import { mathematics } from "./cases/mathematics.js";
import { memory } from "./cases/memory.js";
import { partials } from "./cases/partials.js";
import { printCases } from "./cases/prints.js";
import { ranges } from "./cases/ranges.js";
import { reductions } from "./cases/reductions.js";
import { scatters } from "./cases/scatters.js";
import { storage } from "./cases/storage.js";
import { strides } from "./cases/strides.js";
import { team } from "./cases/team.js";
import { vectors } from "./cases/vectors.js";

/**
 * The conformance suite, from "allocates zeroed arrays" to team kernels: a backend is whatever passes it. Expected values are computed
 * by each case in plain JavaScript and compared bit for bit, as launches run in strict mode unless a case says otherwise. Most cases are there
 * twice, for f64 and for f32.
 */
export const suite: readonly ConformanceCase[] = [
  ...memory,
  ...ranges,
  ...arithmetic,
  ...control,
  ...limits,
  ...locals,
  ...reductions,
  ...scatters,
  ...team,
  ...vectors,
  ...storage,
  ...strides,
  ...mathematics,
  ...launches,
  ...partials,
  ...graphs,
  ...levels,
  ...checked,
  ...printCases,
  ...extremaCases,
  ...atomicCases,
  ...listCases,
];

/** Result of a conformance case. */
export interface CaseResult {
  testCase: ConformanceCase;
  /** Why the device need not pass it; such a case is not run. */
  skipReason?: string;
  /** Undefined if the device passed. */
  error?: Error;
}

/** Runs the suite, case by case, and reports each; a failed case does not end it. The device's precision is strict meanwhile. */
export async function runSuite(device: Device, cases: readonly ConformanceCase[] = suite): Promise<CaseResult[]> {
  const { precision } = device;
  device.precision = "strict";
  const results: CaseResult[] = [];
  for (const testCase of cases) results.push(await runCase(device, testCase));
  device.precision = precision;
  return results;
}

async function runCase(device: Device, testCase: ConformanceCase): Promise<CaseResult> {
  const skipReason = testCase.skipReason(device);
  if (skipReason !== undefined) return { testCase, skipReason };
  try {
    await testCase.run(device);
    return { testCase };
  } catch (error) {
    return { testCase, error: error as Error };
  }
}
