import { prepareTogether } from "../../device/cpu/compile-aside.js";
import type { Launch } from "../../device/device.js";
import type { DeviceSet } from "../../set/index.js";
import { entry } from "../entry.js";
import type { ComputeNode } from "../plan/nodes.js";

/** Launches of nodes, by member. */
export type LaunchesOf = ReadonlyMap<ComputeNode, readonly (readonly Launch[])[]>;

/** Prepares the launches of nodes on this process's members, and lets compilers work for all of them at once. */
export function prepareNodes(
  set: DeviceSet,
  nodes: readonly ComputeNode[],
  prepare: (node: ComputeNode, member: number) => readonly Launch[],
): LaunchesOf {
  const wanted = nodes.flatMap((node) => set.locals.map(({ index }) => ({ node, index })));
  const made = prepareTogether(
    wanted.map(({ node, index }) => (): readonly Launch[] => prepare(node, index)),
    (launches) => launches.forEach((launch) => launch.free()),
  );
  const launches = new Map<ComputeNode, (readonly Launch[])[]>();
  wanted.forEach(({ node, index }, n) => (entry(launches, node, () => [])[index] = made[n]));
  return launches;
}
