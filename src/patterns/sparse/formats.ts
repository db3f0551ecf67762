import type { Device } from "../../device/device.js";
import { range, teams } from "../../device/launch/policy.js";
import { CPU_MEMORY, type View } from "../../device/memory/view.js";
import { ELEMENTS } from "../../ir/scalars.js";
import type { PatternSteps } from "../pattern.js";
import {
  LANES_OF_ROW,
  ROWS_OF_TEAM,
  multiplyBlocks,
  multiplyBlocksForAll,
  multiplyEachRow,
  multiplyRowsByLanes,
  multiplyRowsForAll,
  multiplyRowsOfBlocks,
  multiplySlices,
  multiplySlicesForAll,
} from "./product-kernels.js";
import type { CompressedRows, SparseType } from "./rows.js";

/** y = alpha A x + beta y, its arguments checked; `x` and `y` are both of rank 1, or both of rank 2. */
interface SparseProductPlan {
  readonly x: View<SparseType>;
  readonly y: View<SparseType>;
  readonly alpha: number;
  readonly beta: number;
}

/** A matrix in a device's memory. */
export interface SparseStorage {
  /** Bytes that a product reads of it. */
  readonly bytes: number;
  /** Elements that a product multiplies. */
  readonly elements: number;
  readonly views: readonly View[];
  /** Other values for the same elements. */
  update(values: CompressedRows["values"]): void;
  plan(steps: PatternSteps, product: SparseProductPlan): void;
}

/** Makes views of host arrays; an empty one has one element. */
const uploader =
  (device: Device, views: View[]) =>
  <T extends "i32" | SparseType>(type: T, data: ArrayLike<number>): View<T, 1> => {
    const token = { type };
    const view = data.length > 0 ? device.from(token, data) : device.array(token, 1);
    views.push(view);
    return view;
  };

const write = (device: Device, view: View, values: CompressedRows["values"]): void => {
  if (values.length > 0) device.queue.write(view, values);
};

/** Work of a product: elements, vectors, and what else is read. */
function costOf({ bytes, elements }: Pick<SparseStorage, "bytes" | "elements">, { x, y, beta }: SparseProductPlan) {
  const each = x.type === "f64" ? 8 : 4;
  const [columns, rows] = [x, y].map(({ size }) => size);
  const sides = y.rank === 2 ? y.shape[1] : 1;
  return {
    flops: 2 * elements * sides + rows * (beta === 0 ? 1 : 3),
    bytes: bytes + each * (columns + rows * (beta === 0 ? 1 : 2)),
  };
}

const argumentsOf = ({ x, y, alpha, beta }: SparseProductPlan) => ({ x, y, alpha, beta, adds: beta !== 0 });

/** Compressed rows as they are. */
export function storeRows(device: Device, { shape, offsets, columns, values }: CompressedRows, type: SparseType): SparseStorage {
  const views: View[] = [];
  const upload = uploader(device, views);
  const matrix = { offsets: upload("i32", offsets), columns: upload("i32", columns), values: upload(type, values) };
  const work = { bytes: 4 * shape[0] + columns.length * (4 + ELEMENTS[type].array.BYTES_PER_ELEMENT), elements: columns.length };
  return {
    ...work,
    views,
    update: (next) => write(device, matrix.values, next),
    plan(steps, product) {
      const args = { ...matrix, ...argumentsOf(product) };
      const cost = costOf(work, product);
      if (product.y.rank === 2) steps.launch(multiplyRowsForAll[type], args as never, range(shape[0], product.y.shape[1]), { cost });
      else if (device.memory === CPU_MEMORY) steps.launch(multiplyEachRow[type], args as never, range(shape[0]), { cost });
      else {
        const policy = teams(Math.ceil(shape[0] / ROWS_OF_TEAM), { lanes: LANES_OF_ROW });
        steps.launch(multiplyRowsByLanes[type], { ...args, ROWS_OF_TEAM } as never, policy, { cost });
      }
    },
  };
}

/** Rows of a slice: a warp, or the vectors of a CPU, which then stores fewer gaps. */
const SLICE = { gpu: 32, cpu: 8 };
/** Neighbouring rows that are sorted by length, so that rows of a slice have similar ones. */
const SORTED_ROWS = 256;

/**
 * Slices of rows, the first elements of its rows side by side, then the second ones and so on (SELL-C-sigma, Kreutzer, Hager, Wellein, Fehske and Bishop 2014).
 */
