import type { Device, Launch, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { BYTES, View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import { kernelFromIR } from "../../kernel/from-ir.js";
import type { Kernel } from "../../kernel/kernel.js";
import { resultSizes } from "../container/axis-exchange.js";
import { LEAF_PLANES, partsOf, push, type Entry, type Part, type PlaneRange } from "../container/fold-order.js";
import type { Container } from "../grid/grid.js";
import { axisFoldCode, LANES, type AxisFoldCode, type FoldShape } from "./axis-fold-code.js";
import { Folding, type Stack } from "./folding.js";

/** A member's code and arguments for the container's cells. */
export interface MemberCells {
  readonly ir: KernelIR;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isGpu: boolean;
}

/** The cells of a member that are folded, along kernel axes. */
export interface FoldedCells {
  /** Coordinates. */
  readonly bounds: readonly (readonly [first: number, end: number])[];
  /** Indices of storage of the cell at coordinates 0. */
  readonly origin: readonly number[];
}

/** Planes of a member where the cut axis is folded, and the stacks that take their entries. */
export interface OwnPlanes {
  readonly range: PlaneRange;
  /** Blocks of each stack. */
  readonly blocks: number;
  /** Entries for which each stack needs room. */
  readonly capacity: number;
}

/** Elements that keep a GPU busy, and a worker of a CPU. */
const [GPU_ELEMENTS, WORKER_ELEMENTS] = [131072, 1024];

/** Bytes of partial results up to which several leaves are folded by one launch. */
const BATCH_BYTES = 2 ** 24;

/** Neighbouring parts that are folded together: all planes of leaves that began in an earlier range, or some leaves. */
type Batch = readonly Part[];

/** The launches that fold the cells of one member. */
export class MemberFolds extends Folding {
  /** By reduction; none where the cut axis stays. */
  readonly stacks: readonly Stack[];
  private readonly sizes: readonly number[];
  private readonly partials: readonly View[];
  private readonly code: AxisFoldCode & { readonly kernel: Kernel };
  /** Empty where planes are not folded into leaves. */
  private readonly batches: readonly Batch[];
  /** Chunks of a launch at most, and cells of each along the chunked axis. */
  private readonly chunks: number;
  private readonly chunk: number;
  private readonly lanes: number;
  private readonly shape: FoldShape;
  /** Indices of storage. */
  private readonly bounds: readonly (readonly [begin: number, end: number])[];

  constructor(
    container: Container,
    precision: Precision,
    device: Device,
    private readonly cells: MemberCells,
    { bounds, origin }: FoldedCells,
    private readonly planes?: OwnPlanes,
  ) {
    super(container, precision, device);
    const folds = container.axisFolds!;
    this.bounds = bounds.map(([first, end], axis) => [first + origin[axis], end + origin[axis]]);
    this.sizes = resultSizes(container, bounds.toReversed());
    const last = bounds.length - 1;
    const stays = bounds.map((_, axis) => folds[0].array.has(last - axis));
    const extents = bounds.map(([begin, end]) => end - begin);
    const axis = stays.findIndex((stay, n) => !stay && n < last);
    this.lanes = stays[last] ? 1 : LANES;
    if (planes && precision === "strict") {
      this.batches = batchesOf(planes.range, this.leavesTogether);
      this.chunk = this.lanes === 1 ? LEAF_PLANES : 1;
      this.chunks = Math.max(...this.batches.map((batch) => this.rowsOf(batch)));
    } else {
      this.batches = [];
      const elements = extents.reduce((count, n, each) => (stays[each] ? count * n : count), this.lanes);
      const wanted = cells.isGpu ? GPU_ELEMENTS : WORKER_ELEMENTS * device.capabilities.parallelism;
      // Chunks would make strict results depend on the device.
      const most = precision === "strict" || axis < 0 ? 1 : extents[axis];
      this.chunk = Math.ceil(extents[axis] / Math.min(most, Math.ceil(wanted / elements)));
      this.chunks = most === 1 ? 1 : Math.ceil(extents[axis] / this.chunk);
    }
    const inLeaves = this.batches.length > 0;
    this.shape = {
      stays,
      chunked: inLeaves || this.chunks > 1 ? axis : undefined,
      byPlanes: inLeaves && this.lanes === 1,
      ragged: !stays[last] && extents[last] % LANES !== 0,
    };
    this.code = codeOf(cells.ir, container, this.shape);
    this.partials = this.sizes.map((size, n) => this.array(n, this.chunks * size * this.lanes));
    this.stacks = planes ? this.sizes.map((size, n) => this.stack(n, size, planes.blocks, planes.capacity)) : [];
  }

  /** Launches that fold all cells into results, without leaves. */
  results(into: (n: number) => View, accumulating = true): Launch[] {
    const { chunks, chunk, lanes } = this;
    const folds = this.partials.map((parts, n) => {
      const view = into(n);
      const [, n1, n2, n3] = view.shape;
      const args = { into: view, parts, n1, n2, n3, each: this.sizes[n], count: chunks, lanes, old: this.old(n, accumulating) };
      return this.prepare(this.kernels(n).parts, args, range(...view.shape));
    });
    return [this.accumulate(this.bounds[0], chunks, chunk), ...folds];
  }

  /** Launches that leave the entries of the member's planes in its stacks. */
  entries(shapeOf: (n: number) => readonly number[]): Launch[] {
    if (this.batches.length === 0) return this.results((n) => inOrder(this.stacks[n].all, shapeOf(n)), false);
    const { lanes, planes } = this;
    const [start] = this.bounds[0];
    let list: readonly Entry[] = [];
    return this.batches.flatMap((batch) => {
      const [first, end] = [batch[0].planes[0], batch.at(-1)!.planes[1]];
      const together = Math.max(...batch.map((part) => part.planes[1] - part.planes[0]));
      const rows = this.rowsOf(batch);
      const storage = [first, end].map((plane) => plane - planes!.range[0] + start) as [number, number];
      const height = list.length;
      const pushed = push(
        list,
        batch.map(({ entry }) => entry),
      );
      list = pushed.list;
      const items = { perItem: lanes === 1 ? 1 : together, count: rows, lanes };
      return [
        this.accumulate(storage, rows, lanes === 1 ? together : 1),
        ...this.partials.map((partials, n) => this.push(n, this.stacks[n], height, partials, pushed, items)),
      ];
    });
  }

  /** Leaves of a batch. */
  private get leavesTogether(): number {
    const bytes = this.sizes.reduce((sum, size, n) => sum + size * BYTES[this.foldOf(n).array.type], 0);
    return Math.max(1, Math.floor(BATCH_BYTES / (bytes * (this.lanes === 1 ? 1 : this.lanes * LEAF_PLANES))));
  }

  /** Values that the accumulation of a batch leaves for each result and lane: one for each leaf or plane where a row has no lanes, else one for each plane. */
  private rowsOf(batch: Batch): number {
    return this.lanes === 1 ? batch.length : batch.at(-1)!.planes[1] - batch[0].planes[0];
  }

  /** Folds some planes, indices of storage, chunk by chunk and lane by lane. */
  private accumulate(planes: readonly [begin: number, end: number], chunks: number, chunk: number): Launch {
    const { code, lanes } = this;
    const { stays } = this.shape;
    const bounds = [planes, ...this.bounds.slice(1)];
    const scalars = Object.fromEntries([
      ...bounds.flatMap(([begin, end], axis) => [
        [code.begin[axis], begin],
        [code.end[axis], end],
      ]),
      ...(code.chunk === undefined ? [] : [[code.chunk, chunk]]),
    ]);
    const views = Object.fromEntries(this.partials.map((_, n) => [code.partials[n], this.partialsView(n, chunks)]));
    const spans = [
      ...(code.chunk === undefined ? [] : [[0, chunks] as const]),
      ...bounds.filter((_, axis) => stays[axis]),
      ...(stays.at(-1) ? [] : [[0, lanes] as const]),
    ];
    return this.prepare(code.kernel, { ...this.cells.args, ...scalars, ...views }, range(...spans));
  }

  /** In memory: [chunk][place along the first axis][component][places along the others][lane]. */
  private partialsView(n: number, chunks: number): View {
    const { bounds, lanes } = this;
    const { stays, chunked } = this.shape;
    const cardinality = this.foldOf(n).params.length;
    const extents = bounds.map(([begin, end], axis) => (stays[axis] ? end - begin : 1));
    const component = extents.slice(1).reduce((a, b) => a * b, lanes);
    const along = extents.map((_, axis) => (axis === 0 ? cardinality * component : extents.slice(axis + 1).reduce((a, b) => a * b, lanes)));
    const kept = [...stays.keys()].filter((axis) => stays[axis]);
    const [chunk, lane] = [chunked === undefined ? [] : [chunks], stays.at(-1) ? [] : [lanes]];
    const shape = [cardinality, ...chunk, ...kept.map((axis) => extents[axis]), ...lane];
    const strides = [component, ...chunk.map(() => this.sizes[n] * lanes), ...kept.map((axis) => along[axis]), ...lane.map(() => 1)];
    const { buffer, type, offset } = this.partials[n];
    return new View(buffer, type, shape, strides, offset);
  }
}

function batchesOf(range: PlaneRange, leaves: number): Batch[] {
  const parts = partsOf(range);
  const firstLeaf = parts.findIndex(({ entry }) => entry.kind !== "plane");
  const single = firstLeaf < 0 ? parts : parts.slice(0, firstLeaf);
  const batches: Batch[] = single.length > 0 ? [single] : [];
  for (let n = single.length; n < parts.length; n += leaves) batches.push(parts.slice(n, n + leaves));
  return batches;
}

/** A row of values as a view of four axes, one row after the other. */
export function inOrder({ buffer, type, offset }: View, shape: readonly number[]): View {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  return new View(buffer, type, shape, strides, offset);
}

const codes = new WeakMap<KernelIR, Map<string, AxisFoldCode & { readonly kernel: Kernel }>>();

function codeOf(ir: KernelIR, container: Container, shape: FoldShape): AxisFoldCode & { readonly kernel: Kernel } {
  const key = JSON.stringify(shape);
  const known = codes.get(ir) ?? new Map<string, AxisFoldCode & { readonly kernel: Kernel }>();
  codes.set(ir, known);
  let code = known.get(key);
  if (!code) {
    const made = axisFoldCode(ir, container.axisFolds!, shape);
    known.set(key, (code = { ...made, kernel: kernelFromIR(made.ir, container.location) }));
  }
  return code;
}
