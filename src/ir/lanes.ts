/** The lanes of a reduction, a power of two of them, folded to one value: in each step the upper half into the lower. */
export function foldLanes<T>(lanes: readonly T[], combine: (a: T, b: T) => T): T {
  const half = lanes.length / 2;
  return half < 1
    ? lanes[0]!
    : foldLanes(
        lanes.slice(0, half).map((lane, k) => combine(lane, lanes[k + half]!)),
        combine,
      );
}
