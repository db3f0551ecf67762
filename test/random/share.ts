/** Of so many random cases those that this run takes: half of them where ISOFORM_RANDOM_RUNS asks for few kernels, too, as `npm test` does. */
export const share = (cases: number): number => (process.env.ISOFORM_RANDOM_RUNS === undefined ? cases : Math.ceil(cases / 2));
