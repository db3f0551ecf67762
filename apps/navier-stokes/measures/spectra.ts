import { assign, f64, helper } from "isoform";
import { spectrum, type AxisArray, type Cell } from "isoform/grid";
import { cellsOf, type Axis } from "../equations/axes.js";
import { facesOf } from "./faces.js";
import type { Model } from "../equations/model.js";
import type { Conserved } from "../equations/pointwise.js";
import type { Sampled } from "./sampled.js";

/** Axes along which there are spectra where the flow is periodic. */
const SPECTRAL = ["x", "z"] as const;
/** One of `SPECTRAL`: `x` or `z`. */
export type Spectral = (typeof SPECTRAL)[number];

/** Spectra of the velocity along an axis, in means over time and over the third axis. */
export interface Spectrum {
  /** Points of time that they are made of. */
  readonly samples: number;
  /** Wave numbers of the modes 0 to n / 2, in radians by length. */
  readonly waves: Float64Array;
  /** Densities of each component of the velocity: for each y, a density for each mode. Times the distance between wave numbers they add up to the mean square. */
  readonly densities: readonly [u: Float64Array, v: Float64Array, w: Float64Array];
}

export type Spectra = Sampled<ReadonlyMap<Spectral, Spectrum>>;

/** The axes of a flow along which it has spectra: periodic ones of two cells or more. */
export const spectralAxes = (axes: readonly Axis[]): Spectral[] =>
  SPECTRAL.filter((name) => {
    const axis = axes["xyz".indexOf(name)];
    return axis.periodic && cellsOf(axis) > 1;
  });

/** Spectra of the velocity's components along the periodic ones of x and z. */
export function spectraOf({ grid, fields }: Model, axes: readonly [Axis, Axis, Axis]): Spectra {
  const velocities = [1, 2, 3].map((k) =>
    helper(
      (w: Conserved, c: Cell<3>): number => w[c][k] / w[c][0],
      () => [k],
    ),
  );
  const along = spectralAxes(axes).map((axis) => {
    const number = "xyz".indexOf(axis);
    const cardinality = Math.floor(grid.extents[number] / 2) + 1;
    const parts = velocities.map((value, n) => {
      const name = `spectrum of ${"uvw"[n]}`;
      const sum = grid.field(`${name} along ${axis}`, f64, { axes: ["y"], cardinality }) as unknown as AxisArray;
      return { sum, steps: spectrum(fields.w as never, sum, { axis, value, accumulate: true, name }) };
    });
    return { axis, number, parts };
  });
  const samples = grid.scalar("samples of spectra", f64);
  const count = grid.scalarStep("samples of spectra", { samples: assign(samples) }, ({ samples }) => {
    samples.set(samples.get() + 1);
  });
  const containers = along.flatMap(({ parts }) => parts.flatMap(({ steps }) => steps));
  const all = along.flatMap(({ parts }) => parts.map(({ sum }) => sum));
  return {
    sample: [...containers, count],
    sums: [...new Set(containers.flatMap(({ axisFolds = [] }) => axisFolds.map(({ array }) => array)))],
    samples,
    clear() {
      for (const sum of all) sum.set(() => 0);
      samples.set(0);
    },
    async read() {
      const number = await samples.get();
      const spectra = along.map(async ({ axis, number: n, parts }) => {
        const faces = facesOf(axes)[n];
        const distance = (2 * Math.PI) / (faces.at(-1)! - faces[0]);
        const values = await Promise.all(parts.map(({ sum }) => sum.download()));
        const densities = values.map((list) => Float64Array.from(list, (value) => value / number / distance));
        const waves = Float64Array.from({ length: parts[0].sum.cardinality }, (_, m) => m * distance);
        return [axis, { samples: number, waves, densities: densities as [Float64Array, Float64Array, Float64Array] }] as const;
      });
      return new Map(await Promise.all(spectra));
    },
  };
}
