import type { Device } from "../../device/device.js";
import { range, teams } from "../../device/launch/policy.js";
import { LaunchError } from "../../base/errors.js";
import { CPU_MEMORY, requireNumber, View } from "../../device/memory/view.js";
import { requireOptions, requireThing } from "../../base/own.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "../pattern.js";
import {
  TILE_MEMBERS,
  multiplyPanels,
  multiplySquares,
  packPanels,
  padRows,
  GROUP_ROWS,
  PRODUCTS,
  type MatrixType,
} from "./gemm-kernels.js";

/** Arguments of `gemm`. */
export interface Gemm {
  /** m x k, or k x m if it is transposed; of rank 3 a matrix for each of a batch. One of rank 2 stands for all of a batch. */
  a: View<MatrixType>;
  /** k x n, or n x k if it is transposed; the same. */
  b: View<MatrixType>;
  /** m x n, in memory of its own; of rank 3 for a batch. */
  c: View<MatrixType>;
  /** Factor of the product. Default: 1 */
  alpha?: number;
  /** Factor of what c holds before. Default: 0, and c is not read. */
  beta?: number;
  /** Which of the matrices are read with rows and columns exchanged. */
  transpose?: { a?: boolean; b?: boolean };
  /** Lets NVIDIA's library multiply, in fast mode on CUDA devices; its remark tells the version. Default: kernels of Isoform. */
  library?: "cublas";
}

/**
 * Prepares the product of matrices of f64 or f32, c = alpha a b + beta c, for one or for each of a batch. Each element is one sum over rising k, so in
 * strict mode all devices give the bits of the plain triple loop; alpha and beta come last. CPUs keep b in panels, and a copy of a whose sizes are whole tiles.
 *
 * @throws LaunchError where shapes or types do not fit, and where c shares memory with a or b
 */
export function gemm(device: Device, what: Gemm, options: PatternOptions = {}): Pattern {
  requireOptions("gemm", what, ["a", "b", "c", "alpha", "beta", "transpose", "library"]);
  const { alpha = 1, beta = 0, transpose = {} } = what;
  requireOptions("gemm, for transpose,", transpose, ["a", "b"]);
  for (const [name, value] of Object.entries(transpose))
    requireThing(`gemm, for transpose.${name},`, value, typeof value === "boolean", "give true or false");
  requireNumber(() => "gemm: alpha", alpha);
  requireNumber(() => "gemm: beta", beta);
  for (const name of ["a", "b", "c"] as const) requireMatrix(name, what[name], what.c);
  requireSeparate(
    "gemm",
    [["c", what.c]],
    [
      ["a", what.a],
      ["b", what.b],
    ],
  );
  const batches = what.c.rank === 3 ? what.c.shape[0] : 1;
  const a = batched("a", what.a, batches, transpose.a);
  const b = batched("b", what.b, batches, transpose.b);
  const c = batched("c", what.c, batches);
  const [, m, n] = c.shape;
  const [, rows, inner] = a.shape;
  if (rows !== m || b.shape[1] !== inner || b.shape[2] !== n)
    throw new LaunchError(
      `gemm of ${shown(a, transpose.a)} and ${shown(b, transpose.b)} into ${m} x ${n}: give a of m x k, b of k x n and c of m x n, or transpose: { a: true }`,
    );
  const plan = what.library !== undefined ? planByLibrary(what.library) : device.memory === CPU_MEMORY ? planPanels : planSquares;
  return makePattern(device, options, (steps) => {
    if (c.size > 0) plan(steps, { a, b, c, alpha, beta });
  });
}

const shown = ({ shape }: View, transposed = false): string => `${shape[1]} x ${shape[2]}${transposed ? " (transposed)" : ""}`;

/** Throws LaunchError. */
function requireMatrix(name: string, matrix: View<MatrixType>, c: View<MatrixType>): void {
  requireView(`gemm, for ${name},`, matrix);
  if (matrix.type !== "f64" && matrix.type !== "f32")
    throw new LaunchError(`gemm: ${name} is a view of ${String(matrix.type)}: give f64 or f32`);
  if (matrix.type !== c.type) throw new LaunchError(`gemm: ${name} is of ${matrix.type} and c of ${c.type}: types must be equal`);
  if (matrix.rank !== 2 && matrix.rank !== 3)
    throw new LaunchError(`gemm: ${name} has shape [${matrix.shape}]: give a view of rank 2, or of rank 3 for a batch`);
}

