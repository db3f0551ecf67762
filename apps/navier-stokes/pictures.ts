import { placeOf } from "./axes.js";
import type { Simulation } from "./simulation.js";

/** A plane of values, row by row, for a picture. */
export interface Slice {
  readonly width: number;
  readonly height: number;
  readonly values: Float64Array;
}

/** Rows of a flow along one axis. */
const ONE_DIMENSION = 16;

/** How steep the density is in the plane in the middle of z, on points at equal distances: layers at walls are stretched. */
export async function sliceOf(simulation: Simulation): Promise<Slice> {
  const { flow, grid, fields } = simulation;
  const [nx, ny, nz] = grid.extents;
  const w = await fields.w.download();
  const plane = Math.floor(nz / 2);
  const rho = (i: number, j: number): number =>
    w[5 * (Math.min(Math.max(i, 0), nx - 1) + nx * (Math.min(Math.max(j, 0), ny - 1) + ny * plane))];
  const [x, y] = flow.axes;
  const slope = (i: number, j: number): number => {
    const [a, b] = [Math.max(i - 1, 0), Math.min(i + 1, nx - 1)];
    const [c, d] = [Math.max(j - 1, 0), Math.min(j + 1, ny - 1)];
    const dx = b > a ? (rho(b, j) - rho(a, j)) / (placeOf(x, b) - placeOf(x, a)) : 0;
    const dy = d > c ? (rho(i, d) - rho(i, c)) / (placeOf(y, d) - placeOf(y, c)) : 0;
    return Math.hypot(dx, dy);
  };
  if (ny === 1) {
    const values = Float64Array.from({ length: nx * ONE_DIMENSION }, (_, n) => slope(n % nx, 0));
    return { width: nx, height: ONE_DIMENSION, values };
  }
  const [bottom, top] = [placeOf(y, 0), placeOf(y, ny - 1)];
  const shape = (top - bottom) / (placeOf(x, nx - 1) - placeOf(x, 0));
  const height = Math.max(2, Math.min(4 * ny, Math.round(nx * shape)));
  const values = new Float64Array(nx * height);
  let j = 0;
  for (let row = 0; row < height; row++) {
    const at = bottom + ((top - bottom) * row) / (height - 1);
    while (j + 1 < ny && placeOf(y, j + 1) <= at) j++;
    for (let i = 0; i < nx; i++) values[row * nx + i] = slope(i, j);
  }
  return { width: nx, height, values };
}
