import type { LaunchOptions, View } from "isoform";
import { f32, f64, kernel, range, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { StarRows } from "./system.js";

/*
 * Rows whose coefficients, or factors of them, are on a device in f32 as well: what iterations read of them.
 */

/** The coefficients of a row's three sections; the global unknown's are f64 always. */
interface Coefficients {
  /** [row][5] */
  readonly astrometric: View<CoefficientType>;
  /** [row][12] */
  readonly attitude: View<CoefficientType>;
  /** [row][6] */
  readonly instrument: View<CoefficientType>;
}

/** Numbers of each row that stand for its coefficients (factored.ts). */
interface RowFactors {
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

const narrowColumns = kernel("narrowColumns", { from: view(f64, 2), to: view(f32, 2) }, ({ from, to }, i, k) => {
  to[i][k] = Math.fround(from[i][k]);
});

/** The rows with f32 beside f64, in the same layout; `own` keeps what has to be freed. */
export async function narrowedRows(
  rows: StarRows,
  factored: boolean,
  options: LaunchOptions,
  own: (one: View) => void,
): Promise<NarrowRows> {
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
