import { listing } from "#listing";
import { unreachable } from "../../ir/unreachable.js";
import { ELEMENTS } from "../../ir/scalars.js";
import { DeviceError } from "../../ir/errors.js";
import type { KernelIR, ReduceParam, ScalarParam, ScalarType } from "../../ir/types.js";
import { emitWasm, LANE_BYTES, workOfRange } from "../../emit/wasm/module.js";
import type { WasmKernel, WasmSpec } from "../../emit/wasm/module.js";
import type { WasmSlot } from "../../emit/slots.js";
import type { Binding } from "../launch/binding.js";
import { ANY_RANGE, enclosing, SeenRanges } from "../cpu/any-range.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import { countOf, transferCall, type Captured, type Region } from "../cpu/graph.js";
import { CpuLaunch, type CpuProgram } from "../cpu/launch.js";
import { addressOf } from "../cpu/host-view.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { partialCount, type Policy, type RangePolicy } from "../../ir/launch.js";
import { threadCount, WorkerPool, type RegionPart } from "../cpu/pool.js";
import { freePlans, planScatters, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type Allocate, type CpuBuffer } from "../cpu/storage.js";
import { hasWebAssembly, memoryLimits, moreMemory, noMemory, PAGE } from "../cpu/wasm-memory.js";
import type { Backend } from "../device.js";
import { LaunchTuning, scatterTunables, workerTunables } from "../tuning/tuning.js";
import { BYTES } from "../memory/view.js";
import { compiles, enableRelaxedSimd, hasSimd } from "./features.js";
import { Partials } from "./partials.js";

/** Launches that move fewer bytes and do less arithmetic than this run on one thread: waking the others takes longer. */
const SERIAL_BYTES = 32768;
const SERIAL_FLOPS = 20000;
/** An atomic update in units of an element's copy and fold. */
const ATOMIC_COST = 8;
/** Modules without a launch that are kept for the next launch of the same kind. */
const KEPT_MODULES = 256;
const SIMD_BYTES = 16;

/** The `wasm` backend: WebAssembly with SIMD on a pool of threads, compiled for each kernel and its extents when it is first launched. */
export const backend: Backend = {
  name: "wasm",
  single: true,
  threaded: true,
  async probe() {
    const threads = threadCount();
    const { label, versions } = describeMachine(threads);
    const capabilities = cpuCapabilities(threads, SIMD_BYTES, memoryLimits().most * PAGE);
    const missing = missingHere();
    if (missing) return { backend: "wasm", devices: [], versions, missing };
    return { backend: "wasm", devices: [{ name: "wasm", label, capabilities }], versions };
  },
  async open(_index, { threads } = {}) {
    const missing = missingHere();
    if (missing) throw new DeviceError("wasm", missing.reason, missing.remedy);
    const { memory } = cpuStorage();
    const relaxed = await enableRelaxedSimd();
    return new WasmDevice(await WorkerPool.open({ memory, threads: threadCount(threads), device: "wasm" }), relaxed);
  },
};

const noSimd = {
  reason: "this engine has no WebAssembly SIMD",
  remedy: "use Node 16.4, Chrome 91, Firefox 89, Safari 16.4 or newer, or the device js",
};

/** Reason why this backend cannot work here, and the remedy. */
function missingHere(): { reason: string; remedy: string } | undefined {
  if (!hasWebAssembly()) return noWebAssembly;
  if (!hasSimd()) return noSimd;
  if (!compiles()) return noCompiling;
  const words = cpuStorage().noMemory;
  return words === undefined ? undefined : noMemory(words);
}

const noWebAssembly = {
  reason: "this engine has no WebAssembly (node --jitless turns it off)",
  remedy: "start it without that option, or use the device js",
};

const noCompiling = {
  reason: "WebAssembly may not be compiled here: the page's Content-Security-Policy lacks 'wasm-unsafe-eval'",
  remedy: "add 'wasm-unsafe-eval' to its script-src; nothing else is needed",
};

class WasmDevice extends CpuDevice {
  private readonly modules: ModuleCache;

  constructor(
    private readonly pool: WorkerPool,
    private readonly relaxed: boolean,
  ) {
    const { label, versions } = describeMachine(pool.size);
    super("wasm", "wasm", label, cpuCapabilities(pool.size, SIMD_BYTES, memoryLimits().most * PAGE), versions);
    this.modules = new ModuleCache(pool);
  }

  protected override allocate(what: string, bytes: number, onFree?: () => void): CpuBuffer {
    const buffer = cpuStorage().allocateForWasm(bytes, onFree);
    if (!buffer) throw beyondMemory(what, bytes);
    return buffer;
  }

  protected build(asked: Binding, _args: unknown, isOnce: boolean): CpuProgram {
    const { kernel } = asked;
    for (const [name, view] of Object.entries({ ...asked.views, ...(asked.partials ? asked.outputs : {}) }))
      if (view && !(view.buffer as CpuBuffer).inWasmMemory)
        throw beyondMemory(`kernel "${kernel.name}", view "${name}"`, view.buffer.bytes);
    for (;;) {
      const { memory } = cpuStorage();
      if (this.pool.follow(memory)) this.modules.clear();
      const program = this.buildHere(asked, isOnce);
      if (cpuStorage().memory === memory) return program;
      // Its own memory was what the storage had to move for.
      program.free();
    }
  }

