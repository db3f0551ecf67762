import { ELEMENTS } from "../../ir/scalars.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { bool, fixed, i32, view } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import type { SparseType } from "./rows.js";

/*
 * Products of sparse matrices. The order of a row's sum depends on the format alone, so that all devices give the same bits in strict mode.
 */

const factors = (type: SparseType) => ({
  alpha: FLOAT_TOKENS[type],
  beta: FLOAT_TOKENS[type],
  /** Whether beta times the old value of y is added. */
  adds: fixed(bool),
});

const vectors = (type: SparseType) => ({
  x: view(FLOAT_TOKENS[type]),
  y: view(FLOAT_TOKENS[type], 1, { disjoint: true }),
  ...factors(type),
});

/** x and y with a column for each of several right sides. */
const several = (type: SparseType) => ({
  x: view(FLOAT_TOKENS[type], 2),
  y: view(FLOAT_TOKENS[type], 2, { disjoint: true }),
  ...factors(type),
});

const compressed = (type: SparseType) => ({ offsets: view(i32), columns: view(i32), values: view(FLOAT_TOKENS[type]) });

/** The order of `lanes.sum`, by hand: a CPU takes it in one loop over rows. */
export const multiplyEachRow = bothTypes((type) =>
  kernel("sparseRows", { ...compressed(type), ...vectors(type) }, ({ offsets, columns, values, x, y, alpha, beta, adds }, row) => {
    const end = offsets[row + 1];
    let k = offsets[row];
    let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (; k + 8 <= end; k += 8) {
      s0 += values[k] * x[columns[k]];
      s1 += values[k + 1] * x[columns[k + 1]];
      s2 += values[k + 2] * x[columns[k + 2]];
      s3 += values[k + 3] * x[columns[k + 3]];
      s4 += values[k + 4] * x[columns[k + 4]];
      s5 += values[k + 5] * x[columns[k + 5]];
      s6 += values[k + 6] * x[columns[k + 6]];
      s7 += values[k + 7] * x[columns[k + 7]];
    }
    if (k < end) s0 += values[k] * x[columns[k]];
    if (k + 1 < end) s1 += values[k + 1] * x[columns[k + 1]];
    if (k + 2 < end) s2 += values[k + 2] * x[columns[k + 2]];
    if (k + 3 < end) s3 += values[k + 3] * x[columns[k + 3]];
    if (k + 4 < end) s4 += values[k + 4] * x[columns[k + 4]];
    if (k + 5 < end) s5 += values[k + 5] * x[columns[k + 5]];
    if (k + 6 < end) s6 += values[k + 6] * x[columns[k + 6]];
    const product = alpha * (s0 + s4 + (s2 + s6) + (s1 + s5 + (s3 + s7)));
    y[row] = adds ? product + beta * y[row] : product;
  }),
);

/** Rows of a team, each with eight lanes that read side by side. */
export const ROWS_OF_TEAM = 32;
export const LANES_OF_ROW = 8;

/** The same on GPUs. */
export const multiplyRowsByLanes = bothTypes((type) =>
  teamKernel(
    "sparseRows",
    { ...compressed(type), ...vectors(type), ROWS_OF_TEAM: fixed(i32) },
    ({ offsets, columns, values, x, y, alpha, beta, adds, ROWS_OF_TEAM }, team) => {
      team.range(ROWS_OF_TEAM, (j, lanes) => {
        const row = team.index * ROWS_OF_TEAM + j;
        if (row >= y.length) return;
        const first = offsets[row];
        const product = alpha * lanes.sum(offsets[row + 1] - first, (k) => values[first + k] * x[columns[first + k]]);
        y[row] = adds ? product + beta * y[row] : product;
      });
    },
  ),
);

/** The same for several right sides, in the same order. */
export const multiplyRowsForAll = bothTypes((type) =>
  kernel("sparseRows", { ...compressed(type), ...several(type) }, ({ offsets, columns, values, x, y, alpha, beta, adds }, row, j) => {
    const end = offsets[row + 1];
    let k = offsets[row];
    let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (; k + 8 <= end; k += 8) {
      s0 += values[k] * x[columns[k]][j];
      s1 += values[k + 1] * x[columns[k + 1]][j];
      s2 += values[k + 2] * x[columns[k + 2]][j];
      s3 += values[k + 3] * x[columns[k + 3]][j];
      s4 += values[k + 4] * x[columns[k + 4]][j];
      s5 += values[k + 5] * x[columns[k + 5]][j];
      s6 += values[k + 6] * x[columns[k + 6]][j];
      s7 += values[k + 7] * x[columns[k + 7]][j];
    }
    if (k < end) s0 += values[k] * x[columns[k]][j];
    if (k + 1 < end) s1 += values[k + 1] * x[columns[k + 1]][j];
    if (k + 2 < end) s2 += values[k + 2] * x[columns[k + 2]][j];
    if (k + 3 < end) s3 += values[k + 3] * x[columns[k + 3]][j];
    if (k + 4 < end) s4 += values[k + 4] * x[columns[k + 4]][j];
    if (k + 5 < end) s5 += values[k + 5] * x[columns[k + 5]][j];
    if (k + 6 < end) s6 += values[k + 6] * x[columns[k + 6]][j];
    const product = alpha * (s0 + s4 + (s2 + s6) + (s1 + s5 + (s3 + s7)));
    y[row][j] = adds ? product + beta * y[row][j] : product;
  }),
);

