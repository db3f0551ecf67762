/** Values of a point that are asked for one after the other, computed once. */
export function onceAPoint(
  start: (x: number, y: number, z: number) => readonly number[],
): (x: number, y: number, z: number, k: number) => number {
  let at = [Number.NaN, Number.NaN, Number.NaN];
  let values: readonly number[] = [];
  return (x, y, z, k) => {
    if (x !== at[0] || y !== at[1] || z !== at[2]) {
      at = [x, y, z];
      values = start(x, y, z);
    }
    return values[k];
  };
}
