/* Kinds of cells, and their tests. Inactive cells are walls at rest. */

/** A cell of fluid. */
export const FLUID = 0;
/** A cell that holds the equilibrium of density 1 at the velocity of its neighbour of lower x. */
export const OUTLET = 1;
/** A cell that keeps the equilibrium that it began with: an undisturbed stream, which takes in waves that reach it. */
export const STREAM = 2;
/** A wall at rest, which bounces populations back: half-way between its cell and the fluid's, the velocity is 0. */
export const WALL = 3;
/** A wall that moves at the flow's `velocity` there. */
export const MOVING_WALL = 4;
/** Every kind of cell, by name. */
export const KINDS = { FLUID, OUTLET, STREAM, WALL, MOVING_WALL } as const;

export const isFluid = (kind: number): boolean => kind === 0;
export const isOutlet = (kind: number): boolean => kind === 1;
export const isWall = (kind: number): boolean => kind === 3;
export const isMoving = (kind: number): boolean => kind === 4;
export const sendsBack = (kind: number): boolean => kind >= 3;
