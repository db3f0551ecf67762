/*
 * Axes as copies between strided views on GPUs see them. Views of lower rank have axes of one index in front.
 */

export const COPY_AXES = [0, 1, 2, 3, 4, 5, 6] as const;
type CopyAxis = (typeof COPY_AXES)[number];
export const INNER_COPY_AXES = COPY_AXES.slice(1) as readonly Exclude<CopyAxis, 0>[];

/** Indices along all axes but the first, and strides on both sides. */
export type CopyAxisSlot = `extent${Exclude<CopyAxis, 0>}` | `${"from" | "to"}${CopyAxis}`;

export const COPY_AXIS_SLOTS: readonly CopyAxisSlot[] = [
  ...INNER_COPY_AXES.map((axis) => `extent${axis}` as const),
  ...COPY_AXES.map((axis) => `from${axis}` as const),
  ...COPY_AXES.map((axis) => `to${axis}` as const),
];

/** Value of each slot for a copy of `shape`. */
export function copyAxes(shape: readonly number[], from: readonly number[], to: readonly number[]): Readonly<Record<CopyAxisSlot, number>> {
  const missing = COPY_AXES.length - shape.length;
  const along = (values: readonly number[], axis: number, otherwise: number) => values[axis - missing] ?? otherwise;
  return Object.fromEntries([
    ...INNER_COPY_AXES.map((axis) => [`extent${axis}`, along(shape, axis, 1)]),
    ...COPY_AXES.flatMap((axis) => [
      [`from${axis}`, along(from, axis, 0)],
      [`to${axis}`, along(to, axis, 0)],
    ]),
  ]) as Record<CopyAxisSlot, number>;
}
