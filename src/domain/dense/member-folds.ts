import { derive } from "../../cache/derive.js";
import type { Device, Launch, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { BYTES, View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { memberOrder, resultSizes, type CellBounds, type MemberOrder } from "../container/axis-exchange.js";
import { LEAF_PLANES, push, type FoldEntry, type FoldedSpan } from "../container/fold-order.js";
import type { Container } from "../grid/grid.js";
import type { Span } from "../grid/parts.js";
import { SPLIT_ROWS } from "../grid/split.js";
import { axisFoldCode, FOLD_LANES, type AxisFoldCode, type FoldShape } from "./axis-fold-code.js";
import { FoldLaunches, type Stack } from "./folding.js";

/** A member's code and arguments for the container's cells. */
export interface MemberCells {
  readonly ir: KernelIR;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isGpu: boolean;
  /** Indices of storage of the cell at coordinates 0, along kernel axes. */
  readonly origin: readonly number[];
}

/** Elements that keep a GPU busy, and a worker of a CPU. */
const [GPU_ELEMENTS, WORKER_ELEMENTS] = [131072, 1024];

/** Bytes of partial results up to which several leaves are folded by one launch. */
const BATCH_BYTES = 2 ** 24;

/** Neighbouring parts that are folded together: all planes of leaves that began in an earlier range, or some leaves. */
type Batch = readonly FoldedSpan[];

/** Chunks along an axis: where the first begins, as an index of storage, maybe before the cells; cells of each; and how many there are. */
interface Chunks {
  readonly first: number;
  readonly size: number;
  readonly count: number;
}

/** The launches that fold the cells of one member. */
export class MemberFolds extends FoldLaunches {
  private readonly order: MemberOrder;
  /** By reduction: results, and values of an entry, which has one for each leaf of rows where these stay apart. */
  private readonly sizes: readonly number[];
  private readonly leaves: number;
  private readonly partials: readonly View[];
  private readonly code: AxisFoldCode & { readonly kernel: Kernel };
  /** The kernel axis that is folded in leaves. */
  private readonly axis: number;
  private readonly batches: readonly Batch[];
  /** Chunks where nothing is folded in leaves. */
  private readonly chunks: readonly Chunks[];
  private readonly lanes: number;
  private readonly shape: FoldShape;
  /** Indices of storage along kernel axes. */
  private readonly bounds: readonly Span[];

  /** @param bounds coordinates of the member's cells, x first */
  constructor(
    container: Container,
    precision: Precision,
    device: Device,
    private readonly cells: MemberCells,
    bounds: CellBounds,
  ) {
    super(container, precision, device);
    this.order = memberOrder(container, bounds, precision);
    this.bounds = bounds.toReversed().map(([first, end], axis): Span => [first + cells.origin[axis], end + cells.origin[axis]]);
    this.sizes = resultSizes(container, bounds);
    this.leaves = this.order.rowParts?.length ?? 1;
    const last = bounds.length - 1;
    this.axis = this.order.axis === undefined ? -1 : last - this.order.axis;
    const stays = bounds.map((_, axis) => container.axisFolds![0].array.has(last - axis));
    this.lanes = stays[last] ? 1 : FOLD_LANES;
    this.batches = batchesOf(this.order.parts, this.leavesTogether);
    const inLeaves = this.batches.length > 0;
    const axis = stays.findIndex((stay, n) => !stay && n < last);
    this.chunks = inLeaves || precision === "strict" || axis < 0 ? [] : this.chunksOf(axis, stays);
    this.shape = {
      stays,
      chunked: inLeaves ? [this.axis, ...(this.order.rowParts ? [1] : [])] : this.chunks.map(() => axis),
      byPlanes: inLeaves && this.axis === 0 && this.lanes === 1,
      ragged: !stays[last] && (this.bounds[last][1] - this.bounds[last][0]) % FOLD_LANES !== 0,
    };
    this.code = derive(cells.ir, codeOf, { container, shape: this.shape }, JSON.stringify(this.shape));
    const rows = inLeaves ? Math.max(...this.batches.map((batch) => this.rowsOf(batch))) * this.leaves : (this.chunks[0]?.count ?? 1);
    this.partials = this.sizes.map((size, n) => this.array(n, rows * size * this.lanes));
  }

  /** Launches that fold all cells into results, without leaves. */
  results(into: (n: number) => View, accumulating: boolean): Launch[] {
    const { chunks, lanes } = this;
    const folds = this.partials.map((parts, n) => {
      const view = into(n);
      const [, n1, n2, n3] = view.shape;
      const args = {
        into: view,
        parts,
        n1,
        n2,
        n3,
        each: this.sizes[n],
        count: chunks[0]?.count ?? 1,
        lanes,
        old: this.old(n, accumulating),
      };
      return this.prepare(this.kernels(n).parts, args, range(...view.shape));
    });
    return [this.accumulate(this.bounds, chunks), ...folds];
  }

  /** Launches that leave the entries of the member's cells in stacks, one for each reduction. */
  entries(stacks: readonly Stack[]): Launch[] {
    if (this.batches.length === 0) return this.results((n) => rowsInOrder(stacks[n].all, [1, 1, 1, this.sizes[n]]), false);
    const { axis, lanes } = this;
    const origin = this.cells.origin[axis];
    const ofRows = this.order.rowParts ? [this.rowChunks(this.order.rowParts)] : [];
    let list: readonly FoldEntry[] = [];
    return this.batches.flatMap((batch) => {
      const span: Span = [batch[0].span[0] + origin, batch.at(-1)!.span[1] + origin];
      const rows = this.rowsOf(batch);
      const together = Math.max(...batch.map((part) => part.span[1] - part.span[0]));
      const chunks = axis === 0 ? { first: span[0], size: lanes === 1 ? together : 1, count: rows } : this.rowChunks(batch);
      const height = list.length;
      const pushed = push(
        list,
        batch.map(({ entry }) => entry),
      );
      list = pushed.list;
      const items = { perItem: axis === 0 && lanes > 1 ? together : 1, count: rows, lanes };
      return [
        this.accumulate(this.bounds.with(axis, span), [chunks, ...ofRows]),
        ...this.partials.map((partials, n) => this.push(n, stacks[n], height, partials, pushed, items)),
      ];
    });
  }

  /** Leaves of a batch. */
  private get leavesTogether(): number {
    const bytes = this.sizes.reduce((sum, size, n) => sum + size * this.leaves * BYTES[this.foldOf(n).array.type], 0);
    const rows = this.lanes > 1 && this.axis === 0 ? LEAF_PLANES : 1;
    return Math.max(1, Math.floor(BATCH_BYTES / (bytes * this.lanes * rows)));
  }

  /** Values that the accumulation of a batch leaves for each result and lane: one for each part, or for each plane where its lanes are folded at its end. */
  private rowsOf(batch: Batch): number {
    return this.lanes === 1 || this.axis !== 0 ? batch.length : batch.at(-1)!.span[1] - batch[0].span[0];
  }

  /** Chunks of leaves of rows, which begin where members may begin. */
  private rowChunks(parts: readonly FoldedSpan[]): Chunks {
    const first = Math.floor(parts[0].span[0] / SPLIT_ROWS) * SPLIT_ROWS;
    return { first: first + this.cells.origin[1], size: SPLIT_ROWS, count: parts.length };
  }

  /** Chunks in fast mode, as many as keep the device busy. In strict mode results would depend on it. */
  private chunksOf(axis: number, stays: readonly boolean[]): Chunks[] {
    const extents = this.bounds.map(([begin, end]) => end - begin);
    const elements = extents.reduce((count, n, each) => (stays[each] ? count * n : count), this.lanes);
    const wanted = this.cells.isGpu ? GPU_ELEMENTS : WORKER_ELEMENTS * this.device.capabilities.parallelism;
    const size = Math.ceil(extents[axis] / Math.min(extents[axis], Math.ceil(wanted / elements)));
    return size === extents[axis] ? [] : [{ first: this.bounds[axis][0], size, count: Math.ceil(extents[axis] / size) }];
  }

  /** Folds cells, chunk by chunk and lane by lane. */
  private accumulate(bounds: readonly Span[], chunks: readonly Chunks[]): Launch {
    const { code, lanes } = this;
    const { stays } = this.shape;
    const scalars = Object.fromEntries([
      ...bounds.flatMap(([begin, end], axis) => [
        [code.begin[axis], begin],
        [code.end[axis], end],
      ]),
      ...chunks.flatMap(({ first, size }, n) => [
        [code.chunks[n].first, first],
        [code.chunks[n].size, size],
      ]),
    ]);
    const views = Object.fromEntries(this.partials.map((_, n) => [code.partials[n], this.partialsView(n, chunks)]));
    const spans = [
      ...chunks.map(({ count }) => [0, count] as const),
      ...bounds.filter((_, axis) => stays[axis]),
      ...(stays.at(-1) ? [] : [[0, lanes] as const]),
    ];
    return this.prepare(code.kernel, { ...this.cells.args, ...scalars, ...views }, range(...spans));
  }

  /** In memory: [chunks][place along the first axis][component][places along the others][lane]. */
  private partialsView(n: number, chunks: readonly Chunks[]): View {
    const { bounds, lanes } = this;
    const { stays } = this.shape;
    const cardinality = this.foldOf(n).params.length;
    const extents = bounds.map(([begin, end], axis) => (stays[axis] ? end - begin : 1));
    const component = extents.slice(1).reduce((a, b) => a * b, lanes);
    const along = extents.map((_, axis) => (axis === 0 ? cardinality * component : extents.slice(axis + 1).reduce((a, b) => a * b, lanes)));
    const kept = [...stays.keys()].filter((axis) => stays[axis]);
    const lane = stays.at(-1) ? [] : [lanes];
    const counts = chunks.map(({ count }) => count);
    const each = counts.map((_, axis) => counts.slice(axis + 1).reduce((a, b) => a * b, this.sizes[n] * lanes));
    const shape = [cardinality, ...counts, ...kept.map((axis) => extents[axis]), ...lane];
    const strides = [component, ...each, ...kept.map((axis) => along[axis]), ...lane.map(() => 1)];
    const { buffer, type, offset } = this.partials[n];
    return new View(buffer, type, shape, strides, offset);
  }
}

function batchesOf(parts: readonly FoldedSpan[], leaves: number): Batch[] {
  const firstLeaf = parts.findIndex(({ entry }) => entry.kind !== "plane");
  const single = firstLeaf < 0 ? parts : parts.slice(0, firstLeaf);
  const batches: Batch[] = single.length > 0 ? [single] : [];
  for (let n = single.length; n < parts.length; n += leaves) batches.push(parts.slice(n, n + leaves));
  return batches;
}

/** A row of values as a view of four axes, one row after the other. */
export function rowsInOrder({ buffer, type, offset }: View, shape: readonly number[]): View {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  return new View(buffer, type, shape, strides, offset);
}

interface Folded {
  readonly container: Container;
  readonly shape: FoldShape;
}

function codeOf(ir: KernelIR, { container, shape }: Folded): AxisFoldCode & { readonly kernel: Kernel } {
  const made = axisFoldCode(ir, container.axisFolds!, shape);
  return { ...made, kernel: kernelFromIR(made.ir, container.location) };
}
