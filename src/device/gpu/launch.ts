import type { GpuProgram, Entry as EntryCode, SortedScatter } from "../../emit/c/gpu/program.js";
import { SORT_BITS, SORT_ENTRIES, SORT_THREADS, SORT_TILE } from "../../emit/c/gpu/sort.js";
import { BLOCK } from "../../emit/c/gpu/writer.js";
import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../ir/types.js";
import type { Kernel } from "../../kernel/kernel.js";
import { DeviceError, LaunchError } from "../../ir/errors.js";
import { requireLiveViews, type Binding } from "../launch/bind.js";
import type { Cost, Launch, Precision } from "../device.js";
import type { Policy, RangePolicy } from "../launch/policy.js";
import { freeTeamRows, residentTeams } from "../launch/team-rows.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import { BYTES, type Buffer, type View } from "../memory/view.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { inOneKernel, FinalReduction, piecesOf, type Members, type Piece } from "./final-reduction.js";
import { chunksBefore, chunksOf, chunksOfLine, decodeResults, planFolds } from "./partials.js";
import { rangeBatches, sortPasses, teamBatches } from "./sorted-contributions.js";
import { blocks, type Shape, type Step, type Values } from "./steps.js";
import { alignedBegin, programOf, type LaunchProgram } from "./program.js";
import { copyBytes } from "./strategy.js";

/** Chunks that one block folds in a step. */
const CHUNKS_PER_BLOCK = BLOCK / REDUCTION_LANES;
/** Contributions that are written and sorted at a time. */
const SORTED_AT_A_TIME = 1 << 22;
const GRID_LIMIT = 65535;
/** Blocks of teams, as a multiple of what the device holds at a time: more cost more to start than a small team's work, fewer share uneven teams out badly. */
const TEAM_WAVES = 4;
/** The share of the last-level cache that the planes which a tile of blocks works on may fill. */
const TILE_SHARE = 0.4;

/** The shape of the main entry over a range, and what it is told of it. */
interface Gridded {
  readonly shape: Shape;
  readonly values: Values;
}

