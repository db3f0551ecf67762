import type { Device, Launch } from "../../device/device.js";
import { range, type Policy } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { identityOf } from "../../ir/identity.js";
import { chunksPerLine } from "../../ir/launch.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type NumberType, type ReduceParam, type ScatterOp } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { i32, view, type Params, type ScalarToken } from "../../kernel/declare/params.js";
import type { Container } from "../grid/grid.js";
import type { Partition } from "../grid/parts.js";
import { foldKernel } from "../container/fold-kernel.js";

/*
 * Strict reductions of grids that do not store rows of the bounding box: the container leaves the value of each cell, and two kernels fold
 * these to the partials that a dense grid would leave, in which inactive cells count as the identity (docs/determinism.md).
 */

/** Places of the values of a partition's cells, by rows: the input of the folding kernels. */
interface ValueRows {
  /** For each run of cells side by side along x in one chunk: where its values begin, its first cell's x, its length. */
  readonly runs: Int32Array;
  /** For each chunk that has active cells, its first run; and the number of runs. */
  readonly first: Int32Array;
  /** For each chunk of the bounding box in (z, y, x) order, its place among those with active cells, or -1. */
  readonly slots: Int32Array;
  /** Chunks with active cells before each plane, and all. */
  readonly before: readonly number[];
}

/**
 * @param extents cells along x, y (and z)
 * @param each visits the own cells of the partition in global order: where the value lies, and the position (z * ny + y) * nx + x
 */
export function valueRows(
  extents: readonly number[],
  { first: firstPlane, planes }: Pick<Partition, "first" | "planes">,
  each: (visit: (at: number, position: number) => void) => void,
): ValueRows {
  const nx = extents[0];
  const rowsPerPlane = extents.slice(1, -1).reduce((a, b) => a * b, 1);
  const perRow = chunksPerLine(nx);
  const runs: number[] = [];
  const first: number[] = [];
  const slots = new Int32Array(planes * rowsPerPlane * perRow).fill(-1);
  const counts = Array<number>(planes).fill(0);
  let last = { at: -2, position: -2, chunk: -1 };
  each((at, position) => {
    const x = position % nx;
    const row = (position - x) / nx - firstPlane * rowsPerPlane;
    const chunk = row * perRow + Math.floor(x / REDUCTION_CHUNK);
    if (chunk !== last.chunk) {
      slots[chunk] = first.length;
      first.push(runs.length / 3);
      counts[Math.floor(row / rowsPerPlane)]++;
    }
    if (chunk === last.chunk && at === last.at + 1 && position === last.position + 1) runs[runs.length - 1]++;
    else runs.push(at, x, 1);
    last = { at, position, chunk };
  });
  first.push(runs.length / 3);
  const before = [0];
  for (const count of counts) before.push(before.at(-1)! + count);
  return { runs: Int32Array.from(runs), first: Int32Array.from(first), slots, before };
}

/** Memory and launches for the cells' values of the containers that reduce on one member. */
export class CellValueFolds {
  private readonly runs: View;
  private readonly first: View;
  private readonly slots: View;
  private readonly memory = new Map<Container, Record<string, ReductionMemory>>();

  /** @param shape of the view that takes one value for each stored cell */
  constructor(
    private readonly device: Device,
    private readonly rows: ValueRows,
    private readonly shape: readonly number[],
  ) {
    const table = (data: Int32Array) => device.from(i32, data.length > 0 ? data : [0]);
    this.runs = table(rows.runs);
    this.first = table(rows.first);
    this.slots = table(rows.slots);
  }

  /** Views that take the value of each cell, by reduce parameter. */
  valuesOf(container: Container): Record<string, View> {
    return Object.fromEntries(Object.entries(this.memoryOf(container)).map(([param, { values }]) => [param, values]));
  }

