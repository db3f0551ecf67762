import { assign, f64, helper, sum, table, i32 } from "isoform";
import type { AxisArray, Cell, Container } from "isoform/grid";
import type { Model } from "../equations/model.js";
import { STATE, type Conserved, type Temperatures, type Values } from "../equations/pointwise.js";
import type { Sampled } from "./sampled.js";
import {
  GRADIENT_FACTORS,
  GRADIENT_STATISTICS,
  POINT_FACTORS,
  POINT_STATISTICS,
  STATISTICS,
  type MeanFactor,
  type Statistic,
} from "./statistics-names.js";
import { differences } from "../equations/viscous.js";

/** Averages along y, or in the plane of x and y. */
export type MeanAxes = readonly ["y"] | readonly ["x", "y"];

/** Means over time and over the axes that are left out. */
export interface Means {
  readonly axes: MeanAxes;
  /** Places along `axes`, x fastest. */
  readonly extents: readonly number[];
  /** Samples that they are means of. */
  readonly samples: number;
  /** Means by name, as in the files that `--statistics` writes: `rho`, `u`, `rho_u_v` and so on. */
  readonly columns: ReadonlyMap<string, Float64Array>;
}

export type Statistics = Sampled<Means>;

/** Statistics in order of the components of their sums. */
const COMPONENTS = [...POINT_STATISTICS, ...GRADIENT_STATISTICS];
const MOST_FACTORS = Math.max(...STATISTICS.map(({ of }) => of.length));

/** Sums over cells and samples of all `STATISTICS` of a flow. */
export function statisticsOf(model: Model, axes: MeanAxes): Statistics {
  const { grid } = model;
  const cardinality = STATISTICS.length;
  const sums = grid.field("statistics", f64, { axes: [...axes] as ["x", "y"], cardinality: cardinality as 2 });
  const samples = grid.scalar("samples", f64);
  const count = grid.scalarStep("samples", { samples: assign(samples) }, ({ samples }) => {
    samples.set(samples.get() + 1);
  });
  const extents = axes.map((axis) => grid.extents["xyz".indexOf(axis)]);
  const places = extents.reduce((product, n) => product * n, 1);
  const cells = grid.extents.reduce((product, n) => product * n, 1);
  return {
    sample: [pointSums(model, sums), gradientSums(model, sums), count],
    sums: [sums as unknown as AxisArray],
    samples,
    clear() {
      sums.set(() => 0);
      samples.set(0);
    },
    async read() {
      const values = await sums.download();
      const number = await samples.get();
      const share = places / cells / number;
      const columns = STATISTICS.map((each) => {
        const k = COMPONENTS.indexOf(each);
        return [each.name, Float64Array.from({ length: places }, (_, n) => values[n * cardinality + k] * share)] as const;
      });
      return { axes, extents, samples: number, columns: new Map(columns) };
    },
  };
}

type Sums = AxisArray<"f64", 2, 2>;

/** Numbers of each statistic's factors, the same count for each: the last factor, 1, fills up. */
const factorTable = (statistics: readonly Statistic[], factors: readonly MeanFactor[]) =>
  table(
    i32,
    statistics.flatMap(({ of }) =>
      [...of, ...Array<undefined>(MOST_FACTORS - of.length)].map((factor) => (factor ? factors.indexOf(factor) : factors.length)),
    ),
  );

