const ROUNDS = 9;
/** Seconds of a round: clocks of browsers are coarse. */
const ROUND_SECONDS = 0.02;
const MOST = 1000;

/** Elements of an array that are shown. */
export const SHOWN = 6;

/** The median of what one of `count` turns takes, in seconds; `repeat` resolves when the device is done with them. */
export async function secondsOf(repeat: (count: number) => Promise<void>): Promise<number> {
  const time = async (count: number): Promise<number> => {
    const start = performance.now();
    await repeat(count);
    return (performance.now() - start) / 1000 / count;
  };
  const count = Math.ceil(ROUND_SECONDS / Math.max(1e-6, await time(1)));
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await time(Math.min(count, MOST)));
  return times.toSorted((a, b) => a - b)[ROUNDS >> 1];
}

/** Numbers between 0 and 1, evenly spread; of whole numbers, those from 0 to 6. */
export const numbers = (length: number, whole: boolean): Float64Array =>
  Float64Array.from({ length }, (_, n) => (whole ? n % 7 : (n * 0.6180339887) % 1));
