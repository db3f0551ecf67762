/** Discrete velocities. The opposite of an odd direction is the next one. */
export interface Lattice {
  readonly name: "D2Q9" | "D3Q19";
  /** Dimensions of space. */
  readonly dimension: 2 | 3;
  /** Cells that a population moves in a step, along x, y and z; z is 0 in 2D. */
  readonly directions: readonly (readonly number[])[];
  /** Weights of the equilibrium of a fluid at rest, by direction; they add up to 1. */
  readonly weights: readonly number[];
}

/** Two dimensions, nine velocities: Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992). */
export const D2Q9 = lattice(
  "D2Q9",
  [
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [1, -1, 0],
  ],
  [4 / 9, 1 / 9, 1 / 36],
);

/** Three dimensions, nineteen velocities: the same source. */
export const D3Q19 = lattice(
  "D3Q19",
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [1, 0, -1],
    [0, 1, 1],
    [0, 1, -1],
  ],
  [1 / 3, 1 / 18, 1 / 36],
);

/**
 * @param half one of each two opposite directions
 * @param weights of directions that move along no, one and two axes
 */
function lattice(name: Lattice["name"], half: readonly (readonly number[])[], weights: readonly number[]): Lattice {
  const directions = [[0, 0, 0], ...half.flatMap((e) => [e, e.map((d) => 0 - d)])];
  const moving = (e: readonly number[]): number => e.filter((d) => d !== 0).length;
  return { name, dimension: name === "D2Q9" ? 2 : 3, directions, weights: directions.map((e) => weights[moving(e)]) };
}
