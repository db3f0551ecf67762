import { axisOf, sidesOf, type Margins, type Side } from "./ghosts.js";

/** Some of the cells of a grid, for a container to run over: see `face` and `slab`. */
export type Region =
  | { readonly kind: "face"; readonly side: Side; readonly ghosts: boolean }
  | { readonly kind: "slab"; readonly axis: "x" | "y" | "z"; readonly from: number; readonly to: number }
  | { readonly kind: "parity"; readonly of: Parity };

/** Whether the coordinates of a cell add up to an even number or an odd one. */
export type Parity = 0 | 1;

/**
 * The layer of cells next to a side of the box. Containers that run over it may write the ghosts beyond the side.
 * @param options `ghosts`: with those beyond the ends of the other axes, so that edges and corners are reached
 */
export function face(side: Side, { ghosts = false }: { ghosts?: boolean } = {}): Region {
  return { kind: "face", side, ghosts };
}

/** Cells whose coordinate along one axis is at least `from` and less than `to`; ghosts lie before 0 and after the last cell. */
export function slab(axis: "x" | "y" | "z", from: number, to: number): Region {
  return { kind: "slab", axis, from, to };
}

/**
 * Every second cell, as the squares of one colour on a chessboard: cells whose coordinates add up to an even number (0) or an odd one (1).
 * A container that runs over them may write a field in place while it reads cells of the other parity, as Gauss-Seidel does.
 */
export function parity(of: Parity): Region {
  return { kind: "parity", of };
}

/** The cells that a container runs over: a box, or every second cell of it. */
export interface CellBox {
  /** Along x, y (and z): the first coordinate, and the one after the last. */
  readonly bounds: readonly (readonly [first: number, end: number])[];
  /** All its cells lie next to this side, and beyond it may be written. */
  readonly side: Side | undefined;
  /** Only cells of this parity. */
  readonly parity?: Parity;
  /** For people. */
  readonly name: string;
}

/** Grid that a region lies in. */
interface Whole {
  readonly extents: readonly number[];
  readonly ghosts: Margins;
}

/**
 * The cells that several regions have in common.
 * @param refuse is called for a value that is not a region, or not one of this grid
 */
export function boxOf(
  on: Region | readonly Region[],
  { extents, ghosts }: Whole,
  refuse: (problem: string, remedy: string) => never,
): CellBox {
  const all = Array.isArray(on) ? (on as readonly Region[]) : [on as Region];
  const parity = parityOf(all, refuse);
  const regions = all.filter((region) => region?.kind !== "parity");
  const axes = "xyz".slice(0, extents.length);
  const whole = (axis: number): readonly [number, number] => [-ghosts[axis][0], extents[axis] + ghosts[axis][1]];
  /** The axis to which a region keeps, and its bounds there. */
  const along = (region: Region): { axis: number; bounds: readonly [number, number] } => {
    if (region?.kind === "face" && sidesOf(extents.length).includes(region.side)) {
      const { axis, outward } = axisOf(region.side);
      return { axis, bounds: outward < 0 ? [0, 1] : [extents[axis] - 1, extents[axis]] };
    }
    if (region?.kind !== "slab" || !axes.includes(region.axis))
      return refuse(
        `it runs on ${JSON.stringify(region) ?? String(region)}, which is not part of a grid of ${axes.length} dimensions`,
        'write { on: face("ymin") } or { on: slab("y", 0, 4) }',
      );
    const { axis, from, to } = region;
    const [first, end] = whole(axes.indexOf(axis));
    if (![from, to].every(Number.isInteger) || from < first || to > end || from >= to)
      return refuse(
        `it runs on ${axis} from ${from} to ${to}, and coordinates of the grid go from ${first} to ${end}`,
        "give the first coordinate and the one after the last",
      );
    return { axis: axes.indexOf(axis), bounds: [from, to] };
  };
  const kept = regions.map(along);
  const faces = regions.filter((region) => region.kind === "face");
  if (all.length === 0 || faces.length > 1)
    refuse(`it runs on ${faces.length > 1 ? "several faces" : "an empty list"}`, "give one face, or slabs, or one face and slabs");
  const withGhosts = faces.some((region) => region.ghosts);
  const bounds = extents.map((extent, axis) => {
    const own = kept.filter((each) => each.axis === axis);
    if (own.length === 0) return withGhosts ? whole(axis) : ([0, extent] as const);
    const [first, end] = [Math.max(...own.map((each) => each.bounds[0])), Math.min(...own.map((each) => each.bounds[1]))];
    if (first >= end) refuse("it runs on regions that have no cell in common", "give regions that meet");
    return [first, end] as const;
  });
  return { bounds, side: faces[0]?.side, ...(parity !== undefined && { parity }), name: all.map(nameOf).join(", ") };
}

/** The parity to which regions keep; undefined if they hold cells of both. */
function parityOf(regions: readonly Region[], refuse: (problem: string, remedy: string) => never): Parity | undefined {
  const parities = new Set(regions.flatMap((region) => (region?.kind === "parity" ? [region.of] : [])));
  for (const of of parities)
    if (of !== 0 && of !== 1)
      refuse(`it runs on the parity ${String(of)}`, "write { on: parity(0) } for even cells, parity(1) for odd ones");
  if (parities.size > 1) refuse("it runs on regions that have no cell in common", "give one parity, or write a container for each");
  return [...parities][0];
}

function nameOf(region: Region): string {
  switch (region.kind) {
    case "face":
      return region.side;
    case "slab":
      return `${region.axis} ${region.from} to ${region.to}`;
    case "parity":
      return region.of === 0 ? "even cells" : "odd cells";
    default:
      return region satisfies never;
  }
}

/** True where it has ghosts. */
export const hasGhosts = ({ bounds }: CellBox, { extents }: Pick<Whole, "extents">): boolean =>
  bounds.some(([first, end], axis) => first < 0 || end > extents[axis]);

/** The position in a box of the cell at a position in the whole of a grid, both in (z, y, x) order; undefined for one outside. */
export function positionIn({ bounds }: CellBox, extents: readonly number[], position: number): number | undefined {
  let [rest, inBox, stride] = [position, 0, 1];
  for (const [axis, [first, end]] of bounds.entries()) {
    const n = rest % extents[axis];
    if (n < first || n >= end) return undefined;
    inBox += (n - first) * stride;
    [rest, stride] = [Math.floor(rest / extents[axis]), stride * (end - first)];
  }
  return inBox;
}
