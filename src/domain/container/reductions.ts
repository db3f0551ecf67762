import type { Launch, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { chunksPerLine } from "../../ir/launch.js";
import type { NumericType, ReduceParam } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/kernel.js";
import { max, min, sum, view, type ScalarToken } from "../../kernel/params.js";
import type { Container } from "../grid/grid.js";
import type { DataView, HaloCopy, Partition } from "../grid/parts.js";

/*
 * Reductions over several devices. In strict mode every member leaves the partials of its rows, one for each REDUCTION_CHUNK cells of
 * the bounding box along x, whatever the kind of grid; every member gathers those of all and folds them as one line, by the rule of
 * docs/determinism.md. In fast mode a launch leaves one value, and these are folded.
 */

/** How the partial results of one reduce parameter become a scalar on every member. It serves one set of launches of one precision. */
export interface Collection {
  readonly param: string;
  /** For `prepare`'s option `reductions`, on each member. */
  readonly partials: readonly View[];
  /** Bring the partials of each member to all others. */
  readonly copies: readonly HaloCopy[];
  /** Launches that leave the result in the scalar, on each member; none where `partials` are the scalar itself. */
  readonly folds: readonly Launch[];
  /** Frees memory and launches, the scalar excepted. */
  free(): void;
}

/** Launches of one container on one member: standard or internal, and those of the two boundaries. */
const FAST_SLOTS = 3;

/** What decides how many partials there are: the box that a container runs over, cut as its grid is. */
interface Rows {
  readonly extents: readonly number[];
  readonly partitions: readonly Pick<Partition, "first" | "planes">[];
}

/** The cells of a container by rows: those of its grid, or of its box. */
export function rowsOf({ grid, box }: Pick<Container, "grid" | "box">): Rows {
  if (!box) return grid;
  const [from, to] = box.bounds.at(-1)!;
  const end = grid.extents.at(-1)!;
  const partitions = grid.partitions.map(({ first, planes }) => {
    // Ghosts belong to the first and the last member.
    const low = Math.max(from, first === 0 ? from : first);
    const high = Math.min(to, first + planes === end ? to : first + planes);
    return { first: low, planes: Math.max(0, high - low) };
  });
  return { extents: box.bounds.map(([first, behind]) => behind - first), partitions };
}

/** Partials that a member leaves for each reduction. */
export function partialsOf(grid: Rows, device: number, precision: Precision): number {
  return precision === "fast" ? FAST_SLOTS : grid.partitions[device].planes * partialsPerPlane(grid);
}

/** Strict partials of one plane of the last axis. */
export function partialsPerPlane({ extents }: Rows): number {
  const [nx, ...others] = extents;
  return others.slice(0, -1).reduce((a, b) => a * b, chunksPerLine(nx));
}

/**
 * The part of a member's partials that one launch takes.
 * @param planes the first plane of the launch, counted from the member's first, and their number
 * @param slot which of the member's launches it is, see `slotOf`
 */
export function launchPartials(
  grid: Rows,
  partials: View,
  precision: Precision,
  planes: readonly [first: number, count: number],
  slot: number,
): View {
  if (partials.size === 1) return partials;
  if (precision === "fast") return partials.slice([slot, slot + 1]);
  const each = partialsPerPlane(grid);
  return partials.slice([planes[0] * each, (planes[0] + planes[1]) * each]);
}

/** The place of a launch's value among those of its member: launch `n` of a data view. */
export const slotOf = (dataView: DataView, n: number): number => (dataView === "boundary" ? 1 + n : 0);

/**
 * Memory, copies and launches for one reduction of a container that runs on all members, either on the standard view or on internal and
 * boundary views. On a set of one member the partials are the scalar itself.
 */
export function collect(container: Container, param: string, precision: Precision): Collection {
  const { grid } = container;
  const scalar = container.reductions.get(param)!;
  const reduce = container.ir.params.find((p): p is ReduceParam => p.kind === "reduce" && p.name === param)!;
  const { members } = grid.set;
  if (members.length === 1) return { param, partials: scalar.views, copies: [], folds: [], free() {} };

  const rows = rowsOf(container);
  const counts = members.map((_, m) => partialsOf(rows, m, precision));
  const starts = counts.map((_, m) => counts.slice(0, m).reduce((a, b) => a + b, 0));
  const total = starts.at(-1)! + counts.at(-1)!;
  const identity = Array<number>(total).fill(reduce.identity);
  const gathered = members.map((member) => {
    const all = member.device.array({ type: reduce.type }, total);
    member.queue(0).write(all, identity);
    return all;
  });
  const piece = (holder: number, of: number): View => gathered[holder].slice([starts[of], starts[of] + counts[of]]);
  const pairs = members
    .flatMap((_, from) => members.map((_, to) => ({ from, to })))
    .filter(({ from, to }) => from !== to && counts[from] > 0);
  const fold = foldKernel(reduce.op as FoldOp, reduce.type);
  const folds = members.map(({ device }, m) =>
    device.prepare(fold as Kernel, { result: scalar.views[m], partials: gathered[m] } as never, range(total), { precision: "strict" }),
  );
  return {
    param,
    partials: members.map((_, m) => piece(m, m)),
    copies: pairs.map(({ from, to }) => ({ from, to, source: piece(from, from), target: piece(to, from) })),
    folds,
    free() {
      for (const launch of folds) launch.free();
      for (const all of gathered) all.free();
    },
  };
}

type FoldOp = "sum" | "min" | "max";
const folds = new Map<string, Kernel>();

/** The kernel that folds `partials` into `result`. */
export function foldKernel(op: FoldOp, type: NumericType): Kernel {
  const key = `${op} ${type}`;
  const known = folds.get(key) ?? (FOLDS[op]({ kind: "scalar", type }) as Kernel);
  folds.set(key, known);
  return known;
}

const FOLDS: Record<FoldOp, (type: ScalarToken<NumericType>) => unknown> = {
  sum: (type) => kernel("collect sum", { result: sum(type), partials: view(type) }, ({ result, partials }, i) => result.add(partials[i])),
  min: (type) => kernel("collect min", { result: min(type), partials: view(type) }, ({ result, partials }, i) => result.min(partials[i])),
  max: (type) => kernel("collect max", { result: max(type), partials: view(type) }, ({ result, partials }, i) => result.max(partials[i])),
};
