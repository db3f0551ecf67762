/**
 * The way of containers over their cells: all from the first plane to the last, or every other one back, so that it begins with what the one
 * before has left in the cache.
 */
export const WALKS = ["forward", "alternating"] as const;
export type WalkOrder = (typeof WALKS)[number];

/** True where the container of this number walks from its end. */
export const walksBack = (order: WalkOrder, stage: number): boolean => order === "alternating" && stage % 2 === 1;
