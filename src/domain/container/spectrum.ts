import { isDouble } from "../../ir/scalars.js";
import { originalPosition } from "#source-map";
import { ContainerError } from "../../base/errors.js";
import { callSite } from "../../kernel/declare/location.js";
import { f64, sum, table } from "../../kernel/declare/params.js";
import { modeWeight } from "../../patterns/fourier.js";
import type { AxisArray } from "../grid/axis-array.js";
import type { Container, Field, Grid } from "../grid/grid.js";
import { slab } from "../grid/region.js";

/** Options of `spectrum`. */
export interface SpectrumOptions {
  /** A periodic one. */
  axis: "x" | "y" | "z";
  /** Component of the field. Default: 0. */
  component?: number;
  /** The spectrum of a function of the field at a cell, in place of a component: `(w, c) => w[c][1] / w[c][0]`, or a helper. */
  value?: (field: never, cell: never) => number;
  /** Adds to what `into` holds, for means over time; without it, `into` is overwritten. */
  accumulate?: boolean;
  /** Prefix of the containers' names. Default: "spectrum". */
  name?: string;
}

/** Modes that are summed up in one pass over the field. */
const TOGETHER = 16;

type Names = ("x" | "y" | "z")[];
type AnyAxes = (name: string, type: typeof f64, options: { axes: Names; cardinality: number }) => AxisArray<"f64", 2, 1>;

/**
 * Containers that leave in `into` the one-sided power spectrum of a field along a periodic axis of n cells, in the mean over the other axes that `into` does
 * not live on: component m is the mean of |X_m / n|^2, twice that for 0 < m < n / 2, as of `powerSpectrum` of isoform/patterns. With all n / 2 + 1
 * components they sum up to the mean of the squares. Modes are sums of cosines and sines, 16 for each pass over the field, so it takes n^2 / 2 operations a line.
 * Their arrays are freed with the grid.
 * @param into a field of f64 along axes other than the spectrum's, a component for each mode from 0 on
 * @throws ContainerError for an axis that is not periodic, for grids that are not dense, and for an `into` that does not fit
 */
export function spectrum(
  field: Field,
  into: AxisArray,
  { axis, component, value: given, accumulate = false, name = "spectrum", ...others }: SpectrumOptions,
): Container[] {
  const location = originalPosition(callSite(spectrum));
  const refuse = (problem: string, remedy: string): never => {
    throw new ContainerError(name, location, problem, remedy);
  };
  const grid: Grid = field.grid;
  const { extents } = grid;
  const number = "xyz".slice(0, extents.length).indexOf(axis);
  const [option] = Object.keys(others);
  if (option !== undefined) refuse(`it has no option "${option}"`, "use axis, component, value, accumulate and name");
  if (number < 0 || !grid.periodic[number]) refuse(`${String(axis)} is not a periodic axis of the grid`, "give an axis that is");
  if (given && component !== undefined) refuse("it is asked for a component and for a value", "give one of them");
  const taken = component ?? 0;
  if (!(Number.isInteger(taken) && taken >= 0 && taken < field.cardinality))
    refuse(`component ${taken} of ${field.cardinality} of "${field.name}" is asked for`, `count from 0 to ${field.cardinality - 1}`);
  if (!grid.foldAlongAxes || !grid.activity.isFull)
    refuse("the grid is not dense or some of its cells are inactive", "use a dense grid whose cells are all active");
  const n = extents[number];
  const modes = into.cardinality;
  if (into.grid !== grid || !isDouble(into.type) || into.axes.includes(number) || modes < 2 || 2 * (modes - 1) > n)
    refuse(
      `its result "${into.name}" does not fit`,
      `give a field of f64 on axes of the same grid other than ${axis}, of cardinality 2 to ${Math.floor(n / 2) + 1}`,
    );

  const remaining = ([..."xyz"].slice(0, extents.length) as Names).filter((each) => each !== axis);
  const lines = extents.reduce((product, extent, each) => (each === number || into.axes.includes(each) ? product : product * extent), 1);
  const along = grid.field.bind(grid) as unknown as AnyAxes;
  const value = given ?? (field.cardinality === 1 ? ONE : SEVERAL);
  const which = given ? {} : { component: taken };
  return Array.from({ length: Math.ceil(modes / TOGETHER) }, (_, block) => {
    const first = block * TOGETHER;
    const end = Math.min(modes, first + TOGETHER);
    const title = `${name} ${axis} ${first} to ${end - 1}`;
    const cardinality = 2 * (end - first);
    const waves = along(`${title} waves`, f64, { axes: [axis], cardinality });
    waves.set((at, k) => {
      const angle = (2 * Math.PI * ((at * (first + (k >> 1))) % n)) / n;
      return k % 2 === 0 ? Math.cos(angle) : -Math.sin(angle);
    });
    const parts = along(`${title} modes`, f64, { axes: remaining, cardinality });
    const weights = table(
      f64,
      Array.from({ length: end - first }, (_, m) => modeWeight(first + m, n) / lines),
    );
    const params = { u: field as unknown as Values, waves, value, parts: sum(parts), ...which };
    const transform = grid.container(title, params as never, (given ? ofValue : ofComponent) as never);
    const square = grid.container(
      `${title} squared`,
      { parts, weights, into: sum(into as AxisArray<"f64", 2>, { components: [first, end], accumulate }) } as never,
      (({ parts, weights, into }: SquareParams, c: symbol) => {
        for (let m = 0; m < weights.length; m++) into.add(m, weights[m] * (parts[c][2 * m] ** 2 + parts[c][2 * m + 1] ** 2));
      }) as never,
      undefined,
      { on: slab(axis, 0, 1) },
    );
    return [transform, square];
  }).flat();
}

type Values = Record<symbol, number & Record<number, number> & { readonly length: number }>;
interface Folds {
  add(k: number, value: number): void;
}
interface TransformParams {
  readonly u: Values;
  readonly waves: Values;
  readonly component: number;
  readonly value: (u: Values, c: symbol, k?: number) => number;
  readonly parts: Folds;
}
interface SquareParams {
  readonly parts: Values;
  readonly weights: readonly number[];
  readonly into: Folds;
}

const ofComponent = ({ u, waves, component, value, parts }: TransformParams, c: symbol): void => {
  const v = value(u, c, component);
  for (let k = 0; k < waves[c].length; k++) parts.add(k, v * waves[c][k]);
};
const ofValue = ({ u, waves, value, parts }: TransformParams, c: symbol): void => {
  const v = value(u, c);
  for (let k = 0; k < waves[c].length; k++) parts.add(k, v * waves[c][k]);
};
const ONE = (u: Values, c: symbol): number => u[c];
const SEVERAL = (u: Values, c: symbol, k: number): number => u[c][k | 0];
