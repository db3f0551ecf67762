/** Ways to move bytes while a device's bandwidth is measured: two kernels, and the copy of its driver or of the system. */
export const MOVERS = ["copy", "triad", "driver's copy"] as const;

/** One of `MOVERS`. */
export type Mover = (typeof MOVERS)[number];
