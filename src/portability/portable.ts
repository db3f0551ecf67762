import { ITERATION } from "./application.js";
import { groupBy } from "./group.js";
import type { Cell } from "./metric.js";
import { PORTS, portDevice } from "./ports/names.js";

const PREFIX = "isoform-";
/** Names of files written for other programs, which are not backends. */
const EMITTED = PORTS.map((port) => PREFIX + portDevice(port));

/**
 * One source is one application, whichever backend runs it: the cells of `isoform` are the cells of its fastest backend on each
 * platform. Empty if fewer than two platforms ran a backend, since it would only repeat the fastest.
 */
export function fastestBackends(cells: readonly Cell[]): Cell[] {
  const emitted = (application: string) => EMITTED.some((name) => application === name || application.startsWith(`${name}-`));
  const ours = cells.filter((c) => c.application.startsWith(PREFIX) && !emitted(c.application));
  if (new Set(ours.map((c) => c.platform)).size < 2) return [];
  return [...groupBy(ours, (c) => JSON.stringify([c.platform, c.problem])).values()].flatMap((group) => {
    const iterations = group.filter((c) => c.quantity === ITERATION);
    if (iterations.length === 0) return [];
    const fastest = iterations.reduce((a, b) => (b.seconds.value < a.seconds.value ? b : a)).application;
    return group.filter((c) => c.application === fastest).map((c) => ({ ...c, application: "isoform" }));
  });
}
