import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import type { GridOptions } from "./options.js";

/** Cells of a block, unless one plane has more. */
const BLOCK_CELLS = 2 ** 20;

/** Bytes of the largest mask that is made whole. */
const WHOLE_MASK = 2 ** 30;

/** Cells of several planes: runs of inactive and active cells by turns, by where each ends, the first of inactive ones; or a bit for each cell. */
type Block = { readonly ends: Uint32Array } | { readonly bits: Uint8Array };

/**
 * Which cells of a box are active, by planes of the last axis. It holds runs or bits, whichever is smaller, so that no host has a byte for each cell of
 * a large box.
 */
export class Activity {
  /** Active cells of each plane. */
  readonly planes: readonly number[];
  readonly cells: number;
  private whole: Uint8Array | undefined;
  /** Bytes of the block that was asked for last. */
  private expanded: { readonly number: number; readonly bytes: Uint8Array } | undefined;

  /**
   * @param extents cells along x, y (and z)
   * @param planeSize cells of a plane
   * @param blockPlanes planes of a block, but for the last one
   * @param blocks undefined where every cell is active
   */
  private constructor(
    readonly extents: readonly number[],
    readonly planeSize: number,
    private readonly blockPlanes: number,
    private readonly blocks: readonly Block[] | undefined,
    planes: readonly number[],
  ) {
    this.planes = planes;
    this.cells = planes.reduce((a, b) => a + b, 0);
  }

  /** All cells of a box, which must have at least one. */
  static full(extents: readonly number[]): Activity {
    const planeSize = planeSizeOf(extents);
    return new Activity(extents, planeSize, 1, undefined, Array<number>(extents.at(-1)!).fill(planeSize));
  }

  /**
   * Asks for one block at a time.
   * @param fill sets the bytes of planes from `first` on to 1 for active cells; they are 0
   */
  static from(extents: readonly number[], fill: (bytes: Uint8Array, first: number) => void): Activity {
    const planeSize = planeSizeOf(extents);
    const last = extents.at(-1)!;
    const blockPlanes = Math.max(1, Math.floor(BLOCK_CELLS / planeSize));
    const planes: number[] = [];
    const blocks: Block[] = [];
    const bytes = new Uint8Array(Math.min(blockPlanes, last) * planeSize);
    for (let first = 0; first < last; first += blockPlanes) {
      const end = Math.min(first + blockPlanes, last);
      const block = bytes.subarray(0, (end - first) * planeSize).fill(0);
      fill(block, first);
      for (let at = 0; at < block.length; at += planeSize) planes.push(count(block, at, at + planeSize));
      blocks.push(packed(block));
    }
    const isFull = planes.every((cells) => cells === planeSize);
    return new Activity(extents, planeSize, blockPlanes, isFull ? undefined : blocks, planes);
  }

  /** Every cell is active. */
  get isFull(): boolean {
    return this.blocks === undefined;
  }

  /** Bytes of a plane, 1 for active cells; the next call may overwrite them. */
  plane(plane: number): Uint8Array {
    const number = Math.floor(plane / this.blockPlanes);
    const { bytes } = this.expand(number);
    const at = (plane - number * this.blockPlanes) * this.planeSize;
    return bytes.subarray(at, at + this.planeSize);
  }

  /** Bytes of the planes [first, end), 1 for active cells, as a new array. */
  bytes(first: number, end: number): Uint8Array {
    const bytes = new Uint8Array((end - first) * this.planeSize);
    for (let plane = first; plane < end; plane++) bytes.set(this.plane(plane), (plane - first) * this.planeSize);
    return bytes;
  }

