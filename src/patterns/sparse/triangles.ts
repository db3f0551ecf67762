import { LaunchError } from "../../base/errors.js";
import { range, teams } from "../../device/launch/policy.js";
import { CPU_MEMORY, type View } from "../../device/memory/view.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { bool, fixed, i32, view } from "../../kernel/declare/params.js";
import type { PatternSteps } from "../pattern.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import type { CompressedRows, SparseType } from "./rows.js";

/*
 * Solves with a triangle of a sparse matrix. Rows that need no others make level 0; a row's level is one more than the greatest of the rows that it needs.
 * Rows of a level are solved in parallel, levels one after the other.
 */

/** Which triangle, and the vectors; b may be x. */
interface TrianglePlan {
  readonly triangle: "lower" | "upper";
  readonly unitDiagonal: boolean;
  readonly b: View<SparseType, 1>;
  readonly x: View<SparseType, 1>;
}

const triangleOf = (type: SparseType) => ({
  rowAt: view(i32),
  starts: view(i32),
  columns: view(i32),
  values: view(FLOAT_TOKENS[type]),
  diagonal: view(FLOAT_TOKENS[type]),
  x: view(FLOAT_TOKENS[type], 1, { disjoint: true }),
  unitDiagonal: fixed(bool),
});

/** The rows of a wide level. Products are added in rising order of the columns. */
const solveLevel = bothTypes((type) =>
  kernel("sparseLevel", triangleOf(type), ({ rowAt, starts, columns, values, diagonal, x, unitDiagonal }, place) => {
    let sum = 0;
    for (let k = starts[place]; k < starts[place + 1]; k++) sum += values[k] * x[columns[k]];
    const rest = x[rowAt[place]] - sum;
    x[rowAt[place]] = unitDiagonal ? rest : rest / diagonal[place];
  }),
);

/** Narrow levels, by one team, whose members wait for each other after each. */
const solveLevels = bothTypes((type) =>
  teamKernel(
    "sparseLevels",
    { ...triangleOf(type), levels: view(i32), begin: i32, end: i32 },
    ({ rowAt, starts, columns, values, diagonal, x, unitDiagonal, levels, begin, end }, team) => {
      for (let level = begin; level < end; level++) {
        const first = levels[level];
        team.range(levels[level + 1] - first, (j) => {
          const place = first + j;
          let sum = 0;
          for (let k = starts[place]; k < starts[place + 1]; k++) sum += values[k] * x[columns[k]];
          const rest = x[rowAt[place]] - sum;
          x[rowAt[place]] = unitDiagonal ? rest : rest / diagonal[place];
        });
      }
    },
  ),
);

const copyVector = bothTypes((type) =>
  kernel("sparseCopy", { from: view(FLOAT_TOKENS[type]), to: view(FLOAT_TOKENS[type]) }, ({ from, to }, i) => {
    to[i] = from[i];
  }),
);

/** Rows from which a level is a launch of its own: fewer are done sooner by one team. */
const WIDE = { cpu: 4096, gpu: 1024 };
const TEAM = 256;

/** Adds the launches of a solve. Throws LaunchError for a diagonal element that is missing or 0. */
export function planTriangle(steps: PatternSteps, matrix: CompressedRows, type: SparseType, plan: TrianglePlan): void {
  const { b, x, unitDiagonal } = plan;
  const n = matrix.shape[0];
  if (n === 0) return;
  const { levels, ...places } = levelsOf(matrix, plan);
  const upload = <T extends "i32" | SparseType>(kind: T, data: ArrayLike<number>): View<T, 1> => {
    const token = { type: kind };
    return steps.own(data.length > 0 ? steps.device.from(token, data) : steps.device.array(token, 1));
  };
  const stored = {
    rowAt: upload("i32", places.rowAt),
    starts: upload("i32", places.starts),
    columns: upload("i32", places.columns),
    values: upload(type, places.values),
    diagonal: upload(type, places.diagonal),
    x,
    unitDiagonal,
  };
  const same = b.buffer === x.buffer && b.offset === x.offset && b.strides[0] === x.strides[0];
  if (!same) steps.launch(copyVector[type], { from: b, to: x } as never, range(n));
  const each = type === "f64" ? 8 : 4;
  const elements = places.columns.length;
  const costOfRows = (first: number, end: number) => {
    const inside = places.starts[end] - places.starts[first];
    return { flops: 2 * inside + (unitDiagonal ? 1 : 2) * (end - first), bytes: inside * (4 + each) + (end - first) * (8 + 3 * each) };
  };
  const wide = steps.device.memory === CPU_MEMORY ? WIDE.cpu : WIDE.gpu;
  const levelViews = upload("i32", levels);
  const isWide = (level: number): boolean => levels[level + 1] - levels[level] >= wide;
  for (let level = 0; level + 1 < levels.length;) {
    let end = level + 1;
    if (!isWide(level)) while (end + 1 < levels.length && !isWide(end)) end++;
    const cost = costOfRows(levels[level], levels[end]);
    if (isWide(level) || elements === 0) steps.launch(solveLevel[type], stored as never, range([levels[level], levels[end]]), { cost });
    else steps.launch(solveLevels[type], { ...stored, levels: levelViews, begin: level, end } as never, teams(1, { size: TEAM }), { cost });
    level = end;
  }
}

/** The rows of a triangle by level; `levels` has the place of each level's first row, and the end. */
function levelsOf(matrix: CompressedRows, { triangle, unitDiagonal }: TrianglePlan) {
  const { shape, offsets, columns, values } = matrix;
  const n = shape[0];
  const inTriangle = (row: number, column: number): boolean => (triangle === "lower" ? column < row : column > row);
  const levelAt = new Int32Array(n);
  const counts = [0];
  const diagonalAt = new Float64Array(n);
  let elements = 0;
  for (let turn = 0; turn < n; turn++) {
    const row = triangle === "lower" ? turn : n - 1 - turn;
    let level = 0;
    for (let k = offsets[row]; k < offsets[row + 1]; k++) {
      if (columns[k] === row) diagonalAt[row] = values[k];
      if (!inTriangle(row, columns[k])) continue;
      level = Math.max(level, levelAt[columns[k]] + 1);
      elements++;
    }
    if (!unitDiagonal && diagonalAt[row] === 0)
      throw new LaunchError(
        `sparse solve: the diagonal element of row ${row} is 0 or missing: give a matrix with a whole diagonal, or unitDiagonal: true`,
      );
    levelAt[row] = level;
    counts[level + 1] = (counts[level + 1] ?? 0) + 1;
  }
  for (let level = 1; level < counts.length; level++) counts[level] += counts[level - 1];
  const next = counts.slice();
  const rowAt = new Int32Array(n);
  for (let row = 0; row < n; row++) rowAt[next[levelAt[row]]++] = row;
  const starts = new Int32Array(n + 1);
  const [placedColumns, placedValues] = [new Int32Array(elements), new Float64Array(elements)];
  let at = 0;
  for (let place = 0; place < n; place++) {
    const row = rowAt[place];
    for (let k = offsets[row]; k < offsets[row + 1]; k++)
      if (inTriangle(row, columns[k])) {
        placedColumns[at] = columns[k];
        placedValues[at++] = values[k];
      }
    starts[place + 1] = at;
  }
  const diagonal = Float64Array.from(rowAt, (row) => diagonalAt[row]);
  return { levels: Int32Array.from(counts), rowAt, starts, columns: placedColumns, values: placedValues, diagonal };
}
