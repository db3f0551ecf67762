import { LaunchError } from "../../base/errors.js";
import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { view } from "../../kernel/declare/params.js";
import { unreachable } from "../../base/unreachable.js";
import { makePattern, type Pattern, type PatternOptions } from "../pattern.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import { diagonalOf, type CompressedRows, type SparseType } from "../sparse/rows.js";
import { SparseMatrix } from "../sparse/sparse-matrix.js";
import type { LinearFunction } from "./steps.js";

/** Preconditioners that are made of a sparse matrix. */
export const MATRIX_PRECONDITIONERS = ["jacobi", "ssor", "ilu0"] as const;
/** A preconditioner that is made of a sparse matrix (docs/sparse.md). */
export type PreconditionerName = (typeof MATRIX_PRECONDITIONERS)[number];

const multiplyBy = bothTypes((type) =>
  kernel("krylovDiagonal", { d: view(FLOAT_TOKENS[type]), r: view(FLOAT_TOKENS[type]), z: view(FLOAT_TOKENS[type]) }, ({ d, r, z }, i) => {
    z[i] = d[i] * r[i];
  }),
);

const scaleBy = bothTypes((type) =>
  kernel("krylovScale", { d: view(FLOAT_TOKENS[type]), z: view(FLOAT_TOKENS[type]) }, ({ d, z }, i) => {
    z[i] = z[i] * d[i];
  }),
);

/** The function of a preconditioner. What it needs is made when it is called, and freed with its patterns. Throws LaunchError where a pivot is 0. */
export function preconditionerOf(name: PreconditionerName, matrix: SparseMatrix, options: PatternOptions): LinearFunction {
  const diagonal = diagonalOf(matrix.elements);
  const empty = diagonal.indexOf(0);
  if (empty >= 0)
    throw new LaunchError(
      `solver: the preconditioner ${name} divides by the diagonal, and row ${empty} has 0 there: take another one, or leave it out`,
    );
  switch (name) {
    case "jacobi":
      return (r, z) =>
        byDiagonal(
          matrix,
          diagonal.map((d) => 1 / d),
          r,
          z,
          options,
        );
    case "ssor":
      return symmetricSweeps(matrix, diagonal, options);
    case "ilu0":
      return incompleteFactors(matrix, options);
    default:
      return unreachable(name);
  }
}

function byDiagonal(
  matrix: SparseMatrix,
  d: Float64Array,
  r: View<SparseType, 1>,
  z: View<SparseType, 1>,
  options: PatternOptions,
): Pattern {
  const { device, type } = matrix;
  return makePattern(device, options, (steps) => {
    const args = { d: steps.own(device.from({ type }, d)), r, z };
    if (d.length > 0) steps.launch(multiplyBy[type], args as never, range(d.length));
  });
}

/** M = (D + L) D^-1 (D + U): a sweep of Gauss and Seidel forward, then one backward. */
function symmetricSweeps(matrix: SparseMatrix, d: Float64Array, options: PatternOptions): LinearFunction {
  const { device, type } = matrix;
  return (r, z) => {
    const scale = makePattern(device, options, (steps) => {
      const args = { d: steps.own(device.from({ type }, d)), z };
      if (d.length > 0) steps.launch(scaleBy[type], args as never, range(d.length));
    });
    return [matrix.solve({ triangle: "lower", b: r, x: z }, options), scale, matrix.solve({ triangle: "upper", b: z, x: z }, options)];
  };
}

/** M = L U, with the places of the matrix. */
function incompleteFactors(matrix: SparseMatrix, options: PatternOptions): LinearFunction {
  const { device, type } = matrix;
  return (r, z) => {
    const factors = new SparseMatrix(device, factorise(matrix.elements), { type, format: "csr" });
    const patterns = [
      factors.solve({ triangle: "lower", unitDiagonal: true, b: r, x: z }, options),
      factors.solve({ triangle: "upper", b: z, x: z }, options),
    ];
    // Solves have copies of their triangles.
    factors.free();
    return patterns;
  };
}

/** Gauss' elimination that drops what falls beside the matrix's places: L below the diagonal, which counts as 1, and U. */
function factorise(matrix: CompressedRows): CompressedRows {
  const { shape, offsets, columns } = matrix;
  const values = Float64Array.from(matrix.values);
  const diagonalAt = new Int32Array(shape[0]);
  /** Place of a column's element in the current row, plus 1. */
  const placeOf = new Int32Array(shape[1]);
  for (let row = 0; row < shape[0]; row++) {
    for (let k = offsets[row]; k < offsets[row + 1]; k++) placeOf[columns[k]] = k + 1;
    for (let k = offsets[row]; k < offsets[row + 1] && columns[k] < row; k++) {
      const above = columns[k];
      values[k] /= values[diagonalAt[above]];
      for (let other = diagonalAt[above] + 1; other < offsets[above + 1]; other++) {
        const place = placeOf[columns[other]];
        if (place > 0) values[place - 1] -= values[k] * values[other];
      }
    }
    diagonalAt[row] = placeOf[row] - 1;
    for (let k = offsets[row]; k < offsets[row + 1]; k++) placeOf[columns[k]] = 0;
    if (values[diagonalAt[row]] === 0)
      throw new LaunchError(`solver: the preconditioner ilu0 meets a pivot of 0 in row ${row}: take another one, or leave it out`);
  }
  return { ...matrix, values };
}