/** A kernel bound to arguments on one GPU: the steps of a run, and the temporary memory that they share. */
export class GpuLaunch implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  readonly cost: Cost;
  readonly remarks: string[] = [];
  readonly tuning: LaunchTuning;
  private readonly code: LaunchProgram;
  private readonly program: GpuProgram;
  private readonly entries: ReadonlyMap<string, GpuEntry>;
  private readonly values: Record<string, number | boolean>;
  private readonly steps: Step[] = [];
  private temporary: GpuMemory | undefined;
  private finalReduction: FinalReduction | undefined;
  /** Where `unfolded` partials lie, by reduce parameter. */
  readonly left = new Map<string, Piece>();
  private readonly wanted: { key: string; bytes: number }[] = [];
  private readonly buffers: readonly Buffer[];
  /** There are results; else the partials, if any, lie in views. */
  private readonly folds: boolean;
  private freed = false;
  /** True once a queue has run it, until it is freed. */
  ran = false;

  constructor(
    readonly gpu: GpuMachine,
    readonly binding: Binding,
  ) {
    ({ kernel: this.kernel, policy: this.policy, precision: this.precision, cost: this.cost } = binding);
    const views = [...Object.values(binding.views), ...Object.values(binding.outputs), ...binding.peerStores.map(({ to }) => to)];
    this.buffers = views.flatMap((view) => view?.buffer ?? []);
    this.code = programOf(binding, gpu.language, gpu.facts);
    const { program, remarks } = this.code;
    if (binding.peerStores.length > 0 && program.planes === 0)
      throw new LaunchError(
        `kernel "${this.kernel.name}" on ${gpu.name}: only grids over ranges of three axes, in fast mode, can store planes in other memory`,
      );
    this.tuning = this.code.tuning;
    this.program = program;
    const names = [this.program.main, this.program.fold, this.program.finish, ...this.program.sorted.map(({ apply }) => apply)].filter(
      (entry) => entry !== undefined,
    );
    this.entries = gpu.load(
      this.program.source,
      this.precision === "fast",
      this.kernel.name,
      names.map(({ name }) => name),
    );
    this.values = argumentValues(binding);
    this.folds = program.reduces.length > 0 && !binding.partials;
    try {
      this.plan();
    } catch (error) {
      this.free();
      throw error;
    }
    this.remarks.push(...remarks, this.entries.get(this.program.main.name)!.needs);
  }

  /** Throws LaunchError where the launch or the memory of its views was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    if (this.buffers.some((buffer) => buffer.live === false)) requireLiveViews(this.gpu, this.binding);
  }

  /** Enqueues the steps of one run; see `requireReady`. */
  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    for (const step of this.steps) step.enqueue(stream);
    this.ran = true;
  }

  source(): string {
    return this.program.sorted.length > 0 ? `${this.program.source}\n${this.gpu.language.sort}` : this.program.source;
  }

  /** Where the results lie, and how many there are, 8 bytes each. */
  get resultRange(): { address: number; count: number } {
    return { address: Number(this.values.results ?? 0), count: this.folds && !this.binding.unfolded ? this.program.reduces.length : 0 };
  }

  /** The reduce parameters' values from the bytes at `resultPlace`. */
  decodeResults(bytes: ArrayBufferLike): Record<string, number> {
    return decodeResults(this.folds && !this.binding.unfolded ? this.program.reduces : [], bytes);
  }

  free(): void {
    if (!this.freed) freeTeamRows(this.binding);
    this.freed = true;
    this.ran = false;
    this.temporary?.free();
    this.temporary = undefined;
    this.finalReduction?.free();
    this.finalReduction = undefined;
    for (const step of this.steps.splice(0)) step.free?.();
  }

  /* Planning: memory first, because the steps' parameters hold its addresses. */

  private plan(): void {
    const { policy, program } = this;
    const { traversal } = program;
    if (policy.kind === "team") return this.planTeams(policy.league);
    const elements = policy.extents.reduce((a, b) => a * b, 1);
    if (traversal === "elements" || traversal === "strided" || traversal === "stretches") {
      const grid = (piece: RangePolicy) =>
        traversal === "stretches" ? this.gridOfStretches(piece) : this.gridOver(piece, traversal === "strided");
      const gridded = grid(policy);
      const partials = elements === 0 ? 0 : gridded.shape.grid.reduce((a, b) => a * b, 1);
      this.wantPartials(partials);
      this.planRange(policy, (batch) => (batch === policy ? gridded : grid(batch)));
      this.planFolds(partials);
    } else {
      this.wantPartials(chunksOf(policy));
      this.planRange(policy, (batch) => {
        const chunks = chunksOf(batch);
        const before = chunksBefore(batch, policy);
        const partials = Object.fromEntries(
          program.reduces.map(({ name, type }) => [
            `partials:${name}`,
            Number(this.values[`partials:${name}`] ?? 0) + before * BYTES[type],
          ]),
        );
        const shape: Shape = this.code.serial
          ? { grid: [1, 1, 1], block: [1, 1, 1] }
          : { grid: [blocks(chunks, CHUNKS_PER_BLOCK), 1, 1], block: [BLOCK, 1, 1], shared: this.allocateCopies() };
        return { shape, values: { chunks, chunksPerLine: chunksOfLine(policy), ...partials } };
      });
      this.planFolds(chunksOf(policy));
    }
  }

  private planTeams(league: number): void {
    const { program, policy } = this;
    const { serial, members } = this.code;
    const wish = policy.kind === "team" ? policy.size : undefined;
    this.remarks.push(
      serial
        ? "teams: one after the other, of one member"
        : `teams: blocks of ${members} members${wish === undefined || wish === members ? "" : `, for the ${wish} asked for`}`,
    );
    const held = this.entries.get(program.main.name)!.residentBlocks(program.threads, program.scratchBytes);
    const most = Math.max(1, TEAM_WAVES * held * this.gpu.facts.multiprocessors);
    const rows = residentTeams(this.binding);
    if (rows < league) this.remarks.push(`scratch: ${rows} teams at a time`);
    this.wantPartials(league);
    this.planBatches(
      teamBatches(league, this.mostSlots, SORTED_AT_A_TIME),
      ({ size }) => size,
      ({ first, size }) => {
        const shape: Shape = {
          grid: [serial ? 1 : Math.min(size, rows, most), 1, 1],
          block: [program.threads, 1, 1],
          shared: program.scratchBytes,
        };
        this.step(program.main, shape, { firstTeam: first, league: first + size });
      },
    );
    this.planFolds(league);
  }

  /** The main entry over the range. */
  private planRange(policy: RangePolicy, shapeOf: (batch: RangePolicy) => { shape: Shape; values: Values }): void {
    this.planBatches(rangeBatches(policy, this.mostSlots, SORTED_AT_A_TIME), sizeOf, (batch) => {
      const { shape, values } = shapeOf(batch);
      this.step(this.program.main, shape, { ...policyValues(batch, this.binding.views), ...values });
    });
  }

  /** Runs batches of elements or teams, and after each sorts and adds what they have contributed. */
  private planBatches<B>(batches: readonly B[], size: (batch: B) => number, run: (batch: B) => void): void {
    const { sorted } = this.program;
    const { slots } = this.code;
    for (const target of sorted) this.reserveContributions(target, slots[target.name] * Math.max(0, ...batches.map(size)));
    this.reserve();
    for (const { name } of sorted) this.values[`slots:${name}`] = slots[name];
    // An element may never come to scatter at all.
    const contributed = sorted.filter(({ name }) => slots[name] > 0);
    for (const batch of batches) {
      if (size(batch) === 0) continue;
      for (const { name } of contributed)
        this.steps.push(this.gpu.fillStep(Number(this.values[`keys:${name}`]), 0xff, 4 * slots[name] * size(batch)));
      run(batch);
      for (const target of contributed) this.planSort(target, slots[target.name] * size(batch));
    }
  }

  private get mostSlots(): number {
    return Math.max(0, ...Object.values(this.code.slots));
  }

  private reserveContributions({ name, type }: SortedScatter, most: number): void {
    if (most >= 2 ** 32)
      throw new DeviceError(
        this.gpu.name,
        `kernel "${this.kernel.name}": one row of the range scatters ${most} times into "${name}"`,
        "use a range with more and shorter rows",
      );
    for (const key of ["keys", "sortedKeys", "order", "sortedOrder"]) this.want(`${key}:${name}`, 4 * most);
    this.want(`values:${name}`, BYTES[type] * most);
    this.want(`counts:${name}`, 4 * 2 ** SORT_BITS * blocks(most, SORT_TILE));
    this.want(`totals:${name}`, 4 * 2 ** SORT_BITS);
  }

  /** Sorts `count` contributions by target and adds them up. */
  private planSort({ name, apply }: SortedScatter, count: number): void {
    const size = this.binding.views[name].size;
    const sort = this.gpu.load(
      this.gpu.language.sort,
      false,
      "sort",
      Object.values(SORT_ENTRIES).map((entry) => entry.name),
    );
    const tiles = blocks(count, SORT_TILE);
    const at = (key: string) => Number(this.values[`${key}:${name}`]);
    // Unused slots have all bits set: they go behind every target, as there is a bit pattern of the sorted bits left for them.
    const bits = Math.floor(Math.log2(Math.max(1, size))) + 1;
    const { passes, last } = sortPasses(bits, SORT_BITS, at, 0);
    for (const pass of passes) {
      const values = { ...pass, count, tiles, counts: at("counts"), totals: at("totals") };
      const add = (entry: EntryCode, grid: number, block: number) =>
        this.steps.push(this.gpu.kernelStep(entry, sort.get(entry.name)!, { grid: [grid, 1, 1], block: [block, 1, 1] }, values));
      add(SORT_ENTRIES.count, tiles, SORT_THREADS);
      add(SORT_ENTRIES.scan, 2 ** SORT_BITS, BLOCK);
      add(SORT_ENTRIES.move, tiles, SORT_THREADS);
    }
    this.step(apply, { grid: [blocks(count, BLOCK), 1, 1], block: [BLOCK, 1, 1] }, { ...last, values: at("values"), count, size });
  }

  private wantPartials(count: number): void {
    if (!this.folds) return;
    this.want("results", 8 * this.program.reduces.length);
    for (const { name, type } of this.program.reduces) {
      this.want(`partials:${name}`, BYTES[type] * Math.max(1, count));
      if (this.program.fold) this.want(`folded:${name}`, BYTES[type] * Math.max(1, blocks(count, REDUCTION_CHUNK)));
    }
  }

  /** Folds `count` partials to the results, and into the views that were bound for them. */
  private planFolds(count: number): void {
    const { fold, finish, reduces } = this.program;
    if (!finish || !this.folds) return;
    if (!fold) return this.planFinalReduction(finish, count);
    const block = [BLOCK, 1, 1] as const;
    planFolds(
      reduces,
      this.values,
      count,
      (left, addresses) =>
        this.step(fold, { grid: [blocks(left, REDUCTION_CHUNK * CHUNKS_PER_BLOCK), 1, 1], block }, { ...addresses, count: left }),
      (left, addresses) =>
        this.step(finish, { grid: [1, 1, 1], block: [this.gpu.language.finishThreads, 1, 1] }, { ...addresses, count: left }),
    );
  }

  /** Folds the partials at once, or leaves them. */
  private planFinalReduction(finish: EntryCode, count: number): void {
    for (const { name } of this.program.reduces) this.left.set(name, { address: Number(this.values[`partials:${name}`]), count });
    if (!this.binding.unfolded)
      this.steps.push(
        (this.finalReduction = this.reduceFinally(finish, new Map([...this.left].map(([name, piece]) => [name, [piece]])), this.values))
          .step,
      );
  }

  /** What folds partials of this launch, and of others of its kernel, on this GPU; undefined where they were folded at once, or are too many. */
  finalReductionOf(launches: readonly GpuLaunch[], values: Values, members?: Members): FinalReduction | undefined {
    const { finish } = this.program;
    return finish && this.reducesInOneKernel(launches) ? this.reduceFinally(finish, this.partialsOf(launches), values, members) : undefined;
  }

  /** Blocks of that on one of so many GPUs; undefined likewise. */
  finalReductionBlocks(launches: readonly GpuLaunch[], members: number): number | undefined {
    if (!this.reducesInOneKernel(launches)) return undefined;
    const [partials] = this.partialsOf(launches).values();
    return piecesOf(this.gpu.language, partials, 0, members).length;
  }

  private reducesInOneKernel(launches: readonly GpuLaunch[]): boolean {
    const { finish, fold } = this.program;
    if (!finish || fold || launches.some(({ binding }) => !binding.unfolded)) return false;
    return inOneKernel(this.gpu.language, launches.length);
  }

  private partialsOf(launches: readonly GpuLaunch[]): Map<string, Piece[]> {
    return new Map(this.program.reduces.map(({ name }) => [name, launches.map(({ left }) => left.get(name)!)]));
  }

  private reduceFinally(
    finish: EntryCode,
    pieces: ReadonlyMap<string, readonly Piece[]>,
    values: Values,
    members?: Members,
  ): FinalReduction {
    return new FinalReduction(this.gpu, this.program, finish, this.entries.get(finish.name)!, pieces, values, members);
  }

  /** threadIdx.x along the last axis. A strided grid fills the device once, but in three dimensions each block has a few planes. */
  private gridOver(policy: RangePolicy, strided: boolean): Gridded {
    const { begin, extents } = policy;
    const rank = extents.length;
    const { threads, row, planes } = this.program;
    const x = rank === 1 ? threads : Math.min(row, 2 ** Math.ceil(Math.log2(Math.max(1, extents[rank - 1]))));
    const block: Shape["block"] = [x, threads / x, 1];
    const before = strided ? 0 : begin[rank - 1] - alignedBegin(policy, this.binding.views);
    const counts = [
      extents[rank - 1] + before,
      rank > 1 ? extents[rank - 2] : 1,
      extents.slice(0, Math.max(0, rank - 2)).reduce((a, b) => a * b, 1),
    ];
    const grid = counts.map((count, d) => Math.max(1, blocks(count, block[d])));
    const shared = this.allocateCopies();
    if (planes > 0) return this.gridOverBox(extents, block, grid);
    if (!strided)
      return { shape: { grid: [grid[0], Math.min(grid[1], GRID_LIMIT), Math.min(grid[2], GRID_LIMIT)], block, shared }, values: {} };
    let left = this.entries.get(this.program.main.name)!.residentBlocks(threads, shared) * this.gpu.facts.multiprocessors;
    const fitted = grid.map((blocks) => {
      const taken = Math.max(1, Math.min(blocks, left, GRID_LIMIT));
      left = Math.floor(left / taken);
      return taken;
    });
    return { shape: { grid: [fitted[0], fitted[1], fitted[2]], block, shared }, values: {} };
  }

  /** A block for each stretch of elements. */
  private gridOfStretches(policy: RangePolicy): Gridded {
    const { stretch } = this.code.tiles!;
    const elements = sizeOf(policy);
    const shape: Shape = {
      grid: [Math.max(1, blocks(elements, stretch)), 1, 1],
      block: [this.program.threads, 1, 1],
      shared: this.allocateCopies(),
    };
    return { shape, values: { elements, stretch } };
  }

  /** Blocks in tiles of rows whose planes fit the cache together. */
  private gridOverBox(extents: readonly number[], block: Shape["block"], [rowBlocks, columnBlocks]: readonly number[]): Gridded {
    const [depth, rows, columns] = extents;
    const planes = Math.max(this.program.planes, blocks(depth, GRID_LIMIT));
    const slabs = blocks(depth, planes);
    const boxes = Object.values(this.binding.views).filter(({ size }) => size >= depth * rows * columns);
    const rowBytes = boxes.reduce((sum, { size, type }) => sum + (size / (depth * rows)) * BYTES[type], 0);
    const fitting = Math.max(
      1,
      Math.floor(((this.tuning.values.cacheShare ?? TILE_SHARE) * this.gpu.facts.l2Bytes) / (planes * rowBytes * block[1])),
    );
    // Planes that are looked at once may come in any order.
    const tiles = this.program.planes > 1 ? Math.min(GRID_LIMIT, blocks(columnBlocks, fitting)) : 1;
    const tile = blocks(columnBlocks, tiles);
    return { shape: { grid: [rowBlocks * tile, Math.max(1, slabs), tiles], block }, values: { rowBlocks, tile, planes } };
  }

  /** Bytes of the copies in shared memory; notes where each begins, in units of 8 bytes. */
  private allocateCopies(): number {
    let at = 0;
    for (const shared of this.program.shared) {
      this.values[`copy:${shared.name}`] = at / 8;
      at += copyBytes(this.binding, { name: shared.name, element: shared.type });
    }
    return at;
  }

  private want(key: string, bytes: number): void {
    if (bytes > 0) this.wanted.push({ key, bytes });
    else this.values[key] = 0;
  }

  private reserve(): void {
    const addresses: [key: string, offset: number][] = [];
    let end = 0;
    for (const { key, bytes } of this.wanted) {
      addresses.push([key, end]);
      end += Math.ceil(bytes / 256) * 256;
    }
    if (end === 0) return;
    this.temporary = this.gpu.allocate(end);
    for (const [key, offset] of addresses) this.values[key] = this.temporary.address + offset;
  }

  private step(code: EntryCode, shape: Shape, values: Values): void {
    this.steps.push(this.gpu.kernelStep(code, this.entries.get(code.name)!, shape, { ...this.values, ...values }));
    if (code === this.program.main && this.remarks.every((line) => !line.startsWith("grid")))
      this.remarks.push(`grid ${shape.grid.join(" x ")} of blocks of ${shape.block.join(" x ")} threads, ${this.program.traversal}`);
  }
}

