import { bestOf, type Cell, isIteration } from "./cells.js";
import { groupBy } from "./group.js";
import { PORTS, portDevice } from "./ports/names.js";

const PREFIX = "isoform-";
/** Names of files written for other programs, which are not backends. */
const EMITTED = PORTS.map((port) => PREFIX + portDevice(port));

const isEmitted = (application: string) => EMITTED.some((name) => application === name || application.startsWith(`${name}-`));

/** Whether an application is Isoform's one source, by whichever backends, and not a file written for another program. */
export const isOwnSource = (application: string): boolean =>
  application === "isoform" || (application.startsWith(PREFIX) && !isEmitted(application));

/**
 * One source is one application, whichever backend runs it: the cells of `isoform` are the cells of its fastest backend on each
 * platform. Empty if fewer than two platforms ran a backend, since it would only repeat the fastest.
 */
export function fastestBackends(cells: readonly Cell[]): Cell[] {
  const ours = cells.filter((c) => isOwnSource(c.application));
  if (new Set(ours.map((c) => c.platform)).size < 2) return [];
  return [...groupBy(ours, (c) => JSON.stringify([c.platform, c.problem])).values()].flatMap((group) => {
    const iterations = group.filter(isIteration);
    if (iterations.length === 0) return [];
    const fastest = bestOf(iterations).application;
    return group.filter((c) => c.application === fastest).map((c) => ({ ...c, application: "isoform" }));
  });
}
