import type { KernelIR, ReduceParam, ScalarParam } from "../../ir/types.js";
import { emitJs, type JsTarget, type AllocatedView } from "../../emit/js/index.js";
import { LaunchError } from "../../ir/errors.js";
import type { Binding } from "../launch/binding.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import type { CpuProgram } from "../cpu/launch.js";
import { addressOf } from "../cpu/host-view.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { foldOfParam, finishReduction } from "../cpu/partials.js";
import { partialCount } from "../../ir/launch.js";
import { tilesRemark } from "../../ir/analysis/tiles.js";
import { threadCount, WorkerPool } from "../cpu/pool.js";
import { freePlans, planScatters, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import type { Backend } from "../device.js";
import { LaunchTuning, scatterTunables, workerTunables } from "../tuning/tuning.js";

/** Below it, waking the workers costs more than they save. */
const SERIAL_ELEMENTS = 2048;
/** An atomic update on BigInt64Array against copying and folding one element. */
const ATOMIC_COST = 20;
/** f64 slots for scalar arguments. */
const MAX_SCALARS = 256;
/** Programs without a launch that are kept for the next launch of the same code. */
const KEPT_PROGRAMS = 64;

/** The `js` backend: emitted JavaScript on a pool of threads; portable, and the reference for strict bits. */
export const backend: Backend = {
  name: "js",
  single: true,
  async probe() {
    const threads = threadCount();
    const { label, versions } = describeMachine(threads);
    return { backend: "js", devices: [{ name: "js", label, capabilities: cpuCapabilities(threads, 0) }], versions };
  },
  async open() {
    const { memory } = cpuStorage();
    return new JsDevice(await WorkerPool.open({ memory, threads: threadCount(), device: "js" }));
  },
};

class JsDevice extends CpuDevice {
  private readonly scalars = cpuStorage().allocate(8 * MAX_SCALARS);
  private readonly programs: ProgramCache;
  private readonly shared: SharedBuffers;

  constructor(private readonly pool: WorkerPool) {
    const { label, versions } = describeMachine(pool.size);
    super("js", "js", label, cpuCapabilities(pool.size, 0), versions);
    this.programs = new ProgramCache(pool);
    this.shared = new SharedBuffers(pool);
  }

  protected build(binding: Binding): CpuProgram {
    this.pool.follow(cpuStorage().memory);
    return new JsProgram(binding, this.pool, this.programs, this.shared, this.scalars);
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
  private readonly workers: number;
  private readonly plans: ScatterPlan[];
  private readonly reductions: { param: ReduceParam; partials: CpuBuffer; count: number; fold: (a: number, b: number) => number }[];
  private readonly ownBuffers = new Set<ArrayBufferLike>();
  private readonly binding: Binding;
  private code: CachedProgram;

  constructor(
    asked: Binding,
    private readonly pool: WorkerPool,
    private readonly programs: ProgramCache,
    private readonly shared: SharedBuffers,
    private readonly scalars: CpuBuffer,
  ) {
    this.tuning = new LaunchTuning(asked, () => ({ ...scatterTunables(asked), ...workerTunables(pool.size) }));
    const elements = asked.policy.kind === "team" ? Infinity : asked.policy.extents.reduce((a, b) => a * b, 1);
    ({
      binding: this.binding,
      workers: this.workers,
      plans: this.plans,
    } = planScatters(asked, this.tuning.values.workers ?? (elements < SERIAL_ELEMENTS ? 1 : pool.size), ATOMIC_COST, (bytes) =>
      cpuStorage().allocate(bytes),
    ));
    const { ir, policy } = this.binding;
    const scalarCount = ir.params.filter((p) => p.kind === "scalar").length;
    if (scalarCount > MAX_SCALARS)
      throw new LaunchError(`kernel "${ir.name}" has ${scalarCount} scalar parameters, and js takes ${MAX_SCALARS}: put them into a view`);
    this.reductions = ir.params
      .filter((p): p is ReduceParam => p.kind === "reduce")
      .map((param) => {
        const count = partialCount(policy);
        return { param, count, partials: cpuStorage().allocate(8 * count), fold: foldOfParam(param) };
      });
    const strategies = this.plans.map(({ strategy }) => strategy);
    this.remarks = [
      `workers: ${this.workers}`,
      ...this.plans.map((plan) => plan.remark),
      ...tilesRemark(this.binding.ir, this.binding.policy, strategies),
    ];
    this.text = programs.textOf(this.target());
    this.code = programs.acquire(ir.name, this.text);
  }

  run(): Record<string, number> {
    this.followMemory();
    const params = this.binding.ir.params.filter((p): p is ScalarParam => p.kind === "scalar");
    const slots = new Float64Array(this.scalars.host, this.scalars.address, MAX_SCALARS);
    params.forEach((p, n) => (slots[n] = Number(this.binding.scalars[p.name])));
    this.pool.run(this.code.id, 0, this.workers);
    for (const plan of this.plans) plan.copies?.fold();
    const results: Record<string, number> = {};
    for (const { param, partials, count, fold } of this.reductions)
      finishReduction(this.binding, param, fold, new Float64Array(partials.host, partials.address, count), results);
    return results;
  }

  source(): string {
    return this.text;
  }

  free(): void {
    this.programs.release(this.code, this.ownBuffers.size > 0);
    freePlans(this.plans);
    for (const { partials } of this.reductions) partials.free();
    for (const host of this.ownBuffers) this.shared.release(host);
  }

  private target(): JsTarget {
    const { ir, policy } = this.binding;
    const allocationOf = (buffer: CpuBuffer) => ({
      address: buffer.address,
      buffer: buffer.inWasmMemory ? undefined : this.share(buffer.host),
    });
    const views = Object.entries(this.binding.views).map(([name, view]): [string, AllocatedView] => {
      const { buffer } = allocationOf(view.buffer as CpuBuffer);
      return [name, { element: view.type, shape: view.shape, strides: view.strides, address: addressOf(view), buffer }];
    });
    return {
      ir,
      policy,
      workers: this.workers,
      views: Object.fromEntries(views),
      scalars: allocationOf(this.scalars),
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
    if (this.ownBuffers.has(host)) return this.shared.number(host);
    this.ownBuffers.add(host);
    return this.shared.acquire(host);
  }

  /** Growing detaches a memory that is not shared: the arrays in the code must be made anew. */
  private followMemory(): void {
    if (this.code.memory === currentMemory()) return;
    const code = this.programs.acquire(this.binding.ir.name, this.text);
    this.programs.release(this.code, true);
    this.code = code;
  }
}

/** What the arrays in code lie in: another object where they must be made anew. */
function currentMemory(): object {
  const { shared, memory } = cpuStorage();
  return shared ? memory : memory.buffer;
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

  constructor(private readonly pool: WorkerPool) {}

  /** Emits the target's code, or finds it emitted. */
  textOf(target: JsTarget): string {
    const { ir, ...rest } = target;
    const key = JSON.stringify(rest);
    let texts = this.texts.get(ir);
    if (!texts || texts.size >= KEPT_PROGRAMS) this.texts.set(ir, (texts = new Map()));
    let text = texts.get(key);
    if (text === undefined) texts.set(key, (text = emitJs(target)));
    return text;
  }

  acquire(name: string, text: string): CachedProgram {
    const memory = currentMemory();
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
