import type { Axis, Mesh } from "./mesh.js";
import { cellSize, dofs, isPresent } from "./mesh.js";
import { pieceAt, splinePieces } from "./splines.js";

/** Three components at a place. */
export type VectorField = (x: readonly number[]) => readonly [number, number, number];

/** Gauss' rule of four points on [0, 1], exact to degree 7. */
const GAUSS = [
  [0.33998104358485626, 0.6521451548625461],
  [0.8611363115940526, 0.34785484513745385],
].flatMap(([x, w]) => [-x, x].map((place) => ({ place: (1 + place) / 2, weight: w / 2 })));

interface Sample {
  readonly x: number;
  /** Coefficient and weight of each spline that is not 0 there; weights include the rule's. */
  readonly splines: readonly (readonly [index: number, weight: number])[];
}

function samplesOf(axis: Axis, degree: number): Sample[] {
  if (!isPresent(axis)) return [{ x: 0, splines: [[0, 1]] }];
  const h = cellSize(axis);
  const pieces = splinePieces(degree);
  return Array.from({ length: axis.cells }, (_, cell) =>
    GAUSS.map(({ place, weight }) => ({
      x: h * (cell + place),
      splines: pieces.map((_, j) => [(cell - degree + j + axis.cells) % axis.cells, h * weight * pieceAt(pieces, j, place)] as const),
    })),
  ).flat();
}

/**
 * Integrals of component k of a field against the splines of a 1-form (`e`) or 2-form (`b`), in storage order; the inverse mass matrix makes
 * them the coefficients of the L2 projection.
 */
export function projectionMoments({ axes, ...mesh }: Mesh, form: "e" | "b", k: number, field: VectorField): Float64Array {
  const [alongX, alongY, alongZ] = axes.map((axis, a) => samplesOf(axis, (a === k) === (form === "e") ? axis.degree - 1 : axis.degree));
  const moments = new Float64Array(dofs({ axes, ...mesh }));
  const [n1, n2] = axes.map(({ cells }) => cells);
  const row = new Float64Array(n1);
  const plane = new Float64Array(n1 * n2);
  // Axis by axis: a sample meets (degree + 1) splines three times, not to the third power.
  for (const z of alongZ) {
    plane.fill(0);
    for (const y of alongY) {
      row.fill(0);
      for (const x of alongX) addTo(row, 1, x.splines, [field([x.x, y.x, z.x])[k]]);
      addTo(plane, n1, y.splines, row);
    }
    addTo(moments, n1 * n2, z.splines, plane);
  }
  return moments;
}

/** Adds `values`, times each spline's weight, to the block of `length` values that the spline has. */
function addTo(sums: Float64Array, length: number, splines: Sample["splines"], values: ArrayLike<number>): void {
  for (const [index, weight] of splines) for (let i = 0, at = length * index; i < length; i++, at++) sums[at] += values[i] * weight;
}
