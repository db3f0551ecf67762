import { memoised, named } from "#memoise";
import { unreachable } from "../../ir/unreachable.js";
import { threadCount } from "../cpu/pool.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import { countOf, type Captured, type Region } from "../cpu/graph.js";
import { CpuLaunch, type CpuProgram } from "../cpu/launch.js";
import { addressOf, hostOf, spanOf } from "../cpu/host-view.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { partialCount } from "../../ir/launch.js";
import { tilesRemark, tilesOf, type Tiles } from "../../ir/analysis/tiles.js";
import { freePlans, planScatters, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import { DeviceError } from "../../ir/errors.js";
import { getField, setField, type Field } from "../../emit/c/arguments.js";
import type { OpenmpSlot } from "../../emit/slots.js";
import { emitOpenMP, streamedViews, type OpenMPOptions, type OpenMPProgram } from "../../emit/c/openmp.js";
import type { KernelIR, ReduceParam } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { LaunchTuning, scatterTunables, workerTunables, type Tunables } from "../tuning/tuning.js";
import { BYTES, type View } from "../memory/view.js";
import { lastLevelCache } from "./cache-size.js";
import { keepSource } from "../../cache/keep-source.js";
import { compileLibrary, findCompiler, hasOpenMP, processorFlags, type Compiler } from "./compiler.js";
import { transferArgs, GRAPH_FUNCTIONS, GRAPH_SOURCE, GraphRegion, type GraphStep } from "./graph.js";
import { nameInSignals } from "./signals.js";
import { limitSpinning, Loader, loadKoffi, type Entry } from "./library.js";

/** Launches that move fewer bytes and do less arithmetic than this run on one thread: waking the others takes longer. */
const SERIAL_BYTES = 98304;
const SERIAL_FLOPS = 20000;
/** An atomic update in units of an element's copy and fold. */
const ATOMIC_COST = 8;
/** Elements to which shares along the innermost axis are rounded: whole cache lines of the smallest type. */
const GRAIN = 64;

/** Variants of a kernel's code that are kept for later launches. */
const KEPT_CODES = 64;

interface NativeCode {
  readonly program: OpenMPProgram;
  readonly entry: Entry;
}

/** C with OpenMP, compiled by the system's compiler when a kernel is first launched. */
class NativeDevice extends CpuDevice {
  private readonly codes = new WeakMap<KernelIR, Map<string, NativeCode>>();

  constructor(
    private readonly compiler: Compiler,
    private readonly loader: Loader,
    private readonly threads: number,
  ) {
    super("native", "native", describeMachine(threads).label, cpuCapabilities(threads, simdBytes()), { compiler: compiler.version });
  }

  protected build(asked: Binding): CpuProgram {
    const small = asked.cost.bytes < SERIAL_BYTES && asked.cost.flops < SERIAL_FLOPS;
    const openmp = hasOpenMP(this.compiler);
    const most = openmp ? this.threads : 1;
    const wanted = Math.min(most, asked.tuning.values.workers ?? (small ? 1 : most));
    const { binding, workers, plans } = planScatters(asked, wanted, ATOMIC_COST, (bytes) => cpuStorage().allocate(bytes));
    try {
      const { program, entry } = this.code(binding, plans);
      if (openmp === hasOpenMP(this.compiler)) {
        const tuning = new LaunchTuning(asked, () => tunablesOf(asked, program, most));
        return new NativeProgram(binding, tuning, program, entry, this.loader, plans, workers);
      }
    } catch (error) {
      freePlans(plans);
      throw error;
    }
    // Builds once more for one thread, as the compile has shown that OpenMP is missing.
    freePlans(plans);
    return this.build(asked);
  }

  /** One call. */
  override region(work: readonly Captured[]): Region {
    const library = compileLibrary(this.compiler, "graph", GRAPH_SOURCE, "strict", this.loader.test(...Object.values(GRAPH_FUNCTIONS)));
    const [runGraph, transfer] = [this.loader.entry(library, GRAPH_FUNCTIONS.run), this.loader.entry(library, GRAPH_FUNCTIONS.transfer)];
    const at = (view: View) => this.loader.address(hostOf(view)) + BigInt(addressOf(view));
    const steps = work.map((item): GraphStep => {
      if (item instanceof CpuLaunch) return (item.program as NativeProgram).step;
      const args = transferArgs(item, at);
      return { entry: transfer.address, args: this.loader.address(args), kept: args };
    });
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
    const options = { ...settled, streaming: streams(binding, settled) };
    const key = JSON.stringify([options, hasOpenMP(this.compiler)]);
    let variants = this.codes.get(binding.ir);
    if (!variants || variants.size >= KEPT_CODES) this.codes.set(binding.ir, (variants = new Map<string, NativeCode>()));
    let code = variants.get(key);
    if (!code) {
      const program = this.emit(binding, options);
      const test = this.loader.test(program.entry);
      const library = compileLibrary(this.compiler, binding.kernel.name, program.source, binding.precision, test);
      code = { program, entry: this.loader.entry(library, program.entry) };
      nameInSignals(this.compiler, this.loader, binding.kernel, code.entry);
      variants.set(key, code);
    } else keepSource(binding.kernel.name, code.program.source, binding.precision, "c");
    return code;
  }

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

const NO_RESULTS: Record<string, number> = Object.freeze({});

/** A compiled kernel with its argument struct filled in. */
class NativeProgram implements CpuProgram {
  readonly remarks: readonly string[];
  private readonly args: DataView;
  private readonly argsAddress: bigint;
  private readonly reductions: ReduceParam[];
  private readonly resultFields: readonly (readonly [name: string, field: Field<OpenmpSlot>])[];
  private readonly partials = new Map<string, CpuBuffer>();
  /** Keeps memory outside the shared one alive as long as `args` has its address. */
  private readonly hosts: ArrayBufferLike[] = [];

  constructor(
    private readonly binding: Binding,
    readonly tuning: LaunchTuning,
    private readonly program: OpenMPProgram,
    private readonly entry: Entry,
    private readonly loader: Loader,
    private readonly plans: readonly ScatterPlan[],
    workers: number,
  ) {
    this.args = new DataView(new ArrayBuffer(program.size));
    this.argsAddress = loader.address(this.args.buffer);
    this.reductions = binding.ir.params.filter((p) => p.kind === "reduce");
    this.resultFields = program.fields.flatMap((field) =>
      field.slot.kind === "result" && !binding.partials ? [[field.slot.name, field] as const] : [],
    );
    const units = partialCount(binding.policy);
    if (!binding.partials) for (const p of this.reductions) this.partials.set(p.name, cpuStorage().allocate(units * BYTES[p.type]));
    const strategies = plans.map(({ strategy }) => strategy);
    const tiles = tilesOf(binding.ir, binding.policy, strategies);
    const split = splitAxis(binding, program.order, workers, tuning.values.axis, tiles);
    const decided = { workers, units, split, tile: tiles?.tile ?? [] };
    for (const field of program.fields) this.fill(field, decided);
    this.remarks = [
      `threads: ${workers}`,
      ...(program.order.every((axis, level) => axis === level)
        ? []
        : [`loops: axes ${program.order.join(", ")} from outermost to innermost, by the views' strides`]),
      ...plans.map((plan) => plan.remark),
      ...tilesRemark(binding.ir, binding.policy, strategies),
      ...storesRemark(binding, program.streamed),
    ];
  }

  run(): Record<string, number> {
    this.entry.call(this.argsAddress);
    return this.results();
  }

  /** The function and its arguments, for a graph. */
  get step(): GraphStep {
    return { entry: this.entry.address, args: this.argsAddress, kept: this.args.buffer };
  }

  /** Results of the last run. */
  results(): Record<string, number> {
    if (this.resultFields.length === 0) return NO_RESULTS;
    const results: Record<string, number> = {};
    for (const [name, field] of this.resultFields) results[name] = getField(this.args, field);
    return results;
  }

  source(): string {
    return this.program.source;
  }

  free(): void {
    for (const buffer of this.partials.values()) buffer.free();
    freePlans(this.plans);
  }

  /** Writes one member of the argument struct. */
  private fill(field: Field<OpenmpSlot>, decided: Decided): void {
    const { slot } = field;
    const { policy, scalars, views, outputs, partials } = this.binding;
    const set = (value: number | bigint | boolean, n = 0) => setField(this.args, field, value, n);
    switch (slot.kind) {
      case "scalar":
        return set(scalars[slot.name]);
      case "view":
        return set(this.addressIn(views[slot.name].buffer, addressOf(views[slot.name])));
      case "extent":
        return set(views[slot.name].shape[slot.axis]);
      case "stride":
        return set(views[slot.name].strides[slot.axis]);
      case "begin":
        return policy.kind === "range" ? policy.begin.forEach((begin, axis) => set(begin, axis)) : undefined;
      case "end":
        return policy.kind === "range" ? policy.begin.forEach((begin, axis) => set(begin + policy.extents[axis], axis)) : undefined;
      case "tile":
        return decided.tile.forEach((size, axis) => set(size, axis));
      case "workers":
      case "units":
        return set(decided[slot.kind]);
      case "folds":
        return set(partials ? 0 : 1);
      case "split":
        return set(decided.split.axis);
      case "grain":
        return set(decided.split.grain);
      case "copies":
      case "copyBytes":
      case "span": {
        const { copies } = this.plan(slot.name);
        // One worker has none.
        if (!copies) return;
        if (slot.kind === "copies") return set(this.addressIn(copies.buffer, copies.buffer.address));
        return set(slot.kind === "copyBytes" ? copies.stride : spanOf(views[slot.name]));
      }
      case "caches": {
        const { buffer } = this.plan(slot.name).caches!;
        return set(this.addressIn(buffer, buffer.address));
      }
      case "partials": {
        const own = this.partials.get(slot.name);
        if (own) return set(this.addressIn(own, own.address));
        const view = outputs[slot.name]!;
        return set(this.addressIn(view.buffer, addressOf(view)));
      }
      case "output": {
        const view = partials ? undefined : outputs[slot.name];
        return view && set(this.addressIn(view.buffer, addressOf(view)));
      }
      case "result":
        return;
      default:
        return unreachable(slot);
    }
  }

  /** The address of a byte of a buffer. Throws DeviceError if it is not the host's. */
  private addressIn({ host }: View["buffer"], offset: number): bigint {
    if (!host)
      throw new DeviceError(
        "native",
        `kernel "${this.binding.kernel.name}" was given a view in a GPU's memory`,
        "copy it to a CPU device first",
      );
    this.hosts.push(host);
    return this.loader.address(host) + BigInt(offset);
  }

  private plan(target: string): ScatterPlan {
    return this.plans.find(({ name }) => name === target)!;
  }
}

/** How a launch shares its work out. */
interface Decided {
  readonly workers: number;
  readonly units: number;
  readonly split: { readonly axis: number; readonly grain: number };
  readonly tile: readonly number[];
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

/**
 * The axis along which the range is shared out: the axis of the outermost loop whose shares are nearly equal, because the further in the
 * cut, the more cache lines two threads share.
 */
function splitAxis(
  { policy }: Binding,
  order: readonly number[],
  workers: number,
  asked: number | undefined,
  tiles: Tiles | undefined,
): { axis: number; grain: number } {
  if (policy.kind === "team") return { axis: 0, grain: 1 };
  const grain = (axis: number) => tiles?.tile[axis] ?? (axis === order.at(-1) ? GRAIN : 1);
  const balance = (axis: number) => {
    const units = Math.ceil(policy.extents[axis] / grain(axis)) / workers;
    return units / Math.ceil(units);
  };
  const axis = asked ?? order.find((a) => balance(a) >= 0.9) ?? order.reduce((a, b) => (balance(b) > balance(a) ? b : a));
  return { axis, grain: grain(axis) };
}

/** The code of a launch stores past the caches. */
const streams = (binding: Binding, options: OpenMPOptions): boolean =>
  streamingReason(binding).use && linesAgree(binding.views, streamedViews(binding.ir, binding.access, options));

/** How stores go to the views that could be stored past the caches. */
function storesRemark(binding: Binding, streamed: readonly string[]): string[] {
  if (streamed.length === 0) return [];
  const { use, text } = streamingReason(binding);
  const apart = use && !linesAgree(binding.views, streamed);
  const how = apart ? "through the caches, their rows begin at different places in a cache line" : text;
  return [`stores to ${streamed.map((v) => `"${v}"`).join(", ")}: ${how}`];
}

/**
 * Whether written lines should bypass the caches, if they can: they do where nothing of them would be left there for the next kernel.
 * ISOFORM_STREAMING=always or never overrides the sizes.
 */
function streamingReason({ views, tuning }: Binding): { use: boolean; text: string } {
  const wish = process.env.ISOFORM_STREAMING;
  const asked = tuning.values.stores;
  if (wish === "never") return { use: false, text: "through the caches, as ISOFORM_STREAMING asks" };
  if (asked) return { use: asked === "non-temporal", text: asked === "cached" ? "through the caches, as asked" : "non-temporal, as asked" };
  if (wish === "always") return { use: true, text: "non-temporal, as ISOFORM_STREAMING asks" };
  const bytes = Object.values(views).reduce((sum, view) => sum + spanOf(view) * BYTES[view.type], 0);
  const cache = lastLevelCache();
  const mib = (n: number) => `${(n / (1 << 20)).toFixed(0)} MiB`;
  return bytes > cache
    ? { use: true, text: `non-temporal, the views' ${mib(bytes)} exceed the cache of ${mib(cache)}` }
    : { use: false, text: `through the caches, the views' ${mib(bytes)} fit into ${mib(cache)}` };
}

/** The views' rows begin at the same place in a cache line. */
const linesAgree = (views: Binding["views"], streamed: readonly string[]): boolean =>
  new Set(streamed.flatMap((name) => elementOffsets(views[name], streamed.length > 1))).size <= 1;

/** Positions in a cache line at which the rows of a view begin, as far as they matter. */
function elementOffsets(view: View, together: boolean): number[] {
  const element = BYTES[view.type];
  const start = addressOf(view) % 64;
  if (start % element !== 0) return [-1, -2];
  if (!together) return [0];
  return [start, ...view.strides.filter((stride) => stride !== 1).map((stride) => (start + stride * element) % 64)];
}

/** Bytes of the vectors that compilers choose for -march=native. */
const simdBytes = () => (/\bavx2\b/.test(processorFlags()) ? 32 : 16);

const MISSING = {
  koffi: { reason: "the package koffi, which calls compiled code, is not installed", remedy: "npm install koffi" },
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
    const [koffi, compiler] = [await loadKoffi(), findCompiler()];
    const versions: Record<string, string> = {};
    if (compiler) versions.compiler = compiler.version;
    if (koffi) versions.koffi = koffi.version;
    if (!koffi || !compiler) return { backend: "native", devices: [], versions, missing: koffi ? missingCompiler() : MISSING.koffi };
    const threads = threadCount();
    const capabilities = cpuCapabilities(threads, simdBytes());
    return { backend: "native", devices: [{ name: "native", label: describeMachine(threads).label, capabilities }], versions };
  },

  async open(_index, { threads } = {}): Promise<Device> {
    const koffi = await loadKoffi();
    if (!koffi) throw new DeviceError("native", MISSING.koffi.reason, MISSING.koffi.remedy);
    const compiler = findCompiler();
    if (!compiler) throw new DeviceError("native", missingCompiler().reason, missingCompiler().remedy);
    limitSpinning();
    return new NativeDevice(compiler, new Loader(koffi), threadCount(threads));
  },
};
