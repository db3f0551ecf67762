import { getField, setField, type StructField } from "../../emit/c/arguments.js";
import type { OpenMPProgram } from "../../emit/c/openmp.js";
import type { OpenmpSlot } from "../../schedule/slots.js";
import { tilesOf, tilesRemark, type Tiles } from "../../ir/analysis/tiles.js";
import { DeviceError } from "../../base/errors.js";
import { partialCount, type Policy } from "../../ir/launch.js";
import type { KernelIR, ReduceParam } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import type { Aside } from "../cpu/backlog.js";
import { addressOf, spanOf } from "../cpu/host-view.js";
import type { CpuProgram } from "../cpu/launch.js";
import type { Slice } from "../cpu/pool-control.js";
import { KEPT_BYTES, type Numbers, type Rerun } from "../cpu/rerun.js";
import { freePlans, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import { elementCount } from "../cpu/work-like.js";
import type { Binding } from "../launch/binding.js";
import { BYTES, type View } from "../memory/view.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import { NativeCall } from "./call.js";
import type { NativeEntry, Loader } from "./library.js";
import type { NativeStep } from "./step.js";
import { storesRemark } from "./streaming.js";

/** Elements to which shares along the innermost axis are rounded: whole cache lines of the smallest type. */
const GRAIN = 64;

/** Part of the best gain with which an axis further out is taken. */
const NEARLY = 0.95;

/** Grains of a slice that each worker has on average, so that shares differ little. */
const GRAINS = 4;

/** How a launch shares its work out. */
interface Decided {
  readonly workers: number;
  readonly units: number;
  readonly split: { readonly axis: number; readonly grain: number };
  readonly tile: readonly number[];
}

/** A function in C that was compiled and loaded, and threads for a range. */
interface Code {
  readonly program: OpenMPProgram;
  readonly entry: NativeEntry;
  readonly loader: Loader;
  threads(policy: Policy): number;
  /** Runs a step. */
  runStep(step: bigint): void;
  /** Calls the entry on another thread. */
  aside(args: bigint): Aside;
}

const NO_RESULTS: Record<string, number> = Object.freeze({});

/** A compiled kernel with its argument struct filled in. */
export class NativeProgram implements CpuProgram {
  readonly remarks: readonly string[];
  private readonly args: DataView<ArrayBuffer>;
  private readonly call: NativeCall;
  private readonly cut: Cut & { readonly tiled: boolean };
  private readonly reductions: ReduceParam[];
  private readonly resultFields: readonly (readonly [name: string, field: StructField<OpenmpSlot>])[];
  private readonly partials = new Map<string, CpuBuffer>();
  /** Keeps memory outside the shared one alive as long as `args` has its address. */
  private readonly hosts: ArrayBufferLike[] = [];

  constructor(
    private readonly binding: Binding,
    readonly tuning: LaunchTuning,
    private readonly code: Code,
    private readonly plans: readonly ScatterPlan[],
    workers: number,
  ) {
    const { program } = code;
    this.args = new DataView(new ArrayBuffer(program.size));
    // With copies of a target the number of threads decides in which order floats are added.
    const free = tuning.values.workers === undefined && plans.every(({ strategy }) => strategy !== "duplicated");
    this.call = new NativeCall(code, this.args.buffer, free);
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
    this.cut = { workers, policy: binding.policy, split, tiled: tiles !== undefined };
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
    this.now();
    return this.results();
  }

  begin(): this {
    return this;
  }

  now(): void {
    this.call.run(this.cut.workers);
  }

  get mostSlices(): number {
    return this.plans.length === 0 && !this.cut.tiled ? slicesOf(this.binding.ir, this.cut) : 1;
  }

  aside(slice: Slice): Aside {
    if (slice.count > 1) setSlice(this.args, this.code.program, this.cut, slice);
    return this.code.aside(this.call.address);
  }

  end(): Record<string, number> {
    return this.results();
  }

  /** The function and its arguments, for a graph. */
  get step(): NativeStep {
    return this.call.step;
  }

  /** Results of the last run. */
  results(): Record<string, number> {
    if (this.resultFields.length === 0) return NO_RESULTS;
    const results: Record<string, number> = {};
    for (const [name, field] of this.resultFields) results[name] = getField(this.args, field) as number;
    return results;
  }

  source(): string {
    return this.code.program.source;
  }

  free(): void {
    for (const buffer of this.partials.values()) buffer.free();
    freePlans(this.plans);
  }

  handOver(): Rerun | undefined {
    const { binding, code, args, call, partials } = this;
    const tiles = tilesOf(binding.ir, binding.policy, []);
    const large = [...partials.values()].some(({ bytes }) => bytes > KEPT_BYTES);
    if (this.plans.length > 0 || large || tiles || binding.policy.kind === "team") return undefined;
    return new NativeRerun(code, { ir: binding.ir, sizes: binding.sizes() }, { args, call, partials }, partialCount(binding.policy));
  }

  /** Writes one member of the argument struct. */
  private fill(field: StructField<OpenmpSlot>, decided: Decided): void {
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
    return this.code.loader.address(host) + BigInt(offset);
  }

  private plan(target: string): ScatterPlan {
    return this.plans.find(({ name }) => name === target)!;
  }
}

/** A range, and the axis along which it is cut into shares and slices. */
interface Cut {
  readonly workers: number;
  readonly policy: Policy;
  readonly split: Decided["split"];
}

/** Slices of a range whose elements are worked on one by one, for none but themselves; else 1. */
function slicesOf({ params }: KernelIR, { policy, split, workers }: Cut): number {
  const apart = params.every(({ kind }) => kind !== "reduce" && kind !== "scatter");
  return policy.kind === "range" && apart ? policy.extents[split.axis] / (split.grain * GRAINS * workers) : 1;
}

/** Sets the range of a slice. */
function setSlice(args: DataView, { fields }: OpenMPProgram, { policy, split }: Cut, { number, count }: Slice): void {
  if (policy.kind !== "range") return;
  const { axis, grain } = split;
  const [first, extent] = [policy.begin[axis], policy.extents[axis]];
  const grains = Math.ceil(extent / grain);
  const bound = (n: number): number => first + Math.min(extent, Math.floor((grains * n) / count) * grain);
  for (const field of fields) {
    if (field.slot.kind === "begin") setField(args, field, bound(number), axis);
    else if (field.slot.kind === "end") setField(args, field, bound(number + 1), axis);
  }
}

/** Memory of a launch with its arguments and partials. */
interface Own {
  readonly args: DataView;
  readonly call: NativeCall;
  readonly partials: Map<string, CpuBuffer>;
}

/** Its code is for any range whose integers have the same sizes. */
class NativeRerun implements Rerun {
  readonly anyRange = true;
  private readonly fields: readonly StructField<OpenmpSlot>[];
  private readonly results: readonly (readonly [name: string, field: StructField<OpenmpSlot>])[];
  /** Set when a run is begun. */
  private cut!: Cut;

  constructor(
    private readonly code: Code,
    private readonly made: { readonly ir: KernelIR; readonly sizes: ReturnType<Binding["sizes"]> },
    private readonly own: Own,
    /** Partials for which there is room. */
    private room: number,
  ) {
    const { fields } = code.program;
    this.fields = fields.filter(({ slot }) => ["scalar", "begin", "end", "workers", "units", "split", "grain"].includes(slot.kind));
    this.results = fields.flatMap((field) => (field.slot.kind === "result" ? [[field.slot.name, field] as const] : []));
  }

  begin({ scalars, policy, sizes }: Numbers): boolean {
    if (policy.kind === "team" || tilesOf(this.made.ir, policy, []) || sizes() !== this.made.sizes) return false;
    const { args } = this.own;
    const { program, threads } = this.code;
    const units = partialCount(policy);
    if (this.own.partials.size > 0 && 16 * units > KEPT_BYTES) return false;
    if (units > this.room) this.makeRoom(2 * units);
    const workers = threads(policy);
    const split = splitAxis({ policy }, program.order, workers, undefined, undefined);
    for (const field of this.fields) {
      const { slot } = field;
      if (slot.kind === "scalar") setField(args, field, scalars[slot.name]);
      else if (slot.kind === "begin") policy.begin.forEach((begin, axis) => setField(args, field, begin, axis));
      else if (slot.kind === "end") policy.begin.forEach((begin, axis) => setField(args, field, begin + policy.extents[axis], axis));
      else if (slot.kind === "workers") setField(args, field, workers);
      else if (slot.kind === "units") setField(args, field, units);
      else if (slot.kind === "split") setField(args, field, split.axis);
      else if (slot.kind === "grain") setField(args, field, split.grain);
    }
    this.cut = { workers, policy, split };
    this.own.call.of(elementCount(policy));
    return true;
  }

  now(): void {
    this.own.call.run(this.cut.workers);
  }

  get mostSlices(): number {
    return slicesOf(this.made.ir, this.cut);
  }

  aside(slice: Slice): Aside {
    if (slice.count > 1) setSlice(this.own.args, this.code.program, this.cut, slice);
    return this.code.aside(this.own.call.address);
  }

  end(): Record<string, number> {
    const results: Record<string, number> = {};
    for (const [name, field] of this.results) results[name] = getField(this.own.args, field) as number;
    return results;
  }

  /** Takes memory for more partials. */
  private makeRoom(units: number): void {
    const { args, partials } = this.own;
    this.room = units;
    for (const param of this.made.ir.params) {
      if (param.kind !== "reduce") continue;
      partials.get(param.name)?.free();
      const buffer = cpuStorage().allocate(units * BYTES[param.type]);
      partials.set(param.name, buffer);
      const field = this.code.program.fields.find(({ slot }) => slot.kind === "partials" && slot.name === param.name)!;
      setField(args, field, this.code.loader.address(buffer.host) + BigInt(buffer.address));
    }
  }

  free(): void {
    for (const buffer of this.own.partials.values()) buffer.free();
  }
}

/** Bytes at the ends of a piece of a share that may lie in lines of two threads: a line at either end. */
const SHARED_BYTES = 128;
/** Bytes of an element, where only their order of magnitude matters. */
const ELEMENT_BYTES = 8;

/**
 * The axis along which the range is shared out: the axis of the outermost loop whose shares are nearly equal and consist of pieces that are long
 * beside a cache line, which two threads would share: the further in the cut, the shorter are the pieces.
 */
function splitAxis(
  { policy }: Pick<Binding, "policy">,
  order: readonly number[],
  workers: number,
  asked: number | undefined,
  tiles: Tiles | undefined,
): { axis: number; grain: number } {
  if (policy.kind === "team") return { axis: 0, grain: 1 };
  const grain = (axis: number) => tiles?.tile[axis] ?? (axis === order.at(-1) ? GRAIN : 1);
  const gain = (axis: number) => {
    const units = Math.max(1, Math.ceil(policy.extents[axis] / grain(axis))) / workers;
    const inner = order.slice(order.indexOf(axis) + 1).reduce((all, a) => all * policy.extents[a], ELEMENT_BYTES);
    const piece = Math.ceil(units) * grain(axis) * inner;
    return ((units / Math.ceil(units)) * piece) / (piece + SHARED_BYTES);
  };
  const best = Math.max(...order.map(gain));
  const axis = asked ?? order.find((a) => gain(a) >= NEARLY * best)!;
  return { axis, grain: grain(axis) };
}
