/** How far the elements of a strided array lie from its first one, in elements: `below` and `above`, both 0 or more. */
interface Reach {
  readonly below: number;
  readonly above: number;
}

/** The reach of an array that has elements; strides may be negative. */
export function reachOf(shape: readonly number[], strides: readonly number[]): Reach {
  let [below, above] = [0, 0];
  shape.forEach((extent, axis) => {
    const reach = (extent - 1) * strides[axis]!;
    if (reach < 0) below -= reach;
    else above += reach;
  });
  return { below, above };
}

/** Elements from the lowest to the highest in memory, those between its rows included; 0 for an array without elements. */
export function spanOf({ shape, strides }: { readonly shape: readonly number[]; readonly strides: readonly number[] }): number {
  if (shape.includes(0)) return 0;
  const { below, above } = reachOf(shape, strides);
  return below + 1 + above;
}