  /**
   * Launches that fold the values of the planes [begin, end) of the partition.
   * @param result one partial for each chunk of these planes; or one element, which takes what they fold to
   */
  fold(container: Container, param: string, [begin, end]: readonly [number, number], result: View): Launch[] {
    const { before, slots } = this.rows;
    const each = slots.length / (before.length - 1);
    const count = (end - begin) * each;
    const { op, type, ...memory } = this.memoryOf(container)[param];
    const whole = result.size === count;
    const partials = whole ? result : memory.partials;
    const kernels = foldKernels(op, type);
    const shared = { identity: identityOf(op, type), lanes: memory.lanes };
    const prepare = (kernel: Kernel, args: Record<string, unknown>, policy: Policy) =>
      this.device.prepare<Params>(kernel, args, policy, { precision: "strict", checked: false });
    return [
      prepare(
        kernels.lanes,
        { ...shared, values: memory.values.reshape(memory.values.size), runs: this.runs, first: this.first },
        range([before[begin] * REDUCTION_LANES, before[end] * REDUCTION_LANES]),
      ),
      prepare(kernels.partials, { ...shared, partials, slots: this.slots.slice([begin * each, end * each]) }, range(count)),
      ...(whole ? [] : [prepare(foldKernel(op, type), { result, partials: partials.slice([0, count]) }, range(count))]),
    ];
  }

  free(): void {
    for (const table of [this.runs, this.first, this.slots]) table.free();
    for (const memory of this.memory.values())
      for (const { values, lanes, partials } of Object.values(memory)) for (const view of [values, lanes, partials]) view.free();
  }

  private memoryOf(container: Container): Record<string, ReductionMemory> {
    let memory = this.memory.get(container);
    if (!memory) {
      const reduced = container.ir.params.filter((p): p is ReduceParam => p.kind === "reduce");
      const make = ({ op, type }: ReduceParam): ReductionMemory => ({
        op: op as ScatterOp,
        type: type as NumberType,
        values: this.device.array({ type }, this.shape),
        lanes: this.device.array({ type }, Math.max(1, this.rows.before.at(-1)! * REDUCTION_LANES)),
        partials: this.device.array({ type }, this.rows.slots.length),
      });
      this.memory.set(container, (memory = Object.fromEntries(reduced.map((param) => [param.name, make(param)]))));
    }
    return memory;
  }
}

/** Memory of one reduction: a value for each cell, the lanes of each chunk with active cells, a partial for each chunk. */
interface ReductionMemory {
  readonly op: ScatterOp;
  readonly type: NumberType;
  readonly values: View;
  readonly lanes: View;
  readonly partials: View;
}

const FOLDS: Record<ScatterOp, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
};

interface FoldKernels {
  lanes: Kernel;
  partials: Kernel;
}
const known = new Map<string, FoldKernels>();

function foldKernels(op: ScatterOp, type: NumberType): FoldKernels {
  const key = `${op} ${type}`;
  let kernels = known.get(key);
  if (!kernels) known.set(key, (kernels = makeKernels(FOLDS[op], { kind: "scalar", type })));
  return kernels;
}

/** A lane takes every eighth cell of its chunk, by x; then the lanes of a chunk are folded pairwise. */
function makeKernels(fold: (a: number, b: number) => number, type: ScalarToken<NumberType>): FoldKernels {
  const lanes = kernel(
    "fold lanes",
    { fold, identity: type, lanes: view(type), values: view(type), runs: view(i32), first: view(i32) },
    ({ fold, identity, lanes, values, runs, first }, i) => {
      let total = identity;
      for (let run = first[i >> 3]; run < first[(i >> 3) + 1]; run++) {
        const begin = runs[3 * run];
        const end = begin + runs[3 * run + 2];
        for (let at = begin + (((i & 7) - runs[3 * run + 1]) & 7); at < end; at += 8) total = fold(total, values[at]);
      }
      lanes[i] = total;
    },
  );
  const partials = kernel(
    "fold rows",
    { fold, identity: type, lanes: view(type), partials: view(type), slots: view(i32) },
    ({ fold, identity, lanes, partials, slots }, i) => {
      let total = identity;
      if (slots[i] >= 0) {
        const at = 8 * slots[i];
        const even = fold(fold(lanes[at], lanes[at + 4]), fold(lanes[at + 2], lanes[at + 6]));
        const odd = fold(fold(lanes[at + 1], lanes[at + 5]), fold(lanes[at + 3], lanes[at + 7]));
        total = fold(even, odd);
      }
      partials[i] = total;
    },
  );
  return { lanes: lanes as Kernel, partials: partials as Kernel };
}
