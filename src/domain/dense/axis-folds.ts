import type { Device, Launch, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import type { KernelIR, NumericType } from "../../ir/types.js";
import { kernelFromIR } from "../../kernel/from-ir.js";
import { kernel, type Kernel } from "../../kernel/kernel.js";
import { i32, view, type Params, type ScalarToken } from "../../kernel/params.js";
import type { AxisFold, Container, Round, Rounds } from "../grid/grid.js";
import type { HaloCopy } from "../grid/parts.js";
import { axisFoldCode, LANES, type AxisFoldCode, type FoldShape } from "./axis-fold-code.js";

/*
 * Runs containers that reduce along axes. Where the last axis stays, each member folds what is its own, and sends it to the others. Where it is folded,
 * in strict mode one member after the other goes on with the sums of the one before, plane by plane, so that bits do not depend on how many there
 * are; in fast mode all fold at once, and every member folds the results of all.
 */

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

/** Elements that keep a GPU busy, and a worker of a CPU. */
const [GPU_ELEMENTS, WORKER_ELEMENTS] = [131072, 1024];

const codes = new WeakMap<KernelIR, Map<string, AxisFoldCode & { readonly kernel: Kernel }>>();

export function axisFoldRounds(
  container: Container,
  precision: Precision,
  cells: (member: number) => MemberCells,
  folded: (member: number) => FoldedCells,
): Rounds {
  const { grid } = container;
  const folds = container.axisFolds!;
  const all = [...grid.set.members.keys()];
  const takingPart = all.filter((m) => folded(m).bounds.every(([first, end]) => first < end));
  const made = new Map(takingPart.map((m) => [m, new MemberFolds(container, precision, grid.set.members[m].device, cells(m), folded(m))]));
  const each = (make: (n: number) => HaloCopy[]): HaloCopy[] => [...folds.keys()].flatMap(make);
  const launchesOf = (make: (own: MemberFolds, m: number) => Launch[]): Launch[][] =>
    all.map((m) => (made.has(m) ? make(made.get(m)!, m) : []));
  /** Coordinates of a member's cells, that of x first. */
  const boundsOf = (m: number) => folded(m).bounds.toReversed();
  const window = (n: number, on: number, of = on): View => folds[n].array.window(on, boundsOf(of), folds[n].first, folds[n].params.length);
  /** Copies of the results of one member, or of its part of them, to all others. */
  const spread = (from: number): HaloCopy[] =>
    each((n) => {
      const piece = (on: number): View => folds[n].array.piece(on, boundsOf(from).at(-1)!);
      return all.filter((to) => to !== from).map((to) => ({ from, to, source: piece(from), target: piece(to) }));
    });
  const rounds: Round[] = [];
  const gathered: View[] = [];
  if (all.length === 1 || folds[0].array.has(grid.dimension - 1)) {
    rounds.push({
      launches: launchesOf((own, m) => [own.accumulate(false), ...own.finish((n) => window(n, m))]),
      copies: takingPart.flatMap(spread),
    });
  } else if (precision === "strict") {
    for (const [place, m] of takingPart.entries()) {
      const next = takingPart.at(place + 1);
      const own = made.get(m)!;
      const launches = [own.accumulate(place > 0), ...(next === undefined ? own.finish((n) => window(n, m)) : [])];
      const passOn = (to: number): HaloCopy[] =>
        own.partials.map((source, n) => ({ from: m, to, source, target: made.get(to)!.partials[n] }));
      rounds.push({ launches: all.map((other) => (other === m ? launches : [])), copies: next === undefined ? spread(m) : passOn(next) });
    }
  } else {
    const first = takingPart[0];
    const arrays = folds.map(({ array: { type } }, n) =>
      grid.set.members.map(({ device }) => device.array({ type }, made.get(first)!.sizes[n] * takingPart.length)),
    );
    gathered.push(...arrays.flat());
    const slot = (n: number, on: number, of: number): View => {
      const { sizes } = made.get(first)!;
      const place = takingPart.indexOf(of);
      return arrays[n][on].slice([place * sizes[n], (place + 1) * sizes[n]]);
    };
    rounds.push({
      launches: launchesOf((own, m) => [own.accumulate(false), ...own.finish((n) => inOrder(slot(n, m, m), window(n, m).shape), false)]),
      copies: each((n) =>
        takingPart.flatMap((from) =>
          all.filter((to) => to !== from).map((to) => ({ from, to, source: slot(n, from, from), target: slot(n, to, from) })),
        ),
      ),
    });
    rounds.push({
      launches: all.map((m) => {
        const own = made.get(m) ?? made.get(first)!;
        return folds.map((_, n) => own.fold(n, arrays[n][m], window(n, m, first), takingPart.length, 1, true, grid.set.members[m].device));
      }),
      copies: [],
    });
  }
  return {
    rounds,
    free() {
      for (const own of made.values()) own.free();
      for (const array of gathered) array.free();
    },
  };
}

/** A row of values as a view of four axes, one row after the other. */
function inOrder({ buffer, type, offset }: View, shape: readonly number[]): View {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  return new View(buffer, type, shape, strides, offset);
}

/** The launches of one member, and what they leave before its lanes and chunks come together. */
class MemberFolds {
  readonly partials: readonly View[];
  /** Values of each reduction that this member has results of. */
  readonly sizes: readonly number[];
  private readonly launches: Launch[] = [];
  private readonly code: AxisFoldCode & { readonly kernel: Kernel };
  private readonly chunks: number;
  private readonly chunk: number;
  private readonly lanes: number;
  private readonly shape: FoldShape;
  /** Indices of storage. */
  private readonly bounds: readonly (readonly [begin: number, end: number])[];

  constructor(
    private readonly container: Container,
    private readonly precision: Precision,
    private readonly device: Device,
    private readonly cells: MemberCells,
    { bounds, origin }: FoldedCells,
  ) {
    const folds = container.axisFolds!;
    this.bounds = bounds.map(([first, end], axis) => [first + origin[axis], end + origin[axis]]);
    const last = bounds.length - 1;
    const stays = bounds.map((_, axis) => folds[0].array.has(last - axis));
    const extents = bounds.map(([begin, end]) => end - begin);
    this.lanes = stays[last] ? 1 : LANES;
    const chunked = stays.findIndex((stay, axis) => !stay && axis < last);
    const elements = extents.reduce((count, n, axis) => (stays[axis] ? count * n : count), this.lanes);
    const wanted = cells.isGpu ? GPU_ELEMENTS : WORKER_ELEMENTS * device.capabilities.parallelism;
    // Chunks would make strict results depend on where partitions begin.
    const most = precision === "strict" || chunked < 0 ? 1 : extents[chunked];
    this.chunk = Math.ceil(extents[chunked] / Math.min(most, Math.ceil(wanted / elements)));
    this.chunks = most === 1 ? 1 : Math.ceil(extents[chunked] / this.chunk);
    this.shape = { stays, chunked: this.chunks > 1 ? chunked : undefined, ragged: !stays[last] && extents[last] % LANES !== 0 };
    this.code = codeOf(cells.ir, container, this.shape);
    const places = extents.reduce((count, n, axis) => (stays[axis] ? count * n : count), 1);
    this.sizes = folds.map(({ params }) => places * params.length);
    this.partials = folds.map(({ array }, n) => device.array({ type: array.type }, this.chunks * this.sizes[n] * this.lanes));
  }

  /** Folds the member's cells, chunk by chunk and lane by lane; `continued` from what the partial results are. */
  accumulate(continued: boolean): Launch {
    const { bounds, code, lanes, chunks, chunk } = this;
    const { stays } = this.shape;
    const scalars = Object.fromEntries([
      [code.continued, continued ? 1 : 0],
      ...bounds.flatMap(([begin, end], axis) => [
        [code.begin[axis], begin],
        [code.end[axis], end],
      ]),
      ...(code.chunk === undefined ? [] : [[code.chunk, chunk]]),
    ]);
    const views = Object.fromEntries(this.partials.map((_, n) => [code.partials[n], this.partialsView(n)]));
    const spans = [
      ...(code.chunk === undefined ? [] : [[0, chunks] as const]),
      ...bounds.filter((_, axis) => stays[axis]),
      ...(stays.at(-1) ? [] : [[0, lanes] as const]),
    ];
    return this.keep(this.device.prepare<Params>(code.kernel, { ...this.cells.args, ...scalars, ...views }, range(...spans), this.options));
  }

  /** Folds chunks and lanes of each reduction into its results. */
  finish(into: (n: number) => View, accumulating = true): Launch[] {
    return this.partials.map((parts, n) => this.fold(n, parts, into(n), this.chunks, this.lanes, accumulating));
  }

  /** Folds so many parts, and lanes in each value of them, into results. */
  fold(n: number, parts: View, into: View, count: number, lanes: number, accumulating = true, device = this.device): Launch {
    const { op, array, accumulate } = this.container.axisFolds![n];
    const [, n1, n2, n3] = into.shape;
    const old = accumulating && accumulate ? 1 : 0;
    const args = { into, parts, n1, n2, n3, each: this.sizes[n], count, lanes, old };
    return this.keep(device.prepare<Params>(foldKernel(op, array.type as NumericType), args, range(...into.shape), this.options));
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    for (const view of this.partials) view.free();
  }

  private get options(): { precision: Precision } {
    return { precision: this.precision };
  }

  private keep(launch: Launch): Launch {
    this.launches.push(launch);
    return launch;
  }

  /** In memory: [chunk][place along the first axis][component][places along the others][lane]. */
  private partialsView(n: number): View {
    const { bounds, lanes, chunks } = this;
    const { stays, chunked } = this.shape;
    const cardinality = this.container.axisFolds![n].params.length;
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

const folds = new Map<string, Kernel>();

/** Folds `parts`, [part][value][lane], into as many values; `old` is 1 where what they were takes part. */
function foldKernel(op: AxisFold["op"], type: NumericType): Kernel {
  const key = `${op} ${type}`;
  const known = folds.get(key) ?? FOLDS[op]({ kind: "scalar", type });
  folds.set(key, known);
  return known;
}

const parameters = <T extends ScalarToken<NumericType>>(type: T) => ({
  into: view(type, 4),
  parts: view(type),
  n1: i32,
  n2: i32,
  n3: i32,
  each: i32,
  count: i32,
  lanes: i32,
  old: i32,
});

const FOLDS: Record<AxisFold["op"], (type: ScalarToken<NumericType>) => Kernel> = {
  sum: (type) =>
    kernel("fold sum", parameters(type), ({ into, parts, n1, n2, n3, each, count, lanes, old }, a, k, b, c) => {
      const value = ((a * n1 + k) * n2 + b) * n3 + c;
      let folded = parts[value * lanes];
      for (let part = 0; part < count; part++)
        for (let lane = 0; lane < lanes; lane++) if (part + lane > 0) folded += parts[(part * each + value) * lanes + lane];
      into[a][k][b][c] = old > 0 ? into[a][k][b][c] + folded : folded;
    }) as unknown as Kernel,
  min: (type) =>
    kernel("fold min", parameters(type), ({ into, parts, n1, n2, n3, each, count, lanes, old }, a, k, b, c) => {
      const value = ((a * n1 + k) * n2 + b) * n3 + c;
      let folded = old > 0 ? into[a][k][b][c] : parts[value * lanes];
      for (let part = 0; part < count; part++)
        for (let lane = 0; lane < lanes; lane++) folded = Math.min(folded, parts[(part * each + value) * lanes + lane]);
      into[a][k][b][c] = folded;
    }) as unknown as Kernel,
  max: (type) =>
    kernel("fold max", parameters(type), ({ into, parts, n1, n2, n3, each, count, lanes, old }, a, k, b, c) => {
      const value = ((a * n1 + k) * n2 + b) * n3 + c;
      let folded = old > 0 ? into[a][k][b][c] : parts[value * lanes];
      for (let part = 0; part < count; part++)
        for (let lane = 0; lane < lanes; lane++) folded = Math.max(folded, parts[(part * each + value) * lanes + lane]);
      into[a][k][b][c] = folded;
    }) as unknown as Kernel,
};
