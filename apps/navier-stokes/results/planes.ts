import { f64, helper, sum } from "isoform";
import { slab, type AxisArray, type Cell, type Container } from "isoform/grid";
import { cellsOf, innerPoints } from "../equations/axes.js";
import { facesOf } from "../measures/faces.js";
import type { Model } from "../equations/model.js";
import { STATE, type Conserved, type Temperatures, type Values } from "../equations/pointwise.js";
import type { Flow, Simulation } from "../simulation/simulation.js";
import { differences } from "../equations/viscous.js";

/*
 * Planes of cells across an axis, and what is shown of the flow in them.
 */

const AXES = ["x", "y", "z"] as const;

/** Quantities that can be shown. Derivatives are differences between neighbours. */
export const QUANTITIES = {
  schlieren: "gradient of the density",
  "q-criterion": "Q = (|rotation|^2 - |strain|^2) / 2",
  temperature: "temperature / reference",
  velocity: "velocity along x / reference",
  pressure: "pressure / reference",
  density: "density / reference",
} as const;
export type Quantity = keyof typeof QUANTITIES;

/** A plane of cells. */
export interface Plane {
  readonly axis: (typeof AXES)[number];
  /** Coordinate of its cells. */
  readonly index: number;
  /** Place on the axis. */
  readonly at: number;
}

/** The plane of the cells nearest to a place on an axis, or in the middle. */
export function planeAt({ axes }: Pick<Flow, "axes">, axis: Plane["axis"], place?: number): Plane {
  const points = innerPoints(axes[AXES.indexOf(axis)]);
  const distance = (n: number): number => Math.abs(points[n] - place!);
  const index =
    place === undefined
      ? Math.floor(points.length / 2)
      : points.reduce((nearest, _, n) => (distance(n) < distance(nearest) ? n : nearest), 0);
  return { axis, index, at: points[index] };
}

/** Values in a plane, the first of both other axes fastest. */
export class PlaneOf {
  private readonly values: AxisArray<"f64", 1, 2>;
  private readonly container: Container;
  /** Units in which values are shown. */
  private readonly unit: number;

  constructor(
    private readonly simulation: Simulation,
    quantity: Quantity,
    readonly plane: Plane,
  ) {
    const { model } = simulation;
    const axes = AXES.filter((axis) => axis !== plane.axis) as ["x", "y"];
    this.values = model.grid.field(`${quantity} in a plane`, f64, { axes, cardinality: 1 });
    this.container = shown(model, quantity, plane, this.values);
    this.unit = quantity === "velocity" ? model.reference.speed : 1;
  }

  /** Reads the plane of the flow as it is now. */
  async read(): Promise<Float64Array> {
    const { grid, settings } = this.simulation;
    await grid.run(this.container, settings);
    return Float64Array.from(await this.values.download(), (value) => value / this.unit);
  }
}

function shown(model: Model, quantity: Quantity, { axis, index }: Plane, values: AxisArray<"f64", 1, 2>): Container {
  const { grid, Real, fields, cell } = model;
  const { w, T } = fields;
  const { stateOf } = cell;
  const [x, y, z] = model.along("span");
  const valueOf = valuesOf(model)[quantity]();
  return grid.container(
    `${quantity} in a plane`,
    { w, T, x, y, z, values: sum(values) },
    ({ w, T, x, y, z, values }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      values.add(valueOf(w, T, c, s, x[c], y[c], z[c]));
    },
    () => [Real, STATE, stateOf, valueOf],
    { on: slab(axis, index, index + 1) },
  );
}

type ValueOf = (w: Conserved, T: Temperatures, c: Cell<3>, s: Values, x: number, y: number, z: number) => number;

