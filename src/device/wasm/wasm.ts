import type { WasmSpec } from "../../emit/wasm/module.js";
import { DeviceError } from "../../base/errors.js";
import type { Policy } from "../../ir/launch.js";
import type { Binding } from "../launch/binding.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import { countOf, transferCall, type CapturedWork, type CapturedRegion } from "../cpu/graph.js";
import { CpuLaunch, type CpuProgram } from "../cpu/launch.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { threadCount, WorkerPool } from "../cpu/pool.js";
import { WorkLike, type Serial } from "../cpu/work-like.js";
import { planScatters, withFoldings } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import { hasWebAssembly, memoryLimits, moreMemory, noMemory, PAGE } from "../cpu/wasm-memory.js";
import type { Backend } from "../device.js";
import { LaunchTuning, scatterTunables, workerTunables } from "../tuning/tuning.js";
import { compiles, enableRelaxedSimd, hasSimd } from "./features.js";
import { ModuleCache } from "./modules.js";
import { WasmProgram, type WasmCode } from "./wasm-program.js";

/** Launches that move fewer bytes and do less arithmetic than this run on one thread: waking the others takes longer. */
const SERIAL: Serial = { bytes: 32768, flops: 20000 };
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
    const { kernel } = asked;
    const work = new WorkLike(asked.cost, asked.policy, SERIAL);
    const allocate = (bytes: number) => this.allocate(`a launch of kernel "${kernel.name}"`, bytes);
    const tuning = new LaunchTuning(asked, () => ({ ...scatterTunables(asked), ...workerTunables(this.pool.size) }));
    const threads = (policy: Policy): number => (this.pool.size === 1 || work.isSmall(policy) ? 1 : this.pool.size);
    const wanted = tuning.values.workers ?? threads(asked.policy);
    const { binding, workers, plans } = planScatters(asked, wanted, allocate);
    withFoldings(binding, plans, (folding) => this.inner(folding));
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
    const code: WasmCode = { module: this.modules.acquire(spec, isOnce), modules: this.modules, pool: this.pool };
    return new WasmProgram(binding, tuning, code, plans, workers, { allocate, threads });
  }

  /** One region of the pool. */
  override region(work: readonly CapturedWork[]): CapturedRegion {
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