function pointSums({ grid, Real, cell, fields }: Model, sums: Sums): Container {
  const { w, T } = fields;
  const { stateOf, viscosityOf, heatOf, gammaOf } = cell;
  const factors = factorTable(POINT_STATISTICS, POINT_FACTORS);
  const [COUNT, WIDTH, ONE] = [POINT_STATISTICS.length, MOST_FACTORS, POINT_FACTORS.length];
  return grid.container(
    "statistics of points",
    { w, T, sums: sum(sums, { accumulate: true, components: [0, COUNT] }) },
    ({ w, T, sums }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const f = new Real(ONE + 1);
      for (let k = 0; k < 4; k++) f[k] = s[k];
      f[4] = s[0] * s[5];
      f[5] = s[5];
      f[6] = viscosityOf(s[5]);
      f[7] = f[6] / s[0];
      const square = s[1] * s[1] + s[2] * s[2] + s[3] * s[3];
      f[10] = heatOf(s[5]);
      f[11] = gammaOf(s[5]);
      f[8] = s[5] + (0.5 * square) / f[10];
      f[9] = Math.sqrt(square / (f[11] * s[5]));
      f[ONE] = 1;
      for (let k = 0; k < COUNT; k++) {
        let product = f[factors[WIDTH * k]];
        for (let n = 1; n < WIDTH; n++) product *= f[factors[WIDTH * k + n]];
        sums.add(k, product);
      }
    },
    () => [Real, STATE, COUNT, WIDTH, ONE, factors, stateOf, viscosityOf, heatOf, gammaOf],
  );
}

function gradientSums({ grid, real, Real, axes, cell, scheme, fields, along }: Model, sums: Sums): Container {
  const { w, T } = fields;
  const { stateOf, viscosityOf } = cell;
  const { addGradient } = differences("expanded", scheme.order, cell, real);
  const [x, y, z] = along("slope");
  const factors = factorTable(GRADIENT_STATISTICS, [...GRADIENT_FACTORS, "u", "v", "w", "p"]);
  const [COUNT, WIDTH, ONE] = [GRADIENT_STATISTICS.length, MOST_FACTORS, GRADIENT_FACTORS.length + 4];
  const gradientOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, x: number, y: number, z: number, g: Values): void => {
      addGradient(w, T, c, 0, 1, 0, 0, x, g);
      if (axes > 1) addGradient(w, T, c, 1, 0, 1, 0, y, g);
      if (axes > 2) addGradient(w, T, c, 2, 0, 0, 1, z, g);
    },
    () => [axes, addGradient],
  );
  return grid.container(
    "statistics of gradients",
    { w, T, x, y, z, sums: sum(sums, { accumulate: true, components: [POINT_STATISTICS.length, STATISTICS.length] }) },
    ({ w, T, x, y, z, sums }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const mu = viscosityOf(s[5]);
      // Derivative of the velocity's component i along axis n: g[3 n + i].
      const g = new Real(9);
      gradientOf(w, T, c, x[c], y[c], z[c], g);
      const div = g[0] + g[4] + g[8];
      const f = new Real(ONE + 1);
      f[0] = g[5] - g[7];
      f[1] = g[6] - g[2];
      f[2] = g[1] - g[3];
      const [xx, xy, xz] = [2 * mu * (g[0] - div / 3), mu * (g[3] + g[1]), mu * (g[6] + g[2])];
      const [yy, yz, zz] = [2 * mu * (g[4] - div / 3), mu * (g[7] + g[5]), 2 * mu * (g[8] - div / 3)];
      f[3] = xx;
      f[4] = xy;
      f[5] = xz;
      f[6] = yy;
      f[7] = yz;
      f[8] = zz;
      f[9] = xx * s[2] + xy * s[1];
      f[10] = xy * s[2] + yy * s[1];
      f[11] = xx * g[0] + xy * g[3] + xz * g[6];
      f[12] = xy * g[1] + yy * g[4] + yz * g[7];
      f[13] = xz * g[2] + yz * g[5] + zz * g[8];
      f[14] = xx * g[1] + xy * (g[0] + g[4]) + yy * g[3] + xz * g[7] + yz * g[6];
      f[15] = g[0];
      f[16] = g[4];
      f[17] = g[8];
      f[18] = g[3] + g[1];
      f[19] = div;
      for (let k = 1; k < 4; k++) f[19 + k] = s[k];
      f[23] = s[0] * s[5];
      f[ONE] = 1;
      for (let k = 0; k < COUNT; k++) {
        let product = f[factors[WIDTH * k]];
        for (let n = 1; n < WIDTH; n++) product *= f[factors[WIDTH * k + n]];
        sums.add(k, product);
      }
    },
    () => [Real, STATE, COUNT, WIDTH, ONE, factors, stateOf, viscosityOf, gradientOf],
  );
}
