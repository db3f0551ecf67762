/** Most cells whose boundaries are looked at one by one; cells of finer axes are wider by all roundings that there may be. */
const MOST_LOOKED_AT = 2 ** 16;

/** Units in the last place of the farthest end by which the computed boundaries of a cell are nearer than its width, at most. */
const ROUNDINGS = 16;

/**
 * How many cells an axis has: as many as fit, or less, so that points that are more than one cell apart are never nearer than `size`, with the roundings that kernels
 * have.
 */
export function cellBoundaries(begin: number, end: number, size: number, type: "f64" | "f32"): number {
  const round = type === "f32" ? Math.fround : (x: number): number => x;
  // A kernel may compare distances with the rounded size.
  const least = Math.max(size, round(size));
  const most = Math.max(1, Math.floor((end - begin) / least));
  // Ends and the length are rounded, too: the first and the last cell lie between the innermost ones.
  const [low, high, side] = [round(begin), round(end), round(end - begin)];
  const from = Math.max(begin, low, high - side);
  const to = Math.min(end, high, low + side);
  const fits = (cells: number): boolean => {
    const width = (end - begin) / cells;
    const rounded = round(width);
    const cellOf = (x: number): number => Math.floor(round(round(x - low) / rounded));
    let last = from;
    for (let k = 1; k <= cells; k++) {
      const start = k < cells ? firstOf(k, begin + k * width, { width, round, cellOf }) : to;
      if (start - last < least) return false;
      last = start;
    }
    return true;
  };
  if (most <= 2) return most === 2 && fits(2) ? 2 : 1;
  if (most <= MOST_LOOKED_AT) for (const cells of [most, most - 1]) if (fits(cells)) return cells;
  const unit = Math.max(Math.abs(begin), Math.abs(end)) * (type === "f32" ? 2 ** -23 : 2 ** -52);
  return Math.max(1, Math.min(most - 2, Math.floor((end - begin) / (least + ROUNDINGS * unit))));
}

interface Axis {
  readonly width: number;
  readonly round: (x: number) => number;
  readonly cellOf: (x: number) => number;
}

/** The first representable number of cell k, near `guess`: by halves, since the computed cell never falls as x rises. */
function firstOf(k: number, guess: number, { width, round, cellOf }: Axis): number {
  let [below, from] = [round(guess - width / 2), round(guess + width / 2)];
  for (;;) {
    const middle = round(below + (from - below) / 2);
    if (middle <= below || middle >= from) return from;
    if (cellOf(middle) >= k) from = middle;
    else below = middle;
  }
}