  /** Bytes that differ where cells do, for boxes of the same extents. */
  *digestible(): Generator<Uint8Array> {
    for (const block of this.blocks ?? []) {
      const kept = "bits" in block ? block.bits : block.ends;
      yield new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength);
    }
  }

  /** Whether the cell at a place of a plane is active. */
  has(plane: number, place: number): boolean {
    return this.blocks === undefined || this.plane(plane)[place] === 1;
  }

  /** Visits the longest runs [begin, end) of active cells of a plane, by place in the plane. */
  eachRun(plane: number, visit: (begin: number, end: number) => void): void {
    if (this.blocks === undefined) return visit(0, this.planeSize);
    const number = Math.floor(plane / this.blockPlanes);
    const block = this.blocks[number];
    const origin = (plane - number * this.blockPlanes) * this.planeSize;
    const stop = origin + this.planeSize;
    if ("bits" in block) return eachRunOf(block.bits, origin, stop, visit);
    const { ends } = block;
    for (let n = firstAfter(ends, origin); n < ends.length; n++) {
      const begin = Math.max(origin, n === 0 ? 0 : ends[n - 1]);
      if (begin >= stop) return;
      if (n % 2 === 1) visit(begin - origin, Math.min(ends[n], stop) - origin);
    }
  }

  /** Active cells of each row along x, in the planes [first, end) together. */
  rowsIn(first: number, end: number): number[] {
    const [nx] = this.extents;
    const rows = this.planeSize / nx;
    if (this.blocks === undefined) return Array<number>(rows).fill(nx * (end - first));
    const cells = Array<number>(rows).fill(0);
    for (let plane = first; plane < end; plane++)
      this.eachRun(plane, (begin, stop) => {
        for (let at = begin; at < stop;) {
          const row = Math.floor(at / nx);
          const next = Math.min(stop, (row + 1) * nx);
          cells[row] += next - at;
          at = next;
        }
      });
    return cells;
  }

  /** Active cells of a plane before a place. */
  before(plane: number, place: number): number {
    if (this.blocks === undefined) return place;
    let cells = 0;
    this.eachRun(plane, (begin, end) => (cells += Math.max(0, Math.min(end, place) - begin)));
    return cells;
  }

  /**
   * A byte for each cell in (z, y, x) order, kept once made; undefined where every cell is active.
   * @throws LaunchError for a box of more than 1 GiB of them
   */
  get mask(): Uint8Array | undefined {
    if (this.blocks === undefined) return undefined;
    const { length } = this.planes;
    if (length * this.planeSize > WHOLE_MASK)
      throw new LaunchError(
        `the mask of a grid of [${this.extents}] cells has ${length * this.planeSize} bytes, more than 1 GiB; use activity.bytes(first, end) of the grid, which gives some of its planes`,
      );
    return (this.whole ??= this.bytes(0, length));
  }

  private expand(number: number): { readonly bytes: Uint8Array } {
    if (this.expanded?.number === number) return this.expanded;
    const cells = Math.min(this.blockPlanes, this.planes.length - number * this.blockPlanes) * this.planeSize;
    const before = this.expanded?.bytes;
    const bytes = before?.length === cells ? before : new Uint8Array(cells);
    unpack(this.blocks?.[number] ?? { ends: Uint32Array.of(0, cells) }, bytes);
    this.expanded = { number, bytes };
    return this.expanded;
  }
}

const planeSizeOf = (extents: readonly number[]): number => extents.slice(0, -1).reduce((a, b) => a * b, 1);

function count(bytes: Uint8Array, begin: number, end: number): number {
  let sum = 0;
  for (let n = begin; n < end; n++) sum += bytes[n];
  return sum;
}

function packed(bytes: Uint8Array): Block {
  let runs = 1;
  for (let n = 0; n < bytes.length; n++) if (bytes[n] !== (n === 0 ? 0 : bytes[n - 1])) runs++;
  const bits = Math.ceil(bytes.length / 8);
  return runs * Uint32Array.BYTES_PER_ELEMENT <= bits ? { ends: endsOf(bytes, runs) } : { bits: bitsOf(bytes, bits) };
}

function endsOf(bytes: Uint8Array, runs: number): Uint32Array {
  const ends = new Uint32Array(runs);
  let run = 0;
  for (let n = 0; n < bytes.length; n++) if (bytes[n] !== run % 2) ends[run++] = n;
  ends[run] = bytes.length;
  return ends;
}

function bitsOf(bytes: Uint8Array, length: number): Uint8Array {
  const bits = new Uint8Array(length);
  for (let n = 0; n < bytes.length; n++) bits[n >> 3] |= bytes[n] << (n & 7);
  return bits;
}

function unpack(block: Block, bytes: Uint8Array): void {
  if ("bits" in block) {
    for (let n = 0; n < bytes.length; n++) bytes[n] = (block.bits[n >> 3] >> (n & 7)) & 1;
    return;
  }
  let begin = 0;
  block.ends.forEach((end, n) => {
    bytes.fill(n % 2, begin, end);
    begin = end;
  });
}

