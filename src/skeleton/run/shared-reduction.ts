import type { Fold, FoldPart, Launch, Precision } from "../../device/device.js";
import { byLocal, spansProcesses, type Carrier, type DeviceSet } from "../../set/index.js";
import type { ComputeNode } from "../plan/nodes.js";

/** A reduction whose partials each member reads where they are, or whose totals members exchange while they fold. */
export interface SharedReduction {
  /** By node and member. */
  readonly launches: ReadonlyMap<ComputeNode, readonly (readonly Launch[])[]>;
  /** By member of this process. */
  readonly folds: readonly (readonly Launch[])[];
  /** As in `Fold`. */
  readonly allReduces: boolean;
  /** All launches above. */
  readonly all: readonly Launch[];
}

/**
 * Prepares the nodes of a container's reductions so that devices fold them without copies; all processes call it alike. In fast mode, where each member reaches
 * what all others leave, and has something to leave itself; undefined elsewhere.
 */
export function shareReduction(
  set: DeviceSet,
  nodes: readonly ComputeNode[],
  precision: Precision,
  sweepBackward: boolean,
): SharedReduction | undefined {
  const { members, locals } = set;
  const { reductions, grid } = nodes[0].container;
  if (precision !== "fast" || members.length === 1 || reductions.size === 0) return undefined;
  const carrier = spansProcesses(set) ? set.carrier : undefined;
  // Other processes do not reach what this one leaves, but for what their GPUs exchange.
  if (spansProcesses(set) ? !carrier : !locals[0].device.fold) return undefined;
  const launchesOf = ({ container, view, peerStored }: ComputeNode) =>
    byLocal(set, (_, m) => grid.prepare(container, m, view, { precision, unfolded: true, sweepBackward, peerStored }));
  const launches = new Map(nodes.map((node) => [node, launchesOf(node)]));
  const parts = locals.map(({ device, index }) => ({
    device,
    launches: [...launches.values()].flatMap((byMember) => byMember[index]),
    results: Object.fromEntries([...reductions].map(([param, scalar]) => [param, scalar.views[index]])),
  }));
  const fold = carrier ? foldAcross(carrier, parts) : locals[0].device.fold?.(parts);
  const own = parts.flatMap((part) => part.launches);
  if (!fold) {
    for (const launch of own) launch.free();
    return undefined;
  }
  const folds = byLocal(set, (member) => [fold.launches[locals.indexOf(member)]]);
  return { launches, folds, allReduces: fold.allReduces, all: [...own, ...fold.launches] };
}

/** The fold of this process's only member and of other processes'. */
function foldAcross(carrier: Carrier, [part]: readonly FoldPart[]): Fold | undefined {
  const launch = carrier.fold(part);
  return launch && { launches: [launch], allReduces: true };
}