const sizeOf = ({ extents }: RangePolicy): number => extents.reduce((a, b) => a * b, 1);

/** An empty view may begin behind its memory. */
const addressOf = (view: View): number => (view.size === 0 ? 0 : Number(view.buffer.address) + view.offset * BYTES[view.type]);

function argumentValues({ scalars, views, outputs, partials, policy, peerStores }: Binding): Record<string, number | boolean> {
  const values: Record<string, number | boolean> = {};
  for (const { param, side, to } of peerStores) {
    values[`peerStore:${param}:${side}`] = addressOf(to);
    values[`peerStorePlanes:${param}:${side}`] = to.shape[0];
  }
  for (const [name, value] of Object.entries(scalars)) values[`scalar:${name}`] = value;
  for (const [name, view] of Object.entries(views)) {
    values[`view:${name}`] = addressOf(view);
    values[`size:${name}`] = view.size;
    view.strides.forEach((stride, axis) => (values[`stride:${name}:${axis}`] = stride));
    view.shape.forEach((extent, axis) => (values[`extent:${name}:${axis}`] = extent));
  }
  for (const [name, view] of Object.entries(outputs)) values[`${partials ? "partials" : "output"}:${name}`] = view ? addressOf(view) : 0;
  return policy.kind === "range" ? Object.assign(values, policyValues(policy, views)) : values;
}

function policyValues(policy: RangePolicy, views: Binding["views"]): Record<string, number> {
  const { begin, extents } = policy;
  const bounds = begin.flatMap((first, axis) => [
    [`begin:${axis}`, first],
    [`end:${axis}`, first + extents[axis]],
    [`count:${axis}`, extents[axis]],
  ]);
  return { ...Object.fromEntries(bounds), alignedBegin: alignedBegin(policy, views) };
}
