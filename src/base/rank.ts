/** Axes that an array may have; a range has 1 to 4. */
export const MAX_RANK = 7;

/** True of the number of axes that an array may have. */
export const isRank = (rank: number): boolean => Number.isInteger(rank) && rank >= 1 && rank <= MAX_RANK;