/** Values of the quantities from the state `s` of a cell and its neighbours; x, y and z are 1 over the distances between both neighbours. */
function valuesOf({ real, Real, axes, cell }: Model): Record<Quantity, () => ValueOf> {
  const { addGradient } = differences("conservative", 2, cell, real);
  const component = (k: number) => (): ValueOf =>
    helper(
      (_w: Conserved, _T: Temperatures, _c: Cell<3>, s: Values, _x: number, _y: number, _z: number): number => s[k],
      () => [k],
    );
  return {
    density: component(0),
    velocity: component(1),
    temperature: component(5),
    pressure: () =>
      helper(
        (_w: Conserved, _T: Temperatures, _c: Cell<3>, s: Values, _x: number, _y: number, _z: number): number => s[0] * s[5],
        () => [],
      ),
    schlieren: () =>
      helper(
        (w: Conserved, _T: Temperatures, c: Cell<3>, _s: Values, x: number, y: number, z: number): number => {
          let square = 0;
          const a = x * (w.at(c, 1, 0, 0)[0] - w.at(c, -1, 0, 0)[0]);
          square += a * a;
          if (axes > 1) {
            const b = y * (w.at(c, 0, 1, 0)[0] - w.at(c, 0, -1, 0)[0]);
            square += b * b;
          }
          if (axes > 2) {
            const d = z * (w.at(c, 0, 0, 1)[0] - w.at(c, 0, 0, -1)[0]);
            square += d * d;
          }
          return Math.sqrt(square);
        },
        () => [axes],
      ),
    "q-criterion": () =>
      helper(
        (w: Conserved, T: Temperatures, c: Cell<3>, _s: Values, x: number, y: number, z: number): number => {
          const g = new Real(9);
          addGradient(w, T, c, 0, 1, 0, 0, x, g);
          if (axes > 1) addGradient(w, T, c, 1, 0, 1, 0, y, g);
          if (axes > 2) addGradient(w, T, c, 2, 0, 0, 1, z, g);
          return -0.5 * (g[0] * g[0] + g[4] * g[4] + g[8] * g[8]) - g[1] * g[3] - g[2] * g[6] - g[5] * g[7];
        },
        () => [Real, axes, addGradient],
      ),
  };
}

/** Values on points at equal distances, for a picture, the lowest row first. */
interface Raster {
  readonly width: number;
  readonly height: number;
  readonly values: Float64Array;
  /** Ends of both axes. */
  readonly bounds: readonly [across: readonly [number, number], up: readonly [number, number]];
  readonly names: readonly [across: string, up: string];
}

/** Points along the longer side of a picture, and the least along the other one. */
const [LONGER, SHORTER] = [320, 24];

/** Values of a plane in the cells that points lie in: cells may be of any widths. */
export function rasterOf(flow: Pick<Flow, "axes">, { axis }: Plane, values: ArrayLike<number>): Raster {
  const [a, b] = AXES.filter((each) => each !== axis);
  const [across, up] = [a, b].map((each) => AXES.indexOf(each));
  const faces = facesOf(flow.axes);
  const ends = (n: number): readonly [number, number] => [faces[n][0], faces[n].at(-1)!];
  const lengths = [across, up].map((n) => ends(n)[1] - ends(n)[0]);
  const longest = Math.max(...lengths);
  const [width, height] = lengths.map((length) => Math.max(SHORTER, Math.round((LONGER * length) / longest)));
  const columns = cellsUnder(faces[across], width);
  const rows = cellsUnder(faces[up], height);
  const stride = cellsOf(flow.axes[across]);
  return {
    width,
    height,
    values: Float64Array.from({ length: width * height }, (_, n) => values[columns[n % width] + stride * rows[Math.floor(n / width)]]),
    bounds: [ends(across), ends(up)],
    names: [a, b],
  };
}

/** The cells that points at equal distances lie in. */
function cellsUnder(faces: Float64Array, count: number): number[] {
  const [from, to] = [faces[0], faces.at(-1)!];
  let cell = 0;
  return Array.from({ length: count }, (_, n) => {
    const at = from + ((to - from) * (n + 0.5)) / count;
    while (faces[cell + 1] < at) cell++;
    return cell;
  });
}
