import { LaunchError } from "../../base/errors.js";

/** An end of an axis of the box. */
export type Side = `${"x" | "y" | "z"}${"min" | "max"}`;

/** Layers of ghosts: on all sides that are not periodic, or by side. */
export type Ghosts = number | Partial<Readonly<Record<Side, number>>>;

/** Layers of cells beside the box, before its first cell and after its last one, along x, y (and z). */
export type Margins = readonly (readonly [before: number, behind: number])[];

/** The axis of a side, 0 for x, and the direction in which it lies. */
export function axisOf(side: Side): { axis: number; outward: -1 | 1 } {
  return { axis: "xyz".indexOf(side[0]), outward: side.endsWith("max") ? 1 : -1 };
}

/** The sides of a box of `axes` axes. */
export const sidesOf = (axes: number): Side[] => [..."xyz"].slice(0, axes).flatMap((axis) => [`${axis}min` as Side, `${axis}max` as Side]);

/**
 * Layers of ghosts by axis and end.
 * @throws LaunchError for an unknown side, an invalid number of layers, or a side of a periodic axis
 */
export function ghostsOf(extents: readonly number[], periodic: readonly boolean[], ghosts: Ghosts = 0): Margins {
  const refuse = (problem: string): never => {
    throw new LaunchError(`a grid of [${extents}] cells with { ghosts: ${JSON.stringify(ghosts)} }: ${problem}`);
  };
  const sides = sidesOf(extents.length);
  const bySide = new Map<string, number>(typeof ghosts === "object" ? Object.entries(ghosts ?? {}) : []);
  for (const [side, layers] of [...bySide, ["", typeof ghosts === "number" ? ghosts : 0] as const]) {
    if (side !== "" && !sides.includes(side as Side)) refuse(`"${side}" is not a side of it; use ${sides.join(", ")}`);
    if (!Number.isInteger(layers) || layers < 0) refuse("give a whole number of layers, 0 or more");
    if (layers > 0 && side !== "" && periodic[axisOf(side as Side).axis])
      refuse(`${side[0]} is periodic, so the cells at the other end lie beyond ${side}; leave it out`);
  }
  const layersAt = (axis: number, side: Side): number =>
    typeof ghosts === "number" ? (periodic[axis] ? 0 : ghosts) : (bySide.get(side) ?? 0);
  return extents.map((_, axis) => [layersAt(axis, sides[2 * axis]), layersAt(axis, sides[2 * axis + 1])] as const);
}

/** True where there is any layer. */
export const isAny = (margins: Margins): boolean => margins.flat().some((layers) => layers > 0);

/** No layers at any end of `axes` axes. */
export const noMargins = (axes: number): Margins => Array<readonly [number, number]>(axes).fill([0, 0]);
