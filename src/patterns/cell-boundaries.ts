/** Most cells whose boundaries are looked at one by one; finer axes have two cells less than fit. */
const MOST_LOOKED_AT = 2 ** 16;

/**
 * How many cells an axis has: as many as fit, or one less, so that points that are more than one cell apart are never nearer than `size`, with the roundings that kernels
 * have.
 */
export function cellBoundaries(begin: number, end: number, size: number, type: "f64" | "f32"): number {
  const round = type === "f32" ? Math.fround : (x: number): number => x;
  const most = Math.max(1, Math.floor((end - begin) / size));
  const fits = (cells: number): boolean => {
    const width = (end - begin) / cells;
    const side = round(width);
    const cellOf = (x: number): number => Math.floor(round(round(x - round(begin)) / side));
    let last = begin;
    for (let k = 1; k <= cells; k++) {
      const start = k < cells ? firstOf(k, begin + k * width, { width, round, cellOf }) : end;
      if (start - last < size) return false;
      last = start;
    }
    return true;
  };
  if (most <= 2) return most === 2 && fits(2) ? 2 : 1;
  if (most > MOST_LOOKED_AT) return most - 2;
  return fits(most) ? most : fits(most - 1) ? most - 1 : most - 2;
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
