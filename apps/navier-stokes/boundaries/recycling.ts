import { i32, sum, table } from "isoform";
import { face, slab, type Container } from "isoform/grid";
import { innerPoints, type Axis } from "../equations/axes.js";
import { viscousLength, type LayerMeans } from "../starts/layer-means.js";
import type { Model } from "../equations/model.js";

/*
 * A turbulent inflow: the means of the layer, and fluctuations of planes further down, rescaled to the thinner layer and shifted by half of the width
 * (Lund, Wu and Squires, J. Comput. Phys. 140, 1998; Pirozzoli, Bernardini and Grasso, J. Fluid Mech. 657, 2010).
 */

/** Density and momentum of a column. */
const VALUES = 4;

/** Least and greatest fluctuation of the density, by its mean. */
const LEAST = -0.75;
const MOST = 4;

/** Place, in the plane further down, of the value at a row of the inflow: between rows `from` and `from` + 1, times `weight`. */
interface RowMap {
  readonly from: Int32Array;
  readonly share: Float64Array;
  readonly weight: Float64Array;
}

/** Maps rows by inner and by outer lengths of the layer at the inflow and at a plane further down; weights sum up to the damping beyond the layer. */
function rowMaps(
  y: ArrayLike<number>,
  inflow: { readonly delta: number; readonly viscous: number },
  plane: { readonly delta: number; readonly viscous: number },
): { readonly inner: RowMap; readonly outer: RowMap } {
  const rows = y.length;
  const blend = (eta: number): number => 0.5 * (1 + Math.tanh((4 * (eta - 0.2)) / (0.2 + 0.6 * eta)) / Math.tanh(4));
  const damping = (eta: number): number => 0.5 * (1 - Math.tanh(4 * (eta - 2)));
  const map = (ratio: number, part: (eta: number) => number): RowMap => {
    const [from, share, weight] = [new Int32Array(rows), new Float64Array(rows), new Float64Array(rows)];
    for (let j = 1; j < rows; j++) {
      const height = y[j] * ratio;
      let n = -1;
      while (n + 1 < rows && y[n + 1] < height) n++;
      if (n < 0 || n + 1 >= rows) continue;
      const eta = y[j] / inflow.delta;
      from[j] = n;
      share[j] = (height - y[n]) / (y[n + 1] - y[n]);
      weight[j] = part(eta) * damping(eta);
    }
    return { from, share, weight };
  };
  return {
    inner: map(plane.viscous / inflow.viscous, (eta) => 1 - blend(eta)),
    outer: map(plane.delta / inflow.delta, blend),
  };
}

/** Ghosts before xmin, from planes that end with the last one before `place`. */
export function recycling(model: Model, x: Axis, y: Axis, means: LayerMeans, place: number): Container[] {
  const { grid, real, Real, cell, fields, gas, ghosts } = model;
  const { w, T } = fields;
  const { energyOf } = cell;
  const [, rows, nz] = grid.extents;
  const last = innerPoints(x).findLastIndex((at) => at < place);
  const lengths = (column: number) => ({ delta: means.profile(column).delta, viscous: viscousLength(means.profile(column)) });
  const [inflow, plane] = [lengths(0), lengths(last)];
  const { inner, outer } = rowMaps(innerPoints(y), inflow, plane);
  const gain = plane.viscous / inflow.viscous;

  const along = (name: string, columns: readonly ArrayLike<number>[]) => {
    const array = grid.field(name, real, { axes: ["y"], cardinality: columns.length });
    array.set(Array.from({ length: rows }, (_, j) => columns.map((column) => column[j])).flat());
    return array;
  };
  const from = grid.field("rows", i32, { axes: ["y"], cardinality: 2 });
  from.set(Array.from({ length: rows }, (_, j) => [inner.from[j], outer.from[j]]).flat());
  const weights = along("weights", [inner.share, inner.weight, outer.share, outer.weight]);
  const stream = along(
    "means",
    Array.from({ length: 3 * ghosts }, (_, n) => Float64Array.from({ length: rows }, (_, j) => means.at(-1 - Math.floor(n / 3), j)[n % 3])),
  );
  const planes = grid.field("planes", real, { axes: ["y", "z"], cardinality: VALUES * ghosts });
  const spans = grid.field("spans", real, { axes: ["y"], cardinality: VALUES * ghosts });

  const on = slab("x", last + 1 - ghosts, last + 1);
  const gather = grid.container(
    "recycled planes",
    { w, planes: sum(planes) },
    ({ w, planes }, c) => {
      for (let l = 0; l < ghosts; l++) for (let k = 0; k < VALUES; k++) planes.add(VALUES * l + k, c.x === last - l ? w[c][k] : 0);
    },
    () => [VALUES, ghosts, last],
    { on },
  );
  const average = grid.container(
    "means of recycled planes",
    { w, spans: sum(spans) },
    ({ w, spans }, c) => {
      for (let l = 0; l < ghosts; l++) for (let k = 0; k < VALUES; k++) spans.add(VALUES * l + k, c.x === last - l ? w[c][k] / nz : 0);
    },
    () => [VALUES, ghosts, last, nz],
    { on },
  );

  const half = nz / 2;
  const isThermal = gas.heat !== undefined;
  const bounds = table(real, [LEAST, MOST]);
  const inject = grid.container(
    "recycling inflow",
    { w, T, planes, spans, from, weights, stream },
    ({ w, T, planes, spans, from, weights, stream }, c) => {
      const shift = c.z >= half ? -half : half;
      for (let l = 0; l < ghosts; l++) {
        const change = new Real(VALUES);
        for (let map = 0; map < 2; map++)
          for (let end = 0; end < 2; end++) {
            const row = from[c][map] - c.y + end;
            const part = weights[c][2 * map + 1] * (end === 1 ? weights[c][2 * map] : 1 - weights[c][2 * map]);
            const rho = planes.at(c, row, shift)[VALUES * l];
            const mean = spans.at(c, row)[VALUES * l];
            change[0] += part * (rho - mean);
            for (let k = 1; k < VALUES; k++)
              change[k] += part * (planes.at(c, row, shift)[VALUES * l + k] / rho - spans.at(c, row)[VALUES * l + k] / mean);
          }
        const mean = stream[c][3 * l];
        const rho = mean + Math.min(Math.max(change[0], bounds[0] * mean), bounds[1] * mean);
        const u = stream[c][3 * l + 1] + gain * change[1];
        const v = stream[c][3 * l + 2] + gain * change[2];
        const ww = gain * change[3];
        const value = 1 / rho;
        w.at(c, -l - 1, 0, 0)[0] = rho;
        w.at(c, -l - 1, 0, 0)[1] = rho * u;
        w.at(c, -l - 1, 0, 0)[2] = rho * v;
        w.at(c, -l - 1, 0, 0)[3] = rho * ww;
        w.at(c, -l - 1, 0, 0)[4] = rho * (energyOf(value) + 0.5 * (u * u + v * v + ww * ww));
        if (isThermal) T.put(c, -l - 1, 0, 0, value);
      }
    },
    () => [Real, VALUES, ghosts, half, gain, isThermal, bounds, energyOf],
    { on: face("xmin") },
  );
  return [gather, average, inject];
}
