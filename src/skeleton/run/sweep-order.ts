/**
 * The order in which containers sweep over their cells: all from the first plane to the last, or every other one backward, so that it begins
 * with what the one before has left in the cache.
 */
export const SWEEP_ORDERS = ["forward", "alternating"] as const;
/** The order of sweeps: one of `SWEEP_ORDERS`. */
export type SweepOrder = (typeof SWEEP_ORDERS)[number];

/** True where the container of this number sweeps backward, from its last plane. */
export const sweepsBackward = (order: SweepOrder, stage: number): boolean => order === "alternating" && stage % 2 === 1;
