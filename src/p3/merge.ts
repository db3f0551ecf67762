import type { Evidence } from "./assessment.js";
import { groupBy } from "./group.js";
import type { Run } from "./metric.js";

/**
 * Puts the evidence of several assessments together. Where two measured the same application, platform, problem and quantity, the later
 * one's runs are numbered on after the earlier one's.
 */
export function merge(parts: readonly Evidence[]): Evidence {
  const last = new Map<string, number>();
  const runs = parts.flatMap((part) => {
    const offsets = new Map<string, number>();
    for (const [cell, group] of groupBy(part.runs, cellOf)) {
      const numbers = group.map((r) => r.run);
      const before = last.get(cell);
      const offset = before === undefined ? 0 : before + 1 - Math.min(...numbers);
      offsets.set(cell, offset);
      last.set(cell, Math.max(...numbers) + offset);
    }
    return part.runs.map((run) => ({ ...run, run: run.run + offsets.get(cellOf(run))! }));
  });
  return {
    host: parts.flatMap((part) => part.host),
    devices: parts.flatMap((part) => part.devices),
    runs,
    validation: parts.flatMap((part) => part.validation),
    settings: parts.flatMap((part) => part.settings ?? []),
  };
}

function cellOf({ application, platform, problem, quantity }: Run): string {
  return JSON.stringify([application, platform, problem, quantity]);
}
