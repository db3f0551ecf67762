import { derive } from "../../cache/derive.js";
import { memoised, named } from "#memoise";
import type { Aside } from "../cpu/backlog.js";
import { mayCompileAside, StillCompiling } from "../cpu/compile-aside.js";
import { threadCount } from "../cpu/pool.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import { countOf, type CapturedWork, type CapturedRegion } from "../cpu/graph.js";
import { CpuLaunch, type CpuProgram } from "../cpu/launch.js";
import { addressOf, hostOf } from "../cpu/host-view.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import type { Policy } from "../../ir/launch.js";
import { tilesOf } from "../../ir/analysis/tiles.js";
import { freePlans, planScatters, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage } from "../cpu/storage.js";
import { WorkLike, type Serial } from "../cpu/work-like.js";
import { noKoffi } from "../ffi.js";
import { DeviceError } from "../../base/errors.js";
import { emitOpenMP, type OpenMPOptions, type OpenMPProgram } from "../../emit/c/openmp.js";
import type { KernelIR } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { LaunchTuning, scatterTunables, workerTunables, type Tunables } from "../tuning/tuning.js";
import type { View } from "../memory/view.js";
import { keepSource } from "../../cache/keep-source.js";
import { ASIDE_FUNCTION, ASIDE_SOURCE, startAside } from "./aside.js";
import { compileEarly, compileLibrary, findCompiler, startCompile, hasOpenMP, processorFlags, type Compiler } from "./compiler.js";
import { transferArgs, GRAPH_FUNCTIONS, GRAPH_SOURCE, GraphRegion } from "./graph.js";
import { nameInSignals, SIGNALS_FUNCTION, SIGNALS_SOURCE } from "./signals.js";
import { NativeProgram } from "./native-program.js";
import { linesAgree, streamsStores } from "./streaming.js";
import { NativeStep } from "./step.js";
import { limitSpinning, Loader, loadWorkingKoffi, type NativeEntry } from "./library.js";

/** Launches that move fewer bytes and do less arithmetic than this run on one thread: waking the others takes longer. */
const SERIAL: Serial = { bytes: 98304, flops: 20000 };
interface NativeCode {
  readonly program: OpenMPProgram;
  readonly entry: NativeEntry;
}

/** C with OpenMP, compiled by the system's compiler when a kernel is first launched. */
class NativeDevice extends CpuDevice {
  private graphEntries: Record<keyof typeof GRAPH_FUNCTIONS, NativeEntry> | undefined;

  constructor(
    private readonly compiler: Compiler,
    private readonly loader: Loader,
    private readonly threads: number,
  ) {
    super("native", "native", describeMachine(threads).label, cpuCapabilities(threads, simdBytes()), { compiler: compiler.version });
  }

  protected build(asked: Binding): CpuProgram {
    const openmp = hasOpenMP(this.compiler);
    const most = openmp ? this.threads : 1;
    const work = new WorkLike(asked.cost, asked.policy, SERIAL);
    const threads = (policy: Policy): number => (most === 1 || work.isSmall(policy) ? 1 : most);
    const wanted = Math.min(most, asked.tuning.values.workers ?? threads(asked.policy));
    const { binding, workers, plans } = planScatters(asked, wanted, (bytes) => cpuStorage().allocate(bytes));
    try {
      const { program, entry } = this.code(binding, plans);
      if (openmp === hasOpenMP(this.compiler)) {
        const tuning = new LaunchTuning(asked, () => tunablesOf(asked, program, most));
        const runStep = (step: bigint) => this.graphEntry("step").call(step);
        const code = { program, entry, loader: this.loader, threads, runStep, aside: (args: bigint) => this.aside(entry, args) };
        return new NativeProgram(binding, tuning, code, plans, workers);
      }
    } catch (error) {
      freePlans(plans);
      throw error;
    }
    // Builds once more for one thread, as the compile has shown that OpenMP is missing.
    freePlans(plans);
    return this.build(asked);
  }

  private aside(entry: NativeEntry, args: bigint): Aside {
    const library = compileLibrary(this.compiler, "aside", ASIDE_SOURCE, "strict", this.loader.test(ASIDE_FUNCTION));
    return startAside(this.loader, this.loader.entry(library, ASIDE_FUNCTION), entry, args);
  }

  /** A function of the library for graphs. */
  private graphEntry(name: keyof typeof GRAPH_FUNCTIONS): NativeEntry {
    return (this.graphEntries ??= this.loadGraphs())[name];
  }

  private loadGraphs(): Record<keyof typeof GRAPH_FUNCTIONS, NativeEntry> {
    const { run, transfer, step } = GRAPH_FUNCTIONS;
    const library = compileLibrary(this.compiler, "graph", GRAPH_SOURCE, "strict", this.loader.test(run, transfer, step));
    const entry = (name: string) => this.loader.entry(library, name);
    return { run: entry(run), transfer: entry(transfer), step: entry(step) };
  }

  /** One call. */
  override region(work: readonly CapturedWork[]): CapturedRegion {
    const [runGraph, transfer] = [this.graphEntry("run"), this.graphEntry("transfer")];
    const at = (view: View) => this.loader.address(hostOf(view)) + BigInt(addressOf(view));
    const steps = work.map((item): NativeStep =>
      item instanceof CpuLaunch
        ? (item.program as NativeProgram).step
        : new NativeStep(this.loader, transfer.address, transferArgs(item, at)),
    );
    const launches = [...new Set(work.filter((item) => item instanceof CpuLaunch))];
    const finish = () => {
      for (const launch of launches) launch.results = (launch.program as NativeProgram).results();
    };
    return new GraphRegion(`${countOf(work)}: one call`, runGraph, steps, this.loader, finish);
  }

