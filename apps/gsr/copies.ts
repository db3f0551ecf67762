import type { Device, LaunchOptions, View } from "isoform";
import { i32, range } from "isoform";
import type { SparseRows } from "./constraints.js";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { coefficientBytes } from "./coefficients.js";
import { narrowedRows } from "./narrow-rows.js";
import { FACTORS, FACTOR_BYTES } from "./factored.js";
import { factoredInstrument, factoredInstrumentFootprint, factoredSums } from "./factored-instrument.js";
import { factoredStars, factoredStarsFootprint } from "./factored-stars.js";
import { factoredColumns } from "./factored-part.js";
import { scaleConstraintRows } from "./kernels.js";
import type { SortedSection } from "./lists.js";
import type { KnotRows } from "./row-order.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, AXES, ROW, instrumentLayout, sections } from "./shape.js";
import { sortedAttitude, sortedAttitudeFootprint } from "./sorted-attitude.js";
import { sortedInstrument, sortedInstrumentFootprint, sortedSums } from "./sorted-instrument.js";
import { listsOfAllStars, sortedStars, sortedStarsFootprint } from "./sorted-stars.js";
import { OF_KNOT } from "./sweep.js";
import type { System } from "./system.js";
import { unknownsOfTiles } from "./system.js";
import type { Copies, LongRows, TileCopies } from "./tiles.js";
import { entriesOf, uploadLong } from "./tiles.js";

/* Data that forms of the fused kind have on devices beside the system: copies of coefficients, and constraint rows cut into pieces. All numbers of sides share it. */

/**
 * How shares of A^T u come together that are not of one star: scattered into, from a copy of their coefficients in the order of their unknowns, or, for the
 * attitude, because rows are in the order of their start knots; then the stars' part comes from a copy.
 */
export interface Sorted {
  readonly attitude: "scattered" | "copied" | "ordered";
  readonly instrument: "scattered" | "copied";
  /** Whether the sweep reads factors of rows in place of coefficients; for rows in the order of their start knots. */
  readonly factored?: boolean;
  /** Type of the coefficients that an iteration reads. Default: f64. */
  readonly coefficients?: CoefficientType;
}

/** Options of launches: over rows, and over what all members have alike, which must come out alike. */
export interface FormOptions {
  readonly rows: LaunchOptions;
  readonly alike: LaunchOptions;
}

/** Device memory of a form beside the system and the solver's vectors, for one side. */
export const fusedFootprint = (shape: Shape, sorted: Sorted): number =>
  8 * (sections(shape).unknowns + AXES * shape.knots + (sorted.attitude === "ordered" ? OF_KNOT * shape.knots : 0)) +
  copiesFootprint(shape, sorted);

/**
 * Device memory that one more side needs: vectors over rows and unknowns, and sums of lists.
 * @param rows observations and constraints
 */
export function sideFootprint(shape: Shape, rows: number, { attitude, instrument, factored }: Sorted): number {
  const { stars, observations, knots } = shape;
  const vectors = rows + 5 * sections(shape).unknowns + AXES * knots;
  const ofStars = attitude === "ordered" ? listsOfAllStars(shape) * ASTROMETRIC : 0;
  const ofKnots = attitude === "scattered" ? 0 : OF_KNOT * knots;
  const lists = factored ? factoredSums(shape) : sortedSums(shape);
  const scaled = factored ? 8 * stars + instrumentLayout(shape).size : 0;
  return 8 * (vectors + ofStars + ofKnots + (instrument === "copied" ? Math.min(lists, 3 * observations) : 0) + scaled);
}

const copiesFootprint = (shape: Shape, { attitude, instrument, factored, coefficients = "f64" }: Sorted): number =>
  (attitude === "copied" ? sortedAttitudeFootprint(shape, coefficients) : 0) +
  (attitude === "ordered"
    ? (factored ? factoredStarsFootprint(shape, coefficients) : sortedStarsFootprint(shape, coefficients)) + orderFootprint(shape)
    : 0) +
  (instrument === "copied"
    ? factored
      ? factoredInstrumentFootprint(shape, coefficients)
      : sortedInstrumentFootprint(shape, coefficients)
    : 0) +
  (coefficients === "f32" ? coefficientBytes(coefficients) * (factored ? FACTORS : ROW) * shape.observations : 0) +
  (factored ? FACTOR_BYTES * shape.observations : 0);

/** Places of rows. */
const orderFootprint = (shape: Shape): number => 8 * shape.observations + 4 * shape.knots;

/**
 * Makes a member's copies.
 * @param knotRows where rows of start knots lie in each tile, if they are in this order; freed with the copies
 */
export async function makeCopies(system: System, sorted: Sorted, options: FormOptions, knotRows?: readonly KnotRows[]): Promise<Copies> {
  const { device, scaling } = system;
  const { stars, shared } = unknownsOfTiles(system);
  const owned: { free(): void }[] = [];
  const own = <T extends { free(): void }>(one: T): T => (owned.push(one), one);
  const tiles: TileCopies[] = [];
  let star = 0;
  for (const [n, tile] of system.tiles.entries()) {
    const rows: NarrowRows = sorted.coefficients === "f32" ? await narrowedRows(tile, sorted.factored ?? false, options.rows, own) : tile;
    const p = scaling.all.slice(stars[n]);
    tiles.push({
      rows,
      attitude: sorted.attitude === "copied" ? own(await sortedAttitude(rows, options.rows)) : undefined,
      ordered: knotRows && { knotRow: own(knotRows[n]), stars: own(await starsOf(rows, star, p, sorted, options.rows)) },
      instrument: sorted.instrument === "copied" ? own(await instrumentOf(rows, system, sorted, options.rows)) : undefined,
      constraints:
        system.starConstraints.length > 0
          ? await upload(device, entriesOf(system, system.starConstraints, stars[n]), p, options.alike, own)
          : undefined,
    });
    star += rows.shape.stars;
  }
  const all = Array.from({ length: system.constraintCount }, (_, r) => r);
  const places = new Map(system.starConstraints.map((r, place) => [r, place]));
  return {
    tiles,
    constraints: await upload(device, entriesOf(system, all, shared), scaling.all.slice(shared), options.alike, own),
    columns: system.factors && own(await factoredColumns(device, system.shape, scaling, options.alike)),
    starPlace: own(device.from(i32, all.length > 0 ? all.map((r) => places.get(r) ?? -1) : [-1])),
    starRows: own(device.from(i32, places.size > 0 ? system.starConstraints : [0])),
    free: () => owned.forEach((one) => one.free()),
  };
}

function starsOf(
  rows: NarrowRows,
  firstStar: number,
  p: View<"f64">,
  { factored }: Sorted,
  options: LaunchOptions,
): Promise<SortedSection> {
  return factored ? factoredStars(rows, firstStar, p, options) : sortedStars(rows, firstStar, options);
}

function instrumentOf(rows: NarrowRows, { scaling }: System, { factored }: Sorted, options: LaunchOptions): Promise<SortedSection> {
  return factored ? factoredInstrument(rows, scaling.instrument, options) : sortedInstrument(rows, options);
}

async function upload(
  device: Device,
  rows: SparseRows,
  p: View<"f64">,
  options: LaunchOptions,
  own: (one: View) => void,
): Promise<LongRows> {
  const sparse = uploadLong(device, rows);
  Object.values(sparse).forEach(own);
  await device.run(scaleConstraintRows, { column: sparse.index, a: sparse.values, p }, range(sparse.values.length), options);
  return sparse;
}
