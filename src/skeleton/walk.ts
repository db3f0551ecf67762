import type { PrepareOptions } from "../domain/grid.js";
import { Field } from "../domain/field.js";
import type { Stages } from "./plan.js";

/**
 * The way of containers over their cells: all from the first plane to the last, or every other one back, so that it begins with what the one
 * before has left in the cache.
 */
export const WALKS = ["forward", "alternating"] as const;
export type WalkOrder = (typeof WALKS)[number];

/** How one container of a plan walks. */
export type StageWalk = Pick<PrepareOptions, "backward" | "passing">;

/** By stage. What only its own cells are read of, and the next container does not use, need not stay in the cache. */
export function walksOf({ containers, swaps }: Stages, order: WalkOrder): (stage: number) => StageWalk {
  if (order === "forward") return () => ({});
  return (stage) => {
    const last = stage === containers.length - 1;
    const following = new Set(containers[last ? 0 : stage + 1].uses.map(({ field }) => (last ? swapped(field, swaps) : field)));
    const { uses } = containers[stage];
    const around = new Set(uses.filter(({ level, offsets }) => level !== "own" || offsets.length > 0).map(({ field }) => field));
    const passing = uses.map(({ field }) => field).filter((field) => !following.has(field) && !around.has(field));
    return { backward: stage % 2 === 1, passing: new Set(passing) };
  };
}

/** The field whose memory a field of the next plan has. */
function swapped(field: Field, swaps: Stages["swaps"]): Field {
  return swaps.reduceRight<Field>((at, [a, b]) => {
    if (!(a instanceof Field) || !(b instanceof Field)) return at;
    return at === a ? b : at === b ? a : at;
  }, field);
}
