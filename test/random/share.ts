/** Whether somebody waits for the result, as with `npm test`: fewer cases run then. Whole runs, as CI has, take all. */
export const isQuick = process.env.ISOFORM_RANDOM_RUNS !== undefined;

/** How many of these random cases this run takes: all, or a quarter if it is quick. */
export const share = (cases: number): number => (isQuick ? Math.ceil(cases / 4) : cases);

/** The cases of a list that this run takes: all, or each fourth if it is quick. */
export const sample = <T>(cases: readonly T[]): readonly T[] => (isQuick ? cases.filter((_, n) => n % 4 === 0) : cases);
