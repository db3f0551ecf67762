import type { KernelIR, ReduceParam } from "../../ir/types.js";
import { emitJs, rangeSlots, type JsTarget, type AllocatedView } from "../../emit/js/index.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import { ANY_RANGE, SeenRanges } from "../cpu/any-range.js";
import type { Aside } from "../cpu/backlog.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import type { CpuProgram } from "../cpu/launch.js";
import { KEPT_BYTES, type Numbers, type Rerun } from "../cpu/rerun.js";
import { elementsIn } from "../cpu/work-like.js";
import { addressOf, belowOf } from "../cpu/host-view.js";
import { noCodeFromText, requireCodeFromText } from "../cpu/code-from-text.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { foldOfParam, finishReductions, partialArray, putScalar, type FoldFunction } from "../cpu/partials.js";
import { partialCount, type Policy } from "../../ir/launch.js";
import { tilesRemark } from "../../ir/analysis/tiles.js";
import type { Slice } from "../cpu/pool-control.js";
import { threadCount, WorkerPool } from "../cpu/pool.js";
import { foldCopies, freePlans, planScatters, withFoldings, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import type { Backend } from "../device.js";
import { BYTES } from "../memory/view.js";
import { LaunchTuning, scatterTunables, workerTunables } from "../tuning/tuning.js";

/** Below it, waking the workers costs more than they save. */
const SERIAL_ELEMENTS = 2048;
/** How many times longer an atomic update on BigInt64Array takes than one in compiled code. */
const ATOMIC_SLOWER = 2.5;
/** f64 slots for scalar arguments. */
const MAX_SCALARS = 256;
/** Slots of scalars and of what code for any range takes: begins and extents of four axes, and two of each reduction. */
const SLOTS = MAX_SCALARS + 8 + 2 * MAX_SCALARS;
/** Programs without a launch that are kept for the next launch of the same code. */
const KEPT_PROGRAMS = 64;

/** The `js` backend: emitted JavaScript on a pool of threads; portable, and the reference for strict bits. */
export const backend: Backend = {
  name: "js",
  single: true,
  threaded: true,
  async probe() {
    const threads = threadCount();
    const { label, versions } = describeMachine(threads);
    const missing = noCodeFromText();
    if (missing) return { backend: "js", devices: [], versions, missing };
    return { backend: "js", devices: [{ name: "js", label, capabilities: cpuCapabilities(threads, 0) }], versions };
  },
  async open(_index, { threads } = {}) {
    requireCodeFromText("js");
    const { memory } = cpuStorage();
    return new JsDevice(await WorkerPool.open({ memory, threads: threadCount(threads), device: "js" }));
  },
};

class JsDevice extends CpuDevice {
  readonly scalars = cpuStorage().allocate(8 * SLOTS);
  readonly programs: ProgramCache;
  readonly shared: SharedBuffers;

  constructor(readonly pool: WorkerPool) {
    const { label, versions } = describeMachine(pool.size);
    super("js", "js", label, cpuCapabilities(pool.size, 0), versions);
    this.programs = new ProgramCache(pool);
    this.shared = new SharedBuffers(pool);
  }

  protected build(binding: Binding, _args: unknown, isOnce: boolean): CpuProgram {
    this.pool.follow(cpuStorage().memory);
    return new JsProgram(binding, this, isOnce);
  }

  protected override async stop(): Promise<void> {
    await this.pool.close();
    this.scalars.free();
  }
}

/** One launch: its code, and the memory for its partial results. */
class JsProgram implements CpuProgram {
  readonly remarks: string[];
  readonly tuning: LaunchTuning;
  private readonly text: string;
  readonly anyRange: boolean;
  private readonly workers: number;
  private readonly plans: ScatterPlan[];
  readonly reductions: readonly Reduction[];
  private readonly ownBuffers = new Set<ArrayBufferLike>();
  private readonly binding: Binding;
  private code: CachedProgram;

  constructor(
    asked: Binding,
    private readonly device: JsDevice,
    isOnce: boolean,
  ) {
    const { pool, programs } = device;
    this.tuning = new LaunchTuning(asked, () => ({ ...scatterTunables(asked), ...workerTunables(pool.size) }));
    ({
      binding: this.binding,
      workers: this.workers,
      plans: this.plans,
    } = planScatters(
      asked,
      this.tuning.values.workers ?? workersFor(asked.policy, pool),
      (bytes) => cpuStorage().allocate(bytes),
      ATOMIC_SLOWER,
    ));
    withFoldings(this.binding, this.plans, (folding) => device.inner(folding));
    const { ir, policy } = this.binding;
    const scalarCount = ir.params.filter((p) => p.kind === "scalar").length;
    if (scalarCount > MAX_SCALARS)
      throw new LaunchError(`kernel "${ir.name}" has ${scalarCount} scalar parameters, and js takes ${MAX_SCALARS}: put them into a view`);
    const count = partialCount(policy);
    this.reductions = ir.params
      .filter((p): p is ReduceParam => p.kind === "reduce")
      .map((param) => ({
        param,
        room: count,
        partials: cpuStorage().allocate(8 * count),
        fold: param.joint ? undefined : foldOfParam(param),
      }));
    const strategies = this.plans.map(({ strategy }) => strategy);
    this.remarks = [
      `workers: ${this.workers}`,
      ...this.plans.map((plan) => plan.remark),
      ...tilesRemark(this.binding.ir, this.binding.policy, strategies),
    ];
    ({ text: this.text, anyRange: this.anyRange } = programs.textOf(this.target(), isOnce));
    if (this.anyRange) this.remarks.push(ANY_RANGE);
    this.code = programs.acquire(ir.name, this.text);
  }

  run(): Record<string, number> {
    this.begin().now();
    return this.end();
  }

  begin(): this {
    this.followMemory();
    fillSlots(this.device, this, this.binding);
    return this;
  }

  now(): void {
    this.device.pool.run(this.code.id, 0, this.workers);
  }

  get mostSlices(): number {
    return this.plans.length === 0 ? tasksIn(this.binding.policy, this.workers) / this.workers : 1;
  }

  aside(slice: Slice): Aside | undefined {
    return this.device.pool.aside(this.code.id, 0, this.workers, slice);
  }

  end(): Record<string, number> {
    foldCopies(this.plans);
    return finish(this.reductions, this.binding);
  }

  handOver(): Rerun | undefined {
    const { device, code, anyRange, reductions, ownBuffers } = this;
    if (this.plans.length > 0 || ownBuffers.size > 0 || reductions.some(({ room }) => 8 * room > KEPT_BYTES)) return undefined;
    return new JsRerun(device, { ir: this.binding.ir, anyRange, reductions }, code);
  }

  get ir(): KernelIR {
    return this.binding.ir;
  }

  source(): string {
    return this.text;
  }

  free(): void {
    this.device.programs.release(this.code, this.ownBuffers.size > 0);
    freePlans(this.plans);
    for (const { partials } of this.reductions) partials.free();
    for (const host of this.ownBuffers) this.device.shared.release(host);
  }

  private target(): JsTarget {
    const { ir, policy } = this.binding;
    const allocationOf = (buffer: CpuBuffer) => ({
      address: buffer.address,
      buffer: buffer.inWasmMemory ? undefined : this.share(buffer.host),
    });
    const views = Object.entries(this.binding.views).map(([name, view]): [string, AllocatedView] => {
      const { buffer } = allocationOf(view.buffer as CpuBuffer);
      return [
        name,
        {
          element: view.type,
          shape: view.shape,
          strides: view.strides,
          address: addressOf(view) - belowOf(view) * BYTES[view.type],
          buffer,
        },
      ];
    });
    return {
      ir,
      policy,
      workers: this.workers,
      views: Object.fromEntries(views),
      scalars: allocationOf(this.device.scalars),
      partials: Object.fromEntries(this.reductions.map(({ param, partials }) => [param.name, allocationOf(partials)])),
      scatter: Object.fromEntries(
        this.plans.map(({ name, strategy, copies, caches }) => [
          name,
          {
            strategy,
            copies: copies && { ...allocationOf(copies.buffer), stride: copies.stride },
            caches: caches && allocationOf(caches.buffer),
          },
        ]),
      ),
    };
  }

  private share(host: ArrayBufferLike): number {
    const { shared } = this.device;
    if (this.ownBuffers.has(host)) return shared.number(host);
    this.ownBuffers.add(host);
    return shared.acquire(host);
  }

  /** Growing detaches a memory that is not shared: the arrays in the code must be made anew. */
  private followMemory(): void {
    if (this.code.memory === cpuStorage().place) return;
    const { programs } = this.device;
    const code = programs.acquire(this.binding.ir.name, this.text);
    programs.release(this.code, true);
    this.code = code;
  }
}

/** Parameter whose partials a launch folds, and memory with room for some. */
interface Reduction {
  readonly param: ReduceParam;
  /** Undefined for a part of a joint reduction. */
  readonly fold: FoldFunction | undefined;
  room: number;
  partials: CpuBuffer;
}

/** Code of a launch, as far as its arguments depend on it. */
interface Run {
  readonly ir: KernelIR;
  readonly anyRange: boolean;
  readonly reductions: readonly Reduction[];
}

/** Writes what differs from launch to launch: scalars, and the range of code for any. */
function fillSlots({ scalars: { host, address } }: JsDevice, { ir, anyRange, reductions }: Run, { scalars, policy }: Numbers): void {
  const slots = new Float64Array(host, address, SLOTS);
  let n = 0;
  for (const param of ir.params) if (param.kind === "scalar") putScalar(slots, n++, scalars[param.name]);
  if (!anyRange || policy.kind !== "range") return;
  const at = rangeSlots({ ir, policy, anyRange: true });
  slots.set(policy.begin, at.begin);
  slots.set(policy.extents, at.extent);
  const count = partialCount(policy);
  reductions.forEach(({ partials }, k) => slots.set([partials.address, count], at.partials + 2 * k));
}

/** Folds the partials. */
function finish(reductions: readonly Reduction[], of: Pick<Binding, "policy" | "outputs" | "partials">): Record<string, number> {
  const count = partialCount(of.policy);
  const reduced = reductions.map(({ param, partials }) => ({
    param,
    partials: partialArray(param.type, partials.host, partials.address, count),
  }));
  return finishReductions(of, reduced, (param) => reductions.find((reduction) => reduction.param === param)!.fold!);
}

/** Parts that are each done by one worker: teams, lines, and chunks of lines where several work on them. */
function tasksIn(policy: Policy, workers: number): number {
  if (policy.kind === "team") return policy.league;
  const { extents } = policy;
  return workers === 1 ? elementsIn({ extents: extents.slice(0, -1) }) : partialCount(policy);
}

/** Workers of a launch that is not tuned. */
function workersFor(policy: Policy, pool: WorkerPool): number {
  return policy.kind === "range" && elementsIn(policy) < SERIAL_ELEMENTS ? 1 : pool.size;
}

class JsRerun implements Rerun {
  readonly anyRange: boolean;
  /** Policy of the run that was begun. */
  private policy!: Policy;

  constructor(
    private readonly device: JsDevice,
    private readonly of: Run,
    private readonly code: CachedProgram,
  ) {
    this.anyRange = of.anyRange;
  }

  begin(numbers: Numbers): boolean {
    const { reductions } = this.of;
    const { policy } = numbers;
    const count = partialCount(policy);
    if (reductions.length > 0 && 16 * count > KEPT_BYTES) return false;
    for (const reduction of reductions) {
      if (count <= reduction.room) continue;
      reduction.partials.free();
      reduction.room = 2 * count;
      reduction.partials = cpuStorage().allocate(8 * reduction.room);
    }
    fillSlots(this.device, this.of, numbers);
    this.policy = policy;
    return true;
  }

  now(): void {
    const { pool } = this.device;
    pool.run(this.code.id, 0, workersFor(this.policy, pool));
  }

  get mostSlices(): number {
    const workers = workersFor(this.policy, this.device.pool);
    return tasksIn(this.policy, workers) / workers;
  }

  aside(slice: Slice): Aside | undefined {
    const { pool } = this.device;
    return pool.aside(this.code.id, 0, workersFor(this.policy, pool), slice);
  }

  end(): Record<string, number> {
    return finish(this.of.reductions, { policy: this.policy, outputs: {}, partials: false });
  }

  free(): void {
    this.device.programs.release(this.code, false);
    for (const { partials } of this.of.reductions) partials.free();
  }
}

interface CachedProgram {
  readonly text: string;
  readonly id: number;
  readonly memory: object;
  users: number;
}

/** The pool's programs by their text, and the texts of targets. */
class ProgramCache {
  private readonly known = new Map<string, CachedProgram>();
  private readonly texts = new WeakMap<KernelIR, Map<string, string>>();
  private readonly ranges = new SeenRanges();

  constructor(private readonly pool: WorkerPool) {}

  /** Emits the target's code, or finds it emitted; for any range where the kernel is launched over many. */
  textOf(target: JsTarget, isOnce: boolean): { text: string; anyRange: boolean } {
    const key = keyOf(target);
    const known = this.texts.get(target.ir);
    const own = known?.get(key);
    if (own !== undefined) return { text: own, anyRange: false };
    const free = forAnyRange(target);
    const rest = keyOf(free);
    const anyRange = rangeSlots(free).end <= SLOTS && this.ranges.areMany(target, rest, isOnce);
    return { text: anyRange ? (known?.get(rest) ?? this.emitted(rest, free)) : this.emitted(key, target), anyRange };
  }

  private emitted(key: string, target: JsTarget): string {
    const { ir } = target;
    let texts = this.texts.get(ir);
    if (!texts || texts.size >= KEPT_PROGRAMS) this.texts.set(ir, (texts = new Map()));
    const text = emitJs(target);
    texts.set(key, text);
    return text;
  }

  acquire(name: string, text: string): CachedProgram {
    const memory = cpuStorage().place;
    const before = this.known.get(text);
    let program = before?.memory === memory ? before : undefined;
    if (!program) {
      program = { text, id: this.pool.register({ kind: "js", name, source: text }), memory, users: 0 };
      this.known.set(text, program);
      if (before?.users === 0) this.pool.release(before.id);
    }
    program.users++;
    return program;
  }

  /** A launch of the program is gone; `forget` where nothing may be kept for a later one. */
  release(program: CachedProgram, forget: boolean): void {
    program.users--;
    if (program.users === 0 && (forget || this.known.get(program.text) !== program)) this.drop(program);
    if (this.known.size <= KEPT_PROGRAMS) return;
    for (const other of this.known.values()) if (other.users === 0) return this.drop(other);
  }

  private drop(program: CachedProgram): void {
    if (this.known.get(program.text) === program) this.known.delete(program.text);
    this.pool.release(program.id);
  }
}

const keyOf = (target: JsTarget): string => JSON.stringify({ ...target, ir: undefined });

/** The target with what depends on its range taken out; partials keep the memory that they lie in. */
function forAnyRange(target: JsTarget): JsTarget {
  const { policy, partials } = target;
  if (policy.kind !== "range") return target;
  const axes = policy.extents.map(() => 0);
  const moved = Object.fromEntries(Object.entries(partials).map(([name, { buffer }]) => [name, { address: 0, buffer }]));
  return { ...target, policy: { kind: "range", begin: axes, extents: axes }, workers: 0, partials: moved, anyRange: true };
}

/** Buffers outside the WebAssembly memory, known to the pool while some launch uses them. */
class SharedBuffers {
  private readonly known = new Map<ArrayBufferLike, { id: number; users: number }>();

  constructor(private readonly pool: WorkerPool) {}

  acquire(host: ArrayBufferLike): number {
    let buffer = this.known.get(host);
    if (!buffer) this.known.set(host, (buffer = { id: this.pool.share(host as SharedArrayBuffer), users: 0 }));
    buffer.users++;
    return buffer.id;
  }

  number(host: ArrayBufferLike): number {
    return this.known.get(host)!.id;
  }

  release(host: ArrayBufferLike): void {
    const buffer = this.known.get(host)!;
    if (--buffer.users > 0) return;
    this.known.delete(host);
    this.pool.unshare(buffer.id);
  }
}
