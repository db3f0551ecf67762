import type { Policy, ScatterStrategy } from "../launch.js";
import type { KernelIR } from "../types.js";

/** A range in tiles: along each axis the indices of a tile, and how many tiles there are. */
export interface Tiles {
  readonly tile: readonly number[];
  readonly counts: readonly number[];
  readonly total: number;
}

/**
 * The tiles that a launch on a CPU goes by. None if no tiles were asked for, or the order of the elements is set: by the chunks of a
 * reduction, or by scatters in order.
 */
export function tilesOf(ir: KernelIR, policy: Policy, strategies: readonly ScatterStrategy[]): Tiles | undefined {
  if (policy.kind !== "range" || !policy.tile || isOrdered(ir, strategies)) return undefined;
  const tile = policy.tile.map((n, axis) => Math.min(n, Math.max(1, policy.extents[axis]!)));
  const counts = tile.map((n, axis) => Math.ceil(policy.extents[axis]! / n));
  return { tile, counts, total: counts.reduce((a, b) => a * b, 1) };
}

/** Remark on requested tiles and how they were used; at most one line. */
export function tilesRemark(ir: KernelIR, policy: Policy, strategies: readonly ScatterStrategy[]): string[] {
  if (policy.kind !== "range" || !policy.tile) return [];
  const tiles = tilesOf(ir, policy, strategies);
  return [
    tiles ? `tiles: ${tiles.total} of ${tiles.tile.join(" x ")} elements` : "tiles: none, as reductions and sorted scatters set the order",
  ];
}

const isOrdered = (ir: KernelIR, strategies: readonly ScatterStrategy[]): boolean =>
  ir.params.some(({ kind }) => kind === "reduce") || strategies.includes("sorted");