export function storeSlices(device: Device, matrix: CompressedRows, type: SparseType): SparseStorage {
  const height = device.memory === CPU_MEMORY ? SLICE.cpu : SLICE.gpu;
  const views: View[] = [];
  const upload = uploader(device, views);
  const rows = matrix.shape[0];
  const { starts, lengths, rowAt, columns, values } = slicesOf(matrix, height);
  const stored = {
    starts: upload("i32", starts),
    lengths: upload("i32", lengths),
    rowAt: upload("i32", rowAt),
    columns: upload("i32", columns),
    values: upload(type, values),
  };
  const elements = matrix.columns.length;
  const work = { bytes: 8 * rows + 4 * starts.length + elements * (4 + ELEMENTS[type].array.BYTES_PER_ELEMENT), elements };
  return {
    ...work,
    views,
    update: (next) => write(device, stored.values, slicesOf({ ...matrix, values: next }, height).values),
    plan(steps, product) {
      const args = { ...stored, height, ...argumentsOf(product) };
      const cost = costOf(work, product);
      if (product.y.rank === 2) steps.launch(multiplySlicesForAll[type], args as never, range(rows, product.y.shape[1]), { cost });
      else steps.launch(multiplySlices[type], args as never, range(rows), { cost });
    },
  };
}

function slicesOf({ shape, offsets, columns, values }: CompressedRows, height: number) {
  const rows = shape[0];
  const lengthOf = (row: number): number => offsets[row + 1] - offsets[row];
  const rowAt = Int32Array.from({ length: rows }, (_, row) => row);
  for (let first = 0; first < rows; first += SORTED_ROWS)
    rowAt.subarray(first, first + SORTED_ROWS).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const lengths = rowAt.map(lengthOf);
  const starts = new Int32Array(Math.ceil(rows / height) + 1);
  for (let slice = 0; slice + 1 < starts.length; slice++) {
    const longest = lengths.subarray(slice * height, (slice + 1) * height).reduce((a, b) => Math.max(a, b), 0);
    starts[slice + 1] = starts[slice] + longest * height;
  }
  const total = starts[starts.length - 1];
  const [slicedColumns, slicedValues] = [new Int32Array(total), new (values.constructor as Float64ArrayConstructor)(total)];
  for (let place = 0; place < rows; place++) {
    const first = starts[Math.floor(place / height)] + (place % height);
    for (let k = 0; k < lengths[place]; k++) {
      slicedColumns[first + k * height] = columns[offsets[rowAt[place]] + k];
      slicedValues[first + k * height] = values[offsets[rowAt[place]] + k];
    }
  }
  return { starts, lengths, rowAt, columns: slicedColumns, values: slicedValues };
}

/** Compressed rows of dense blocks; missing elements of a block are stored as zeros. */
export function storeBlocks(device: Device, matrix: CompressedRows, type: SparseType, side: number): SparseStorage {
  const views: View[] = [];
  const upload = uploader(device, views);
  const rows = matrix.shape[0];
  const { offsets, columns, values } = blocksOf(matrix, side);
  const stored = { offsets: upload("i32", offsets), columns: upload("i32", columns), values: upload(type, values), side };
  const work = { bytes: 4 * (rows / side) + 4 * columns.length + values.byteLength, elements: values.length };
  return {
    ...work,
    views,
    update: (next) => write(device, stored.values, blocksOf({ ...matrix, values: next }, side).values),
    plan(steps, product) {
      const args = { ...stored, ...argumentsOf(product) };
      const cost = costOf(work, product);
      if (product.y.rank === 2) steps.launch(multiplyBlocksForAll[type], args as never, range(rows, product.y.shape[1]), { cost });
      else if (device.memory === CPU_MEMORY) steps.launch(multiplyBlocks[type], args as never, range(rows / side), { cost });
      else steps.launch(multiplyRowsOfBlocks[type], args as never, range(rows), { cost });
    },
  };
}

function blocksOf({ shape, offsets, columns, values }: CompressedRows, side: number) {
  const blockRows = shape[0] / side;
  const starts = new Int32Array(blockRows + 1);
  /** The last row of blocks that had a block in this column, plus 1, and where that block is. */
  const seen = new Int32Array(shape[1] / side);
  const blockColumns: number[] = [];
  for (let blockRow = 0; blockRow < blockRows; blockRow++) {
    const found: number[] = [];
    for (let k = offsets[blockRow * side]; k < offsets[(blockRow + 1) * side]; k++) {
      const column = Math.floor(columns[k] / side);
      if (seen[column] === blockRow + 1) continue;
      seen[column] = blockRow + 1;
      found.push(column);
    }
    for (const column of found.sort((a, b) => a - b)) blockColumns.push(column);
    starts[blockRow + 1] = blockColumns.length;
  }
  const blocks = new (values.constructor as Float64ArrayConstructor)(blockColumns.length * side * side);
  const placeOf = new Int32Array(shape[1] / side);
  for (let blockRow = 0; blockRow < blockRows; blockRow++) {
    for (let k = starts[blockRow]; k < starts[blockRow + 1]; k++) placeOf[blockColumns[k]] = k;
    for (let row = blockRow * side; row < (blockRow + 1) * side; row++)
      for (let k = offsets[row]; k < offsets[row + 1]; k++)
        blocks[(placeOf[Math.floor(columns[k] / side)] * side + (row % side)) * side + (columns[k] % side)] = values[k];
  }
  return { offsets: starts, columns: Int32Array.from(blockColumns), values: blocks };
}
