import { entriesOf } from "../../emit/wgsl/kernel.js";
import { SORT, SORT_BITS, SORT_TILE } from "../../emit/wgsl/sorted-scatter.js";
import { WORKGROUP, wordsOf, type Entry, type SortedScatter, type WgslProgram } from "../../emit/wgsl/program.js";
import { laneLoops } from "../../ir/analysis/teams.js";
import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import type { Kernel } from "../../kernel/kernel.js";
import { requireLiveViews, type Binding as KernelBinding } from "../launch/bind.js";
import type { Cost, Launch, Precision } from "../device.js";
import { chunksBefore, chunksOf, chunksOfLine, decodeResults, planFolds } from "../gpu/partials.js";
import { rangeBatches, sortPasses, teamBatches } from "../gpu/sorted-contributions.js";
import type { Values } from "../gpu/steps.js";
import type { Policy, RangePolicy } from "../launch/policy.js";
import { freeTeamRows, residentTeams } from "../launch/team-rows.js";
import { LaunchTuning, scatterTunables } from "../tuning/tuning.js";
import { type Buffer } from "../memory/view.js";
import type { Gpu, GpuBuffer } from "./gpu.js";
import { whole } from "./host-data.js";
import type { Piece } from "./buffer-groups.js";
import { programOf, shapeTunables, type LaunchProgram } from "./program.js";
import {
  ClearStep,
  CopyStep,
  DispatchStep,
  GRID_LIMIT,
  groupsFor,
  linearGrid,
  planDispatches,
  type Binding,
  type Dispatch,
  type Step,
} from "./steps.js";

/** Chunks that one workgroup folds in a step. */
const CHUNKS_PER_GROUP = WORKGROUP / REDUCTION_LANES;
/** Contributions that are written and sorted at a time. */
const SORTED_AT_A_TIME = 1 << 20;
/** Workgroups of a grid that strides over its elements and folds. */
const FOLDING_GROUPS = 1024;