const sliced = (type: SparseType) => ({
  starts: view(i32),
  lengths: view(i32),
  rowAt: view(i32),
  columns: view(i32),
  values: view(FLOAT_TOKENS[type]),
  height: fixed(i32),
});

/** A row of a slice: neighbours of it read neighbours. Elements are added in rising order of the columns. */
export const multiplySlices = bothTypes((type) =>
  kernel(
    "sparseSlices",
    { ...sliced(type), ...vectors(type) },
    ({ starts, lengths, rowAt, columns, values, height, x, y, alpha, beta, adds }, place) => {
      const first = starts[Math.floor(place / height)] + (place % height);
      let sum = 0;
      for (let k = 0; k < lengths[place]; k++) sum += values[first + k * height] * x[columns[first + k * height]];
      const product = alpha * sum;
      y[rowAt[place]] = adds ? product + beta * y[rowAt[place]] : product;
    },
  ),
);

export const multiplySlicesForAll = bothTypes((type) =>
  kernel(
    "sparseSlices",
    { ...sliced(type), ...several(type) },
    ({ starts, lengths, rowAt, columns, values, height, x, y, alpha, beta, adds }, place, j) => {
      const first = starts[Math.floor(place / height)] + (place % height);
      let sum = 0;
      for (let k = 0; k < lengths[place]; k++) sum += values[first + k * height] * x[columns[first + k * height]][j];
      const product = alpha * sum;
      y[rowAt[place]][j] = adds ? product + beta * y[rowAt[place]][j] : product;
    },
  ),
);

/** Compressed rows of blocks of `side` x `side`, each row by row. */
const blocked = (type: SparseType) => ({ ...compressed(type), side: fixed(i32) });

/** A row of blocks on CPUs: what is read of x serves all rows of a block. Each sum goes over rising columns, zeros of the blocks included. */
export const multiplyBlocks = bothTypes((type) =>
  kernel(
    "sparseBlocks",
    { ...blocked(type), ...vectors(type), Real: ELEMENTS[type].array as unknown as Float64ArrayConstructor },
    ({ offsets, columns, values, side, x, y, alpha, beta, adds, Real }, blockRow) => {
      const sums = new Real(side);
      for (let k = offsets[blockRow]; k < offsets[blockRow + 1]; k++)
        for (let t = 0; t < side; t++) {
          const factor = x[columns[k] * side + t];
          for (let i = 0; i < side; i++) sums[i] += values[(k * side + i) * side + t] * factor;
        }
      for (let i = 0; i < side; i++) {
        const row = blockRow * side + i;
        y[row] = adds ? alpha * sums[i] + beta * y[row] : alpha * sums[i];
      }
    },
  ),
);

/** A row on GPUs. */
export const multiplyRowsOfBlocks = bothTypes((type) =>
  kernel("sparseBlocks", { ...blocked(type), ...vectors(type) }, ({ offsets, columns, values, side, x, y, alpha, beta, adds }, row) => {
    const [blockRow, i] = [Math.floor(row / side), row % side];
    let sum = 0;
    for (let k = offsets[blockRow]; k < offsets[blockRow + 1]; k++)
      for (let t = 0; t < side; t++) sum += values[(k * side + i) * side + t] * x[columns[k] * side + t];
    const product = alpha * sum;
    y[row] = adds ? product + beta * y[row] : product;
  }),
);

export const multiplyBlocksForAll = bothTypes((type) =>
  kernel("sparseBlocks", { ...blocked(type), ...several(type) }, ({ offsets, columns, values, side, x, y, alpha, beta, adds }, row, j) => {
    const [blockRow, i] = [Math.floor(row / side), row % side];
    let sum = 0;
    for (let k = offsets[blockRow]; k < offsets[blockRow + 1]; k++)
      for (let t = 0; t < side; t++) sum += values[(k * side + i) * side + t] * x[columns[k] * side + t][j];
    const product = alpha * sum;
    y[row][j] = adds ? product + beta * y[row][j] : product;
  }),
);
