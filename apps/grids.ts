import type { GridReport } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import { SETTING_OPTIONS, type GridSettings, type Storage, type Tunable } from "isoform/skeleton";

/** Settings that are given; defaults take the place of the others. */
export function givenSettings(options: Partial<GridSettings>): Partial<GridSettings> {
  const names = Object.keys(SETTING_OPTIONS) as (keyof GridSettings)[];
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}

/** Whether all cells take memory; otherwise each takes a byte, and active cells the rest. */
export const storesAll = ({ grid }: Pick<Storage, "grid">, { active }: { readonly active?: unknown }): boolean =>
  grid === "dense" || active === undefined;

/** Round-off of devices that emulate f64, in round-offs of f64. */
export function roundOff({ locals }: DeviceSet): number {
  return Math.max(...locals.map(({ device }) => 2 ** (53 - (device.capabilities.f64Bits ?? 53))));
}

/** Report on how an application ran. */
export function gridReport({
  settings: { grid, layout },
  skeleton: { occ, choices },
}: Tunable & { readonly settings: Storage }): GridReport {
  return { grid, layout, occ, choices };
}

/** Describes each setting that was left to measurement, on a line with the times. */
export function choicesText({ choices }: Tunable["skeleton"]): string {
  return choices
    .map(({ of, best, seconds }) => {
      const times = Object.entries(seconds).map(([name, time]) => `${name} ${(1e3 * time).toPrecision(3)} ms`);
      return `${of} ${best} was the fastest: ${times.join(", ")}\n`;
    })
    .join("");
}
