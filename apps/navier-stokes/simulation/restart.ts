import { IsoformError } from "isoform";
import type { Checkpoint } from "isoform/io";
import { camelCase, configOf, snakeCase } from "../config/config.js";
import { isLayer, KEYS, type CaseName, type Config, type Given } from "../config/config-keys.js";
import type { Simulation } from "./simulation.js";

/*
 * How a run goes on from a checkpoint.
 */

/** Tells checkpoints of this solver from others. */
export const FORMAT = "isoform navier-stokes 1";

/** Brings a simulation to where a checkpoint was written; statistics that it has none of begin anew. */
export async function restore(simulation: Simulation, saved: Checkpoint): Promise<void> {
  const { config } = saved.metadata as { config: Partial<Config> };
  await saved.restore(simulation.checkpointed({ statistics: (config.statsEvery ?? 0) > 0, spectra: (config.spectraEvery ?? 0) > 0 }));
  const { step } = simulation.flow;
  if ("dt" in step) simulation.dt.set(step.dt);
}

/** Sampled quantities, with the key that says how often. */
const SAMPLED = [
  ["statsEvery", "statistics"],
  ["spectraEvery", "spectra"],
] as const;

/** Keys that a run may change when it goes on. */
const FREE: readonly string[] = KEYS.filter(({ free }) => free).map(({ name }) => camelCase(name));

/** The configuration of a checkpoint, with another end. Throws IsoformError if other keys are asked for. */
export function restarted(name: CaseName, given: Given, metadata: unknown, file: string): Config {
  const config = (metadata as { config?: Config } | null)?.config;
  if (typeof config !== "object" || config === null) throw new IsoformError(`${file} lacks its configuration: start anew`);
  if (config.case !== name)
    throw new IsoformError(`${file} is of the case ${String(config.case)}: run isoform navier-stokes ${String(config.case)}`);
  const { case: _, ...values } = config;
  const there: Readonly<Record<string, unknown>> = values;
  const differing = Object.entries(given).find(([key, value]) => !FREE.includes(key) && there[key] !== value);
  if (differing) {
    const [key, value] = differing;
    throw new IsoformError(
      `${file} was made with ${snakeCase(key)} ${String(there[key])}, and ${String(value)} is asked for: leave it out, or start anew`,
    );
  }
  for (const [key, what] of SAMPLED)
    if ((config[key] ?? 0) > 0 && given[key] === 0)
      throw new IsoformError(`${file} has ${what} of each ${config[key]} steps: leave out ${snakeCase(key)}, or give one above 0`);
  const { cfl, ...others } = values;
  const [timed, other] = config.dt === undefined ? (["cfl", "dt"] as const) : (["dt", "cfl"] as const);
  if (given[other] !== undefined)
    throw new IsoformError(`${file} was made with ${timed} ${String(there[timed])}: give another ${timed} in place of ${other}`);
  return configOf(name, {
    ...others,
    ...(config.dt === undefined ? { cfl } : {}),
    ...given,
    ...(isLayer(config.case) ? withoutRe(config) : {}),
  });
}

/** The Reynolds number of turbulent layers follows. */
const withoutRe = ({ inflow, re }: Config): Given => (inflow === "laminar" ? { re } : { re: undefined });
