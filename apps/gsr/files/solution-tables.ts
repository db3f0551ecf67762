import type { Column, Metadata, Table } from "isoform/io";
import type { Covariances } from "../covariances.js";
import { starPairs } from "../covariances.js";
import { STAR_CORRELATIONS } from "../probes.js";
import type { StarList } from "../scanning/stars.js";
import { directionOf } from "../scanning/stars.js";
import type { Shape } from "../shape.js";
import { ASTROMETRIC } from "../shape.js";
import type { SolutionFile } from "../solution-file.js";

/*
 * A solution as tables: stars as the archive's gaia_source names their columns, and all unknowns with their standard errors.
 */

/** Names of the tables in files with several. */
const STARS_TABLE = "STARS";
export const UNKNOWNS_TABLE = "UNKNOWNS";
const PAIRS_TABLE = "COVARIANCES";

/** Micro-arcseconds in a milli-arcsecond and in a degree. */
const MAS = 1000;
const DEGREE = 3_600_000_000;

/** Meaning of the errors, for the metadata of each table. */
type Labels = Readonly<Record<"ERRORS" | "CORREL", string>>;

/** Labels of a solution's errors and correlations: LSQR's sums are neither errors nor bounds. */
export function labelsOf({ probes, covariances }: Pick<SolutionFile, "probes" | "covariances">): Partial<Labels> {
  const errors =
    probes === undefined
      ? "LSQR's estimate, not converged: neither errors nor bounds of errors"
      : `standard errors, ${probes} probes, good to ${(100 / Math.sqrt(2 * probes)).toPrecision(2)} %`;
  return { ERRORS: errors, ...(covariances ? { CORREL: covariances.label } : {}) };
}

/** All tables of a solution: stars where the system has them, all unknowns, covariances of pairs where they were asked for. */
export function solutionTables(solution: SolutionFile, stars: StarList | undefined, format: string, version: number): Table[] {
  const { system, precision, coefficients, probes, x, standardErrors, covariances } = solution;
  const metadata: Metadata = {
    ...labelsOf(solution),
    FORMAT: format,
    VERSION: version,
    PRECISN: precision,
    ...(coefficients === undefined ? {} : { COEFFS: coefficients }),
    ...(probes === undefined ? {} : { PROBES: probes }),
    SYSTEM: JSON.stringify(system),
  };
  const all: Table = {
    name: UNKNOWNS_TABLE,
    metadata,
    columns: [
      f64("x", x, undefined, "uas, uas/yr, the last one 1000 (gamma - 1)"),
      f64("standard_error", standardErrors, undefined, "in the same unit; 0: the unknown has left the system"),
    ],
  };
  return [
    ...(stars ? [starTable(solution, stars)] : []),
    all,
    ...(covariances && covariances.of === "pairs" ? [pairTable(covariances, standardErrors)] : []),
  ];
}

const f64 = (name: string, values: ArrayLike<number>, unit?: string, description?: string): Column => ({
  name,
  type: "f64",
  values: Float64Array.from(values),
  ...(unit ? { unit } : {}),
  ...(description ? { description } : {}),
});

/** A row a star: its place moved by the solution, its parameters, their errors, and the ten correlations if they were asked for. */
export function starTable(solution: SolutionFile, stars: StarList): Table {
  const { x, standardErrors, covariances, system } = solution;
  const { count, magnitudes, ids } = stars;
  const parameter = (k: number, values: ArrayLike<number>) =>
    Float64Array.from({ length: count }, (_, s) => values[ASTROMETRIC * s + k] / MAS);
  const places = Array.from({ length: count }, (_, s) => directionOf(stars, s));
  const has = (s: number) => standardErrors[ASTROMETRIC * s] > 0;
  const determined = (values: Float64Array) => values.map((value, s) => (has(s) ? value : NaN));
  const moved = (k: 0 | 1) =>
    Float64Array.from(places, (place, s) => {
      const by = x[ASTROMETRIC * s + k] / DEGREE;
      const degrees = (place[k] * 180) / Math.PI + (k === 0 ? by / Math.cos(place[1]) : by);
      return k === 0 ? ((degrees % 360) + 360) % 360 : degrees;
    });
  const names = ["ra", "dec", "parallax", "pmra", "pmdec"];
  const units = ["mas", "mas", "mas", "mas/yr", "mas/yr"];
  const correlations = covariances?.of === "stars" ? starCorrelationColumns(system.shape, covariances, standardErrors) : [];
  return {
    name: STARS_TABLE,
    metadata: labelsOf(solution),
    columns: [
      { name: "source_id", type: "i64", values: ids ?? BigInt64Array.from({ length: count }, (_, s) => BigInt(s + 1)) },
      f64("ra", moved(0), "deg", "catalogue and solution"),
      f64("dec", moved(1), "deg", "catalogue and solution"),
      f64("phot_g_mean_mag", magnitudes, "mag"),
      f64("ra_offset", determined(parameter(0, x)), "mas", "solution alone, times cos(dec)"),
      f64("dec_offset", determined(parameter(1, x)), "mas", "solution alone"),
      ...[2, 3, 4].map((k) => f64(names[k], determined(parameter(k, x)), units[k])),
      ...names.map((name, k) => f64(`${name}_error`, determined(parameter(k, standardErrors)), units[k])),
      ...correlations,
    ],
  };
}

function starCorrelationColumns({ stars }: Shape, covariances: Covariances, errors: ArrayLike<number>): Column[] {
  const { first, second } = starPairs(stars);
  const pairs = STAR_CORRELATIONS.length;
  return STAR_CORRELATIONS.map((name, n) =>
    f64(
      name,
      Float64Array.from({ length: stars }, (_, s) => {
        const at = pairs * s + n;
        return covariances.values[at] / (errors[first[at]] * errors[second[at]]);
      }),
    ),
  );
}

function pairTable({ first, second, values, label }: Covariances, errors: ArrayLike<number>): Table {
  const correlation = Float64Array.from(values, (value, n) => value / (errors[first[n]] * errors[second[n]]));
  return {
    name: PAIRS_TABLE,
    metadata: { CORREL: label },
    columns: [
      { name: "i", type: "i32", values: Int32Array.from(first), description: "unknown, from 0 on" },
      { name: "j", type: "i32", values: Int32Array.from(second), description: "unknown, from 0 on" },
      f64("covariance", values, undefined, "product of the unknowns' units"),
      f64("correlation", correlation, undefined, "NaN where an unknown has left the system"),
    ],
  };
}