  private buildHere(asked: Binding, isOnce: boolean): CpuProgram {
    const { cost, kernel } = asked;
    const allocate = (bytes: number) => this.allocate(`a launch of kernel "${kernel.name}"`, bytes);
    const tuning = new LaunchTuning(asked, () => ({ ...scatterTunables(asked), ...workerTunables(this.pool.size) }));
    const small = cost.bytes < SERIAL_BYTES && cost.flops < SERIAL_FLOPS;
    const wanted = tuning.values.workers ?? (small ? 1 : this.pool.size);
    const { binding, workers, plans } = planScatters(asked, wanted, ATOMIC_COST, allocate);
    const { ir } = binding;
    const spec: WasmSpec = {
      ir,
      policy: binding.policy,
      precision: binding.precision,
      ordered: binding.ordered,
      views: Object.fromEntries(
        Object.entries(binding.views).map(([name, { type, shape, strides }]) => [name, { element: type, shape, strides }]),
      ),
      scatter: Object.fromEntries(plans.map(({ name, strategy }) => [name, strategy])),
      disjointMemory: binding.disjointMemory,
      relaxed: this.relaxed,
      shared: cpuStorage().shared,
      wide: cpuStorage().wide,
    };
    return new WasmProgram(binding, tuning, this.pool, this.modules, this.modules.acquire(spec, isOnce), plans, workers, allocate);
  }

  /** One region of the pool. */
  override region(work: readonly Captured[]): Region {
    const launches = new Set(work.filter((item) => item instanceof CpuLaunch));
    const parts = work.flatMap((item) => (item instanceof CpuLaunch ? (item.program as WasmProgram).parts(item) : transferCall(item)));
    const region = this.pool.region(`a graph of ${countOf(work)}`, parts);
    return {
      remark: `${countOf(work)}: one region of ${this.pool.size} workers with ${region.barriers} barrier${region.barriers === 1 ? "" : "s"}`,
      run: () => {
        for (const launch of launches) launch.results ??= {};
        region.run();
      },
      free: region.free,
    };
  }

  protected override stop(): Promise<void> {
    return this.pool.close();
  }
}