/** Place of the first end that lies after a cell. */
function firstAfter(ends: Uint32Array, cell: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > cell) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Visits runs of bits in [origin, stop), counted from there. */
function eachRunOf(bits: Uint8Array, origin: number, stop: number, visit: (begin: number, end: number) => void): void {
  let begin = -1;
  for (let n = origin; n <= stop; n++) {
    const isActive = n < stop && (bits[n >> 3] & (1 << (n & 7))) !== 0;
    if (isActive && begin < 0) begin = n;
    if (isActive || begin < 0) continue;
    visit(begin - origin, n - origin);
    begin = -1;
  }
}

/**
 * The activity that a grid is given, asked for in the order (z, y, x).
 * @param extents cells along x, y (and z)
 * @throws LaunchError for invalid extents, a mask of another size, and a domain without an active cell
 */
export function activityOf(extents: readonly number[], active: GridOptions["active"]): Activity {
  if (extents.length < 2 || extents.length > 3 || extents.some((n) => !(Number.isInteger(n) && n >= 1 && n < 2 ** 31)))
    throw new LaunchError(`a grid of [${extents}] cells: give two or three whole numbers from 1 to 2147483647, [nx, ny] or [nx, ny, nz]`);
  if (active === undefined) return Activity.full(extents);
  if (typeof active !== "function" && !ArrayBuffer.isView(active))
    throw new LaunchError(`a grid is given ${describe(active)} for its active cells; give a function of x, y and z, or a Uint8Array`);
  const cells = extents.reduce((a, b) => a * b, 1);
  if (typeof active !== "function" && active.length !== cells)
    throw new LaunchError(
      `a mask of ${active.length} bytes for a grid of [${extents}] cells: give one byte for each of the ${cells} cells`,
    );
  const activity = Activity.from(
    extents,
    typeof active === "function" ? tabulating(active, extents) : copying(active, cells / extents.at(-1)!),
  );
  if (activity.cells === 0)
    throw new LaunchError(`a grid of [${extents}] cells, none of them active: the domain is empty; check \`active\``);
  return activity;
}

const copying =
  (mask: Uint8Array, planeSize: number) =>
  (bytes: Uint8Array, first: number): void => {
    const begin = first * planeSize;
    for (let n = 0; n < bytes.length; n++) bytes[n] = mask[begin + n] ? 1 : 0;
  };

const tabulating =
  (active: (x: number, y: number, z: number) => boolean, [nx, ny, nz]: readonly number[]) =>
  (bytes: Uint8Array, first: number): void => {
    // Planes are rows in two dimensions.
    const rows = nz === undefined ? bytes.length / nx : ny;
    for (let n = 0, plane = first; n < bytes.length; plane++)
      for (let y = 0; y < rows; y++)
        for (let x = 0; x < nx; x++) bytes[n++] = (nz === undefined ? active(x, first + y, 0) : active(x, y, plane)) ? 1 : 0;
  };

/** Whether a cell of twice the size is active: if one of its fine cells is. Quick where it is asked plane after plane. */
export function coarseMask(fine: Activity): (x: number, y: number, z: number) => boolean {
  const [nx, ny] = fine.extents;
  const flat = fine.extents.length === 2;
  /** Bytes of the cells of one coarse plane: of two fine planes, an active cell in either. */
  let known: { readonly plane: number; readonly bytes: Uint8Array } | undefined;
  const pairOf = (plane: number): Uint8Array => {
    if (known?.plane === plane) return known.bytes;
    const bytes = fine.plane(2 * plane).slice();
    if (2 * plane + 1 < fine.planes.length) fine.plane(2 * plane + 1).forEach((byte, n) => (bytes[n] |= byte));
    known = { plane, bytes };
    return bytes;
  };
  const pair = (n: number, extent: number): number[] => [2 * n, 2 * n + 1].filter((cell) => cell < extent);
  return (x, y, z) => {
    const bytes = pairOf(flat ? y : z);
    return (flat ? [0] : pair(y, ny)).some((row) => pair(x, nx).some((cell) => bytes[row * nx + cell] === 1));
  };
}