  /** Emitted, compiled and loaded, or found so. */
  private code(binding: Binding, plans: readonly ScatterPlan[]): NativeCode {
    const strides = Object.fromEntries(Object.entries(binding.views).map(([name, view]) => [name, view.strides]));
    const scatter = Object.fromEntries(plans.map((plan) => [plan.name, plan.strategy]));
    const { ordered } = binding;
    const tiles = tilesOf(binding.ir, binding.policy, Object.values(scatter));
    const settled = { strides, disjoint: binding.disjointMemory, ordered, scatter, sizes: binding.sizes(), ...(tiles && { tiled: true }) };
    const options = { ...settled, streaming: streamsStores(binding, settled) };
    const code = derive(binding.ir, this.compiled, { binding, options }, JSON.stringify([options, hasOpenMP(this.compiler)]));
    keepSource(binding.kernel.name, code.program.source, binding.precision, "c");
    return code;
  }

  private readonly compiled = (_: KernelIR, { binding, options }: { binding: Binding; options: OpenMPOptions }): NativeCode => {
    const program = this.emit(binding, options);
    const test = this.loader.test(program.entry);
    const compile = mayCompileAside() ? startCompile(this.compiler, program.source, binding.precision, test) : undefined;
    if (compile) throw new StillCompiling(compile);
    const library = compileLibrary(this.compiler, binding.kernel.name, program.source, binding.precision, test);
    const entry = this.loader.entry(library, program.entry);
    nameInSignals(this.compiler, this.loader, binding.kernel, entry);
    return { program, entry };
  };

  private emit(binding: Binding, options: OpenMPOptions): OpenMPProgram {
    const { ir, access } = binding;
    const program = memoised("program", [named(ir), "OpenMP", options], () => emitOpenMP(ir, access, options));
    if (program.stack <= this.loader.stack / 2) return program;
    const mib = (program.stack / (1 << 20)).toFixed(1);
    throw new DeviceError(
      "native",
      `kernel "${binding.kernel.name}" has private and scratch arrays of up to ${mib} MiB, too much for a thread's stack`,
      "give it views for them",
    );
  }
}

/** Ways in which a launch on `most` threads can be tuned. */
function tunablesOf(asked: Binding, program: OpenMPProgram, most: number): Tunables {
  const { policy, views } = asked;
  const rank = policy.kind === "range" ? policy.extents.length : 1;
  // Lets threads share out whole chunks only if partials keep the order of strict mode.
  const shared = most > 1 && rank > 1 && asked.ir.params.every(({ kind }) => kind !== "reduce" && kind !== "scatter");
  return {
    ...scatterTunables(asked),
    ...(program.streamed.length > 0 && linesAgree(views, program.streamed) ? { stores: ["cached", "non-temporal"] as const } : {}),
    ...workerTunables(most),
    ...(shared ? { axis: [...Array(rank).keys()] } : {}),
  };
}

/** Bytes of the vectors that compilers choose for -march=native. */
const simdBytes = () => (/\bavx2\b/.test(processorFlags()) ? 32 : 16);

const MISSING = {
  koffi: noKoffi("compiled code"),
  compiler: { reason: "no C compiler was found (gcc, clang, cc)", remedy: "install gcc or clang, such as apt install gcc" },
};

const missingCompiler = () =>
  process.env.CC
    ? { reason: `CC is "${process.env.CC}", which does not answer to --version`, remedy: "name a C compiler in CC, or leave CC out" }
    : MISSING.compiler;

/** The backend `native`. */
export const backend: Backend = {
  name: "native",
  single: true,
  threaded: true,

  async probe(): Promise<BackendReport> {
    const [koffi, compiler] = [await loadWorkingKoffi(), findCompiler()];
    const versions: Record<string, string> = {};
    if (compiler) versions.compiler = compiler.version;
    if (koffi) versions.koffi = koffi.version;
    if (!koffi || !compiler) return { backend: "native", devices: [], versions, missing: koffi ? missingCompiler() : MISSING.koffi };
    const threads = threadCount();
    const capabilities = cpuCapabilities(threads, simdBytes());
    return { backend: "native", devices: [{ name: "native", label: describeMachine(threads).label, capabilities }], versions };
  },

  async open(_index, { threads } = {}): Promise<Device> {
    const koffi = await loadWorkingKoffi();
    if (!koffi) throw new DeviceError("native", MISSING.koffi.reason, MISSING.koffi.remedy);
    const compiler = findCompiler();
    if (!compiler) throw new DeviceError("native", missingCompiler().reason, missingCompiler().remedy);
    limitSpinning();
    const loader = new Loader(koffi);
    if (process.platform === "linux") void compileEarly(compiler, SIGNALS_SOURCE, loader.test(SIGNALS_FUNCTION));
    void compileEarly(compiler, ASIDE_SOURCE, loader.test(ASIDE_FUNCTION));
    void compileEarly(compiler, GRAPH_SOURCE, loader.test(...Object.values(GRAPH_FUNCTIONS)));
    return new NativeDevice(compiler, loader, threadCount(threads));
  },
};
