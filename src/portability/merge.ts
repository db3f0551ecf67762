import type { Evidence } from "./assessment.js";
import type { Coverage } from "./divergence.js";
import { groupBy } from "./group.js";
import { oneNameEach } from "./machine.js";
import type { Run } from "./cells.js";

/**
 * Puts the evidence of several assessments together. Where two measured the same application, platform, problem and quantity, the later
 * one's runs are numbered on after the earlier one's. Platforms have one name each.
 */
export function merge(given: readonly Evidence[]): Evidence {
  const nameOf = oneNameEach(given.flatMap(({ devices, runs }) => [...devices, ...runs].map(({ platform }) => platform)));
  const named = <T extends { platform: string }>(list: readonly T[] = []): T[] =>
    list.map((item) => ({ ...item, platform: nameOf(item.platform) }));
  const parts = given.map((part) => ({
    host: part.host,
    devices: named(part.devices),
    runs: named(part.runs),
    validation: named(part.validation),
    settings: named(part.settings),
    builds: named(part.builds),
    resources: named(part.resources),
    counters: named(part.counters),
    missing: named(part.missing),
    coverage: named(part.coverage),
  }));
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
    settings: parts.flatMap((part) => part.settings),
    builds: parts.flatMap((part) => part.builds),
    resources: parts.flatMap((part) => part.resources),
    counters: parts.flatMap((part) => part.counters),
    missing: parts.flatMap((part) => part.missing),
    coverage: coverageOf(parts.flatMap((part) => part.coverage)),
  };
}

function cellOf({ application, platform, problem, quantity }: Run): string {
  return JSON.stringify([application, platform, problem, quantity]);
}

/** One coverage for each application, platform and problem. Where two differ it is unknown. */
function coverageOf(all: readonly Coverage[]): Coverage[] {
  const groups = groupBy(all, ({ application, platform, problem }) => JSON.stringify([application, platform, problem]));
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.every(({ files }) => JSON.stringify(files) === JSON.stringify(first.files)) ? [first] : [],
  );
}
