import type { GridReport } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import { SETTING_OPTIONS, type GridSettings, type Storage, type Tunable } from "isoform/skeleton";

/** Those settings that are given, for defaults to stand where they are not. */
export function givenSettings(options: Partial<GridSettings>): Partial<GridSettings> {
  const names = Object.keys(SETTING_OPTIONS) as (keyof GridSettings)[];
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}

/** Memory is needed for all cells; else for a byte of each, and those that are active. */
export const storesAll = ({ grid }: Pick<Storage, "grid">, { active }: { readonly active?: unknown }): boolean =>
  grid === "dense" || active === undefined;

/** How many times as large as that of f64 round-off is on devices that emulate it. */
export function roundOff({ members }: DeviceSet): number {
  return Math.max(...members.map(({ device }) => 2 ** (53 - (device.capabilities.f64Bits ?? 53))));
}

/** How an application has run, for reports. */
export function gridReport({
  settings: { grid, layout },
  skeleton: { occ, choices },
}: Tunable & { readonly settings: Storage }): GridReport {
  return { grid, layout, occ, choices };
}

/** What was left to measurement: a line each, with the times. */
export function choicesText({ choices }: Tunable["skeleton"]): string {
  return choices
    .map(({ of, best, seconds }) => {
      const times = Object.entries(seconds).map(([name, time]) => `${name} ${(1e3 * time).toPrecision(3)} ms`);
      return `${of} ${best} was the fastest: ${times.join(", ")}\n`;
    })
    .join("");
}