/** A matrix for each of a batch. Throws LaunchError where there are others. */
function batched(name: string, matrix: View<MatrixType>, batches: number, transposed = false): View<MatrixType, 3> {
  const { buffer, type, shape, strides, offset } = matrix;
  if (matrix.rank === 3 && shape[0] !== batches)
    throw new LaunchError(`gemm: ${name} has ${shape[0]} matrices and c ${batches}: give as many, or a view of rank 2 for all`);
  const order = transposed ? [-1, -2] : [-2, -1];
  const of = (list: readonly number[]) => order.map((axis) => list.at(axis)!);
  return new View(buffer, type, [batches, ...of(shape)], [matrix.rank === 3 ? strides[0] : 0, ...of(strides)], offset);
}

interface Product {
  readonly a: View<MatrixType, 3>;
  readonly b: View<MatrixType, 3>;
  readonly c: View<MatrixType, 3>;
  readonly alpha: number;
  readonly beta: number;
}

/** Extents of tiles of sums, as far as matrices are that large, and numbers k that a tile takes at once: what the first cache holds. */
const HEIGHT = 64;
const WIDTH = 16;
const DEPTH = 128;

/** The least power of two from `least` to `most` that is not below a number, or `most`. */
const tileOf = (extent: number, least: number, most: number): number => Math.min(most, Math.max(least, 2 ** Math.ceil(Math.log2(extent))));
const upTo = (extent: number, part: number): number => Math.ceil(extent / part) * part;

function planPanels(steps: PatternSteps, { a, b, c, alpha, beta }: Product): void {
  const { type } = c;
  const [batches, m, n] = c.shape;
  const inner = upTo(b.shape[1], PRODUCTS);
  const [height, width] = [tileOf(m, GROUP_ROWS, HEIGHT), tileOf(n, 8, WIDTH)];
  const [down, across] = [Math.ceil(m / height), Math.ceil(n / width)];
  const isWhole = m % height === 0 && inner === b.shape[1];
  const rows = isWhole ? a : steps.array(type, batches * down * height * inner).reshape(batches, down * height, inner);
  if (!isWhole) steps.launch(padRows[type], { matrix: a, padded: rows, m, n: b.shape[1] } as never, range(batches, down * height, inner));
  const panels = steps.array(type, batches * across * inner * width).reshape(batches, across, inner, width);
  steps.launch(packPanels[type], { matrix: b, panels, m: b.shape[1], n, width } as never, range(batches, across, inner, width));
  const shape = { height, width, depth: DEPTH, GROUP_ROWS, PRODUCTS };
  steps.launch(
    multiplyPanels[type],
    { a: rows, panels, c, alpha, beta, adds: beta !== 0, ...shape } as never,
    teams(batches * down * across),
  );
}

/** The product by a library. Throws LaunchError for another one, where the device does not run it, and in modes whose order of sums it does not keep. */
const planByLibrary =
  (library: string) =>
  (steps: PatternSteps, product: Product): void => {
    const { device } = steps;
    if (library !== "cublas") throw new LaunchError(`gemm has no library "${library}": give "cublas", or leave out library`);
    const asked = 'gemm with library "cublas"';
    if (!device.cublas) throw new LaunchError(`${asked} on ${device.name}: cuBLAS multiplies on CUDA devices: leave out library`);
    if (steps.precision === "strict" || device.deterministic)
      throw new LaunchError(
        `${asked} in ${device.deterministic ? "a deterministic launch" : "strict mode"}: the order of its sums is its own: use fast mode, or leave out library`,
      );
    steps.add(device.cublas(product, multiplySquares[product.c.type]));
  };

/** Devices whose members keep 8 x 8 sums in registers; others have them in memory of a team, which has room for 4 x 4. */
const WITH_REGISTERS: readonly string[] = ["cuda", "hip"];

function planSquares(steps: PatternSteps, { a, b, c, alpha, beta }: Product): void {
  const [batches, m, n] = c.shape;
  const longest = Math.max(m, n);
  const each = longest <= 16 ? 2 : WITH_REGISTERS.includes(steps.device.backend) && longest > 32 ? 8 : 4;
  const league = batches * Math.ceil(m / (8 * each)) * Math.ceil(n / (8 * each));
  steps.launch(
    multiplySquares[c.type],
    { a, b, c, alpha, beta, adds: beta !== 0, each, group: Math.min(each, 4), TILE_MEMBERS } as never,
    teams(league, { size: TILE_MEMBERS }),
  );
}
