import type { LaunchOptions, Precision, View } from "isoform";
import { LaunchError, f32, f64, helper, kernel, range, view } from "isoform";
import { bySides } from "./sides.js";
import type { StarRows } from "./system.js";

/*
 * Coefficients as sweeps and copies read them: in f64, or rounded to f32, half the bytes. Vectors and sums are f64 either way; what rounding has moved in the
 * solution is corrected with the coefficients in f64, which stay on the device (refinement.ts).
 */

/** Types of coefficients. */
export const COEFFICIENTS = ["f64", "f32"] as const;
/** Type that coefficients of observations have in an iteration. */
export type CoefficientType = (typeof COEFFICIENTS)[number];

/** Types by name, for kernels. */
export const REALS = { f32, f64 };

/** The coefficients of a row's three sections; the global unknown's are f64 always. */
export interface Coefficients {
  /** [row][5] */
  readonly astrometric: View<CoefficientType>;
  /** [row][12] */
  readonly attitude: View<CoefficientType>;
  /** [row][6] */
  readonly instrument: View<CoefficientType>;
}

/** Numbers of each row that stand for its coefficients (factored.ts). */
export interface RowFactors {
  readonly sight: View<CoefficientType>;
  readonly turns: View<CoefficientType>;
  readonly weight: View<CoefficientType>;
}

/** Rows with coefficients, or factors of them, in f32 beside those in f64, for kernels of an iteration. */
export interface NarrowRows extends StarRows {
  readonly narrow?: Coefficients;
  readonly narrowFactors?: RowFactors;
}

/** The coefficients of rows for an iteration. */
export const coefficientsOf = (rows: NarrowRows): Coefficients => rows.narrow ?? rows;

/** The factors of rows for an iteration. */
export const factorsOf = (rows: NarrowRows): RowFactors => rows.narrowFactors ?? rows.factors!;

/** A kernel made once for each type of coefficients and number of sides; it reads coefficients of the type that it gets. */
export function byCoefficients<T>(
  make: (real: (typeof REALS)[CoefficientType], sides: number) => T,
): (type: CoefficientType, sides: number) => T {
  const made = {
    f32: bySides((sides) => make(REALS.f32, sides)),
    f64: bySides((sides) => make(REALS.f64, sides)),
  };
  return (type, sides) => made[type](sides);
}

/** Rounds a number that a copy stores to the copy's type. */
export const ROUND = { f32: helper((x: number): number => Math.fround(x)), f64: helper((x: number): number => x) };

const narrowColumns = kernel("narrowColumns", { from: view(f64, 2), to: view(f32, 2) }, ({ from, to }, i, k) => {
  to[i][k] = Math.fround(from[i][k]);
});

/** The rows with f32 beside f64, in the same layout; `own` keeps what has to be freed. */
export async function narrowed(rows: StarRows, factored: boolean, options: LaunchOptions, own: (one: View) => void): Promise<NarrowRows> {
  const { device } = rows;
  const copyOf = async (from: View<"f64", 2>): Promise<View<"f32", 2>> => {
    const to = device.array(f32, from.shape, { layout: from.contiguous ? "right" : "left" });
    own(to);
    await device.run(narrowColumns, { from, to }, range(from.shape[0], from.shape[1]), options);
    return to;
  };
  if (factored) {
    const { sight, turns, weight } = rows.factors!;
    const column = weight.reshape(weight.length, 1);
    return {
      ...rows,
      narrowFactors: { sight: await copyOf(sight), turns: await copyOf(turns), weight: (await copyOf(column)).reshape(weight.length) },
    };
  }
  return {
    ...rows,
    narrow: {
      astrometric: await copyOf(rows.astrometric),
      attitude: await copyOf(rows.attitude),
      instrument: await copyOf(rows.instrument),
    },
  };
}

/** Bytes of a coefficient. */
export const bytesOf = (type: CoefficientType): number => (type === "f32" ? 4 : 8);

/** Throws LaunchError where coefficients cannot be f32: with the published program's form, in strict mode, and where the frame is free. */
export function requireCoefficients(type: CoefficientType, precision: Precision, form: string, frameIsFixed: boolean): void {
  if (type === "f64") return;
  if (precision === "strict")
    throw new LaunchError("strict mode has no coefficients in f32, as it gives the bits of f64: take --coefficients f64, or --precision fast");
  if (form === "paper")
    throw new LaunchError(`the form paper is the published program's, with coefficients in f64: take --coefficients f64, or another form`);
  if (!frameIsFixed)
    throw new LaunchError("the frame is free, and rounded coefficients would turn it: leave --frame on, or take --coefficients f64");
}
