import type { Evidence } from "./assessment.js";
import type { Run } from "./metric.js";

/**
 * Puts the evidence of several assessments together. Where two measured the same application, platform and problem, the later one's
 * runs are numbered on after the earlier one's.
 */
export function merge(parts: readonly Evidence[]): Evidence {
  const last = new Map<string, number>();
  const runs = parts.flatMap((part) => {
    const before = new Map(last);
    return part.runs.map((run) => {
      const key = keyOf(run);
      const number = (before.get(key) ?? 0) + run.run;
      last.set(key, Math.max(last.get(key) ?? 0, number));
      return { ...run, run: number };
    });
  });
  return {
    host: parts.flatMap((part) => part.host),
    devices: parts.flatMap((part) => part.devices),
    runs,
    validation: parts.flatMap((part) => part.validation),
  };
}

function keyOf({ application, platform, problem, quantity }: Run): string {
  return JSON.stringify([application, platform, problem, quantity]);
}