function beyondMemory(what: string, bytes: number): DeviceError {
  const pages = cpuStorage().mostPages;
  const { reason, remedy } = moreMemory(pages);
  const size = gib(pages * PAGE);
  return new DeviceError(
    "wasm",
    `${what}: ${gib(bytes)} do not fit into WebAssembly's memory of ${size} with what it holds already, ${reason}`,
    remedy,
  );
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;

interface CachedModule {
  key: string;
  kernel: WasmKernel;
  id: number;
  users: number;
}

/** Modules by what they are specialised on, registered with the pool. */
class ModuleCache {
  private readonly known = new Map<string, CachedModule>();
  private readonly kernels = new WeakMap<KernelIR, number>();
  private nextKernel = 0;
  private readonly ranges = new SeenRanges();

  constructor(private readonly pool: WorkerPool) {}

  /** @param isOnce the launch runs once */
  acquire(spec: WasmSpec, isOnce: boolean): CachedModule {
    const { ir, policy } = spec;
    const rest = JSON.stringify({ ...spec, ir: undefined, policy: undefined });
    const keyOf = (of: Policy, what: string): string => `${this.numberOf(ir)} ${what} ${JSON.stringify(of)} ${rest}`;
    const own = keyOf(policy, "range");
    let module = this.known.get(own);
    if (!module && this.ranges.areMany(spec, rest, isOnce)) {
      const around = enclosing(policy as RangePolicy);
      module = this.made(keyOf(around, "any range in"), { ...spec, policy: around, anyRange: true });
    }
    module ??= this.made(own, spec);
    module.users++;
    return module;
  }

  private made(key: string, spec: WasmSpec): CachedModule {
    let found = this.known.get(key);
    if (!found) {
      const kernel = emitWasm(spec);
      found = { key, kernel, id: this.pool.register({ kind: "wasm", name: spec.ir.name, bytes: kernel.bytes }), users: 0 };
      this.known.set(key, found);
    }
    return found;
  }

  /** The pool has forgotten all of them. */
  clear(): void {
    this.known.clear();
  }

  release(module: CachedModule): void {
    module.users--;
    if (this.known.size <= KEPT_MODULES) return;
    const idle = [...this.known.values()].find(({ users }) => users === 0);
    if (!idle) return;
    this.known.delete(idle.key);
    this.pool.release(idle.id);
  }

  private numberOf(ir: KernelIR): number {
    let n = this.kernels.get(ir);
    if (n === undefined) this.kernels.set(ir, (n = this.nextKernel++));
    return n;
  }
}

/** A launch: a module, its argument block, and the memory for partial results. */
class WasmProgram implements CpuProgram {
  readonly remarks: string[];
  private readonly args: CpuBuffer;
  private readonly temporary: { free(): void }[];
  private readonly reductions: Partials[];
  private readonly results: Record<string, number> = {};
  private readonly empty: boolean;

  constructor(
    private readonly binding: Binding,
    readonly tuning: LaunchTuning,
    private readonly pool: WorkerPool,
    private readonly modules: ModuleCache,
    private readonly module: CachedModule,
    private readonly plans: readonly ScatterPlan[],
    private readonly workers: number,
    allocate: Allocate,
  ) {
    const { kernel } = module;
    const { ir, policy } = binding;
    this.empty = policy.kind === "team" ? policy.league === 0 : policy.extents.includes(0);
    this.reductions = (binding.partials ? [] : ir.params)
      .filter((p): p is ReduceParam => p.kind === "reduce")
      .map((p) => {
        const count = this.byWorkers ? (workers * LANE_BYTES) / BYTES[p.type] : partialCount(policy);
        return new Partials(p, count, this.byWorkers, binding.outputs[p.name], allocate);
      });
    this.args = allocate(8 * kernel.slots.length);
    const scratch = allocate(kernel.scratchBytes * workers);
    const tables = allocate(kernel.tableBytes.length);
    new Uint8Array(tables.host, tables.address, kernel.tableBytes.length).set(kernel.tableBytes);
    this.temporary = [this.args, scratch, tables, ...this.reductions];

    for (const { slot, offset } of kernel.slots) this.fill(slot, offset, { scratch: scratch.address, tables: tables.address });
    this.remarks = [
      `workers: ${workers}`,
      ...plans.map((plan) => plan.remark),
      ...kernel.remarks,
      ...(kernel.inner === undefined ? [] : [ANY_RANGE]),
    ];
  }

  run(): Record<string, number> {
    this.begin();
    if (!this.empty) this.pool.run(this.module.id, this.args.address, this.workers);
    return this.end();
  }

  /** The same as parts of a region; the launch's results are set on the way. */
  parts(launch: CpuLaunch): RegionPart[] {
    const parts: RegionPart[] = [];
    if (this.byWorkers && this.reductions.length > 0) parts.push(() => this.begin());
    if (!this.empty) parts.push({ program: this.module.id, args: this.args.address, workers: this.workers });
    if (this.reductions.length > 0 || this.plans.some((plan) => plan.copies)) parts.push(() => void (launch.results = this.end()));
    return parts;
  }

  private get byWorkers(): boolean {
    return this.module.kernel.partials === "workers";
  }

  /** Work of the calling thread before the workers. */
  private begin(): void {
    for (const partials of this.reductions) partials.clear();
  }

  /** And after them: gives the results, always in one object, for many a launch takes no longer than to make one. */
  private end(): Record<string, number> {
    for (const plan of this.plans) plan.copies?.fold();
    for (const partials of this.reductions) this.results[partials.param.name] = partials.finish();
    return this.results;
  }

  source(): string {
    return listing(this.module.kernel.bytes);
  }

  free(): void {
    this.modules.release(this.module);
    for (const buffer of this.temporary) buffer.free();
    freePlans(this.plans);
  }

  /** Writes the entry of a slot into the argument block. */
  private fill(slot: WasmSlot, offset: number, own: { scratch: number; tables: number }): void {
    const { binding } = this;
    const entry = new DataView(this.args.host, this.args.address + offset, 8);
    const address = (value: number) => entry.setBigUint64(0, BigInt(value), true);
    switch (slot.kind) {
      case "scalar": {
        const param = binding.ir.params.find((p): p is ScalarParam => p.kind === "scalar" && p.name === slot.name)!;
        return put(entry, param.type, Number(binding.scalars[slot.name]));
      }
      case "view":
        return address(addressOf(binding.views[slot.name]));
      case "copies":
        return address(this.plan(slot.name).copies?.buffer.address ?? 0);
      case "copyStride":
        return address(this.plan(slot.name).copies?.stride ?? 0);
      case "caches":
        return address(this.plan(slot.name).caches!.buffer.address);
      case "partials":
        return address(
          binding.partials
            ? addressOf(binding.outputs[slot.name]!)
            : this.reductions.find(({ param }) => param.name === slot.name)!.address,
        );
      case "tables":
        return address(own.tables);
      case "scratch":
        return address(own.scratch);
      case "scratchStride":
        return put(entry, "u32", this.module.kernel.scratchBytes);
      case "begin":
        return put(entry, "i32", this.range.begin[slot.axis]);
      case "count":
        return put(entry, "u32", this.range.extents[slot.axis]);
      case "units":
      case "batch":
        return put(entry, "u32", workOfRange(this.range, this.module.kernel.inner!)[slot.kind]);
      default:
        return unreachable(slot);
    }
  }

  private get range(): RangePolicy {
    return this.binding.policy as RangePolicy;
  }

  private plan(target: string): ScatterPlan {
    return this.plans.find(({ name }) => name === target)!;
  }
}

function put(entry: DataView, type: ScalarType, value: number): void {
  if (type === "bool") entry.setUint32(0, value, true);
  else entry[ELEMENTS[type].set](0, value, true);
}
