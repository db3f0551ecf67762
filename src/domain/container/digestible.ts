import type { Container } from "../grid/grid.js";

/** Everything about containers in which processes must be alike: code, values, fields and grids. */
export const digestible = (containers: readonly Container[], ...others: readonly unknown[]): string =>
  JSON.stringify([containers.map(partsOf), ...others], exactly);

function partsOf({ ir, values, uses, grid: { kind, extents, periodic, ghosts, partitions } }: Container): unknown {
  const fields = uses.map(({ field: { name, type, cardinality, layout, fillValue, scale } }) => [
    name,
    type,
    cardinality,
    layout,
    fillValue,
    scale,
  ]);
  return [ir, [...values], fields, { kind, extents, periodic, ghosts, partitions }];
}

/** Numbers that JSON does not tell apart, as text. */
const exactly = (_: string, value: unknown): unknown =>
  typeof value === "bigint"
    ? `bigint ${value}`
    : typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
      ? `number ${1 / value} ${value}`
      : value;