/** A kernel bound to arguments on one device: the steps of a run, and the temporary memory that they share. */
export class WebGpuLaunch implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  readonly cost: Cost;
  readonly remarks: string[] = [];
  readonly tuning: LaunchTuning;
  private readonly code: LaunchProgram;
  private readonly program: WgslProgram;
  private readonly values: Record<string, number | boolean>;
  private readonly planned: (Dispatch | { clear: string; bytes: number })[] = [];
  readonly steps: readonly Step[];
  private temporary: GpuBuffer | undefined;
  private uniforms: GPUBuffer | undefined;
  private readonly wanted: { key: string; words: number }[] = [];
  /** First words of the temporary memory's parts. */
  private readonly parts = new Map<string, number>();
  private readonly buffers: readonly Buffer[];
  /** There are results; else the partials, if any, lie in views. */
  private readonly folds: boolean;
  private freed = false;
  /** True once a queue has run it, until it is freed. */
  ran = false;

  constructor(
    readonly gpu: Gpu,
    readonly binding: KernelBinding,
  ) {
    ({ kernel: this.kernel, policy: this.policy, precision: this.precision, cost: this.cost } = binding);
    this.buffers = [...Object.values(binding.views), ...Object.values(binding.outputs)].flatMap((view) => view?.buffer ?? []);
    this.tuning = new LaunchTuning(binding, () => ({ ...scatterTunables(binding), ...shapeTunables(binding) }));
    this.code = programOf(gpu, binding, this.tuning.values.threads);
    this.program = this.code.program;
    this.remarks.push(...this.code.remarks, ...this.tuning.remarks);
    this.folds = this.program.reduces.length > 0 && !binding.partials;
    this.values = this.argumentValues();
    if (this.policy.kind === "team") this.planTeams(this.policy.league);
    else this.planElements(this.policy);
    if (this.policy.kind === "range" && this.policy.tile) this.remarks.push("tiles: none, as workgroups have one shape");
    this.steps = this.makeSteps();
  }

  /** Throws IsoformError where the launch or the memory of its views was freed, or the driver has refused a shader. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    if (this.buffers.some((buffer) => buffer.live === false)) requireLiveViews(this.gpu, this.binding);
    for (const step of this.steps) if (step instanceof DispatchStep && step.pipeline.failure) throw step.pipeline.failure;
  }

  source(): string {
    const sort = this.program.sorted.length > 0 ? Object.values(SORT) : [];
    return [...entriesOf(this.program), ...sort].map(({ source }) => source).join("\n");
  }

  /** Where the results lie, 8 bytes each, and how many bytes they are. */
  get resultRange(): { buffer: GPUBuffer; offset: number; bytes: number } | undefined {
    if (!this.folds) return undefined;
    return { buffer: this.temporary!.handle, offset: 4 * this.parts.get("results")!, bytes: 8 * this.program.reduces.length };
  }

  /** The reduce parameters' values from the bytes at `resultPlace`. */
  decodeResults(bytes: ArrayBuffer): Record<string, number> {
    const pair = (data: DataView, at: number) => whole(data.getFloat32(at, true), data.getFloat32(at + 4, true));
    return decodeResults(this.program.reduces, bytes, pair);
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.ran = false;
    this.gpu.commands.flush();
    freeTeamRows(this.binding);
    this.temporary?.free();
    this.code.buffers.packed?.buffer.free();
    this.uniforms?.destroy();
  }

  /* Planning: memory first, because the blocks of numbers hold its places. */

  private planElements(policy: RangePolicy): void {
    const { traversal } = this.program;
    if (traversal === "elements" || traversal === "strided" || traversal === "stretches") {
      const stretch = this.code.tiles?.stretch ?? 0;
      const gridOver = (piece: RangePolicy, most: number) =>
        traversal === "stretches" ? linearGrid(groupsFor(sizeOf(piece), stretch)) : gridOf(piece, most, this.program.main.workgroup);
      const grid = gridOver(policy, traversal === "strided" ? FOLDING_GROUPS : Infinity);
      const partials = sizeOf(policy) === 0 ? 0 : grid[0] * grid[1] * grid[2];
      this.wantPartials(partials);
      this.planRange(policy, (batch) => ({
        grid: batch === policy ? grid : gridOver(batch, Infinity),
        values: { elements: sizeOf(batch), stretch },
      }));
      this.planFolds(partials);
    } else {
      this.wantPartials(chunksOf(policy));
      this.planRange(policy, (batch) => {
        const chunks = chunksOf(batch);
        const before = chunksBefore(batch, policy);
        const partials = Object.fromEntries(
          this.program.reduces.map(({ name }) => [`partials:${name}`, Number(this.values[`partials:${name}`] ?? 0) + before]),
        );
        const grid = this.code.serial ? ([1, 1, 1] as const) : linearGrid(groupsFor(chunks, CHUNKS_PER_GROUP));
        return { grid, values: { chunks, chunksPerLine: chunksOfLine(policy), ...partials } };
      });
      this.planFolds(chunksOf(policy));
    }
  }

  private planTeams(league: number): void {
    const { serial, members } = this.code;
    const wish = this.policy.kind === "team" ? this.policy.size : undefined;
    this.remarks.push(
      serial
        ? "teams: one after the other, of one member"
        : `teams: workgroups of ${members} members${wish === undefined || wish === members ? "" : `, for the ${wish} asked for`}`,
      ...(laneLoops(this.binding.ir.body).length > 0
        ? ["lanes: 1 of a member, as no part of a workgroup can wait for its own stores"]
        : []),
    );
    const rows = residentTeams(this.binding);
    if (rows < league) this.remarks.push(`scratch: ${rows} teams at a time`);
    this.wantPartials(league);
    this.planBatches(
      teamBatches(league, this.mostSlots, SORTED_AT_A_TIME),
      ({ size }) => size,
      ({ first, size }) =>
        this.dispatch(this.program.main, [serial ? 1 : Math.min(size, rows, GRID_LIMIT), 1, 1], { firstTeam: first, league: first + size }),
    );
    this.planFolds(league);
  }

  /** The main shader over the range. */
  private planRange(policy: RangePolicy, planOf: (batch: RangePolicy) => { grid: Dispatch["grid"]; values: Values }): void {
    this.planBatches(
      this.rangeBatches(policy),
      (batch) => sizeOf(batch.policy),
      ({ policy: batch, piece }) => {
        const { grid, values } = planOf(batch);
        this.remarks.push(
          `grid ${grid.join(" x ")} of workgroups of ${this.program.main.workgroup.join(" x ")}, ${this.program.traversal}`,
        );
        this.dispatch(this.program.main, grid, { ...policyValues(batch), ...basesOf(piece), ...values }, piece);
      },
    );
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
      for (const { name } of contributed) this.planned.push({ clear: `keys:${name}`, bytes: 4 * slots[name] * size(batch) });
      run(batch);
      for (const target of contributed) this.planSort(target, slots[target.name] * size(batch));
    }
    if (batches.some((batch) => size(batch) > 0)) this.planRenormalisation();
  }

  private planRenormalisation(): void {
    for (const { name, entry } of this.program.renormalised) {
      const { size } = this.binding.views[name];
      this.dispatch(entry, linearGrid(groupsFor(size, WORKGROUP)), { size });
    }
  }

  private get mostSlots(): number {
    return Math.max(0, ...Object.values(this.code.slots));
  }

  /** Pieces of the range whose memory a shader sees, or whose contributions fit the memory for them; chunks stay whole. */
  private rangeBatches(policy: RangePolicy): { policy: RangePolicy; piece: Piece }[] {
    const { pieces } = this.code.buffers;
    if (this.mostSlots === 0) return pieces.map((piece) => ({ policy: piece.policy as RangePolicy, piece }));
    return rangeBatches(policy, this.mostSlots, SORTED_AT_A_TIME).map((batch) => ({ policy: batch, piece: pieces[0] }));
  }

  private reserveContributions({ name, type }: SortedScatter, most: number): void {
    for (const key of ["keys", "sortedKeys", "order", "sortedOrder"]) this.want(`${key}:${name}`, most);
    this.want(`values:${name}`, wordsOf(type) * most);
    this.want(`counts:${name}`, 2 ** SORT_BITS * groupsFor(most, SORT_TILE));
    this.want(`totals:${name}`, 2 ** SORT_BITS);
  }

  /** Sorts `count` contributions by target and adds them up. */
  private planSort({ name, apply, type }: SortedScatter, count: number): void {
    const at = (key: string) => this.parts.get(`${key}:${name}`) ?? 0;
    const tiles = groupsFor(count, SORT_TILE);
    // Keys are positions from 1 on; those of unused slots are 0.
    const bits = Math.floor(Math.log2(this.binding.views[name].size + 1)) + 1;
    const { passes, last } = sortPasses(bits, SORT_BITS, at, -1);
    for (const pass of passes) {
      const values = { ...pass, count, tiles, counts: at("counts"), totals: at("totals"), firstPass: pass.shift === 0 };
      const add = (entry: Entry, grid: Dispatch["grid"]) => this.planned.push({ entry, grid, values, bindings: [] });
      add(SORT.count, linearGrid(tiles));
      add(SORT.scan, [2 ** SORT_BITS, 1, 1]);
      add(SORT.move, linearGrid(tiles));
    }
    this.dispatch(apply, linearGrid(groupsFor(count, WORKGROUP)), { ...last, values: at("values") / wordsOf(type), count });
  }

  private wantPartials(count: number): void {
    if (!this.folds) return;
    this.want("results", 2 * this.program.reduces.length);
    for (const { name, type } of this.program.reduces) {
      this.want(`partials:${name}`, wordsOf(type) * Math.max(1, count));
      this.want(`folded:${name}`, wordsOf(type) * Math.max(1, groupsFor(count, REDUCTION_CHUNK)));
    }
  }

  /** Folds `count` partials to the results, and into the views that were bound for them. */
  private planFolds(count: number): void {
    const { fold, finish, reduces } = this.program;
    if (!fold || !finish) return;
    planFolds(
      reduces,
      this.values,
      count,
      (left, addresses) =>
        this.dispatch(fold, linearGrid(groupsFor(left, REDUCTION_CHUNK * CHUNKS_PER_GROUP)), { ...addresses, count: left }),
      (left, addresses) => this.dispatch(finish, [1, 1, 1], { ...addresses, count: left }),
    );
  }

  private want(key: string, words: number): void {
    this.wanted.push({ key, words });
  }

  private reserve(): void {
    let end = 0;
    for (const { key, words } of this.wanted) {
      this.parts.set(key, end);
      end += Math.ceil(words / 64) * 64;
    }
    if (end > 0) this.temporary = this.gpu.allocate(4 * end);
    const reduces = new Map(this.program.reduces.map(({ name, type }) => [name, type]));
    for (const [key, first] of this.parts) {
      const [kind, name] = key.split(":");
      const type = kind === "partials" || kind === "folded" ? reduces.get(name) : this.program.sorted.find((r) => r.name === name)?.type;
      this.values[key] = kind === "partials" || kind === "folded" || kind === "values" ? first / wordsOf(type!) : first;
    }
  }

  private dispatch(entry: Entry, grid: Dispatch["grid"], values: Values, { bindings } = this.code.buffers.pieces[0]): void {
    this.planned.push({ entry, grid, values: { ...this.values, ...values }, bindings });
  }

  private makeSteps(): Step[] {
    const temporary: Binding[] = this.temporary ? [{ buffer: this.temporary.handle, offset: 0, size: this.temporary.handle.size }] : [];
    const dispatches = this.planned.flatMap((planned) =>
      "clear" in planned ? [] : [{ ...planned, bindings: [...planned.bindings, ...temporary] }],
    );
    const { file } = this.kernel.location;
    const { uniforms, steps } = planDispatches(this.gpu, { name: this.kernel.name, file }, dispatches);
    this.uniforms = uniforms;
    let next = 0;
    const own = this.planned.map((planned) =>
      "clear" in planned
        ? new ClearStep({ buffer: this.temporary!.handle, offset: 4 * this.parts.get(planned.clear)!, size: planned.bytes })
        : steps[next++],
    );
    return [...this.copies(false), ...own, ...this.copies(true)];
  }

  /** Copies of arrays that share a binding: into it before a run, and what was written back afterwards. */
  private copies(back: boolean): Step[] {
    const { packed } = this.code.buffers;
    return (packed?.parts ?? []).flatMap(({ array, offset, size, written }) => {
      if (back && !written) return [];
      const [theirs, ours] = [
        { buffer: array, offset: 0, size },
        { buffer: packed!.buffer.handle, offset, size },
      ];
      return [back ? new CopyStep(ours, theirs) : new CopyStep(theirs, ours)];
    });
  }

  private argumentValues(): Record<string, number | boolean> {
    const { scalars, views, outputs, partials, policy } = this.binding;
    const [piece] = this.code.buffers.pieces;
    const values: Record<string, number | boolean> = { ...basesOf(piece) };
    for (const [name, value] of Object.entries(scalars)) values[`scalar:${name}`] = value;
    for (const [name, view] of Object.entries(views)) {
      view.strides.forEach((stride, axis) => (values[`stride:${name}:${axis}`] = stride));
      view.shape.forEach((extent, axis) => (values[`extent:${name}:${axis}`] = extent));
    }
    for (const [name, view] of Object.entries(outputs))
      if (view) values[`${partials ? "partials" : "output"}:${name}`] = piece.bases[`output:${name}`];
    return policy.kind === "range" ? Object.assign(values, policyValues(policy)) : values;
  }
}

const basesOf = ({ bases }: Piece): Record<string, number> =>
  Object.fromEntries(Object.entries(bases).map(([name, base]) => [`base:${name}`, base]));

const sizeOf = ({ extents }: RangePolicy): number => extents.reduce((a, b) => a * b, 1);

/** Workgroups along x, y and z for a range, at most `most` of them; they stride where they are fewer than its elements need. */
function gridOf({ extents }: RangePolicy, most: number, [width, height]: Entry["workgroup"]): [number, number, number] {
  const rank = extents.length;
  const counts = [
    groupsFor(extents[rank - 1], width),
    rank > 1 ? groupsFor(extents[rank - 2], height) : 1,
    extents.slice(0, Math.max(0, rank - 2)).reduce((a, b) => a * b, 1),
  ];
  let left = most;
  const [x, y, z] = counts.map((count) => {
    const taken = Math.max(1, Math.min(count, left, GRID_LIMIT));
    left = Math.floor(left / taken);
    return taken;
  });
  return [x, y, z];
}

const policyValues = ({ begin, extents }: RangePolicy): Record<string, number> =>
  Object.fromEntries(
    begin.flatMap((first, axis) => [
      [`begin:${axis}`, first],
      [`count:${axis}`, extents[axis]],
    ]),
  );
