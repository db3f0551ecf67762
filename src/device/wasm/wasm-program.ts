import { listing } from "#listing";
import { LANE_BYTES, workOfRange, type WasmKernel } from "../../emit/wasm/module.js";
import type { WasmSlot } from "../../schedule/slots.js";
import { partialCount, type Policy, type RangePolicy } from "../../ir/launch.js";
import { putValue } from "../../ir/scalars.js";
import type { KernelIR, PlainValue, ReduceParam, ScalarParam, ScalarType } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import { ANY_RANGE, enclosing } from "../cpu/any-range.js";
import type { Aside } from "../cpu/backlog.js";
import { addressOf } from "../cpu/host-view.js";
import type { CpuLaunch, CpuProgram } from "../cpu/launch.js";
import type { Slice } from "../cpu/pool-control.js";
import type { RegionPart, WorkerPool } from "../cpu/pool.js";
import { elementCount } from "../cpu/work-like.js";
import { KEPT_BYTES, type Numbers, type Rerun } from "../cpu/rerun.js";
import { foldCopies, freePlans, type ScatterPlan } from "../cpu/scatter-plan.js";
import { cpuStorage, type Allocator, type CpuBuffer } from "../cpu/storage.js";
import type { Binding } from "../launch/binding.js";
import { samePolicy } from "../launch/known-bindings.js";
import { BYTES } from "../memory/view.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import type { CachedModule, ModuleCache } from "./modules.js";
import { WasmPartials } from "./partials.js";

/** Compiled code, and those who keep and run it. */
export interface WasmCode {
  readonly module: CachedModule;
  readonly modules: ModuleCache;
  readonly pool: WorkerPool;
}

/** Means that a launch has from its device: memory, and threads for a range. */
interface Means {
  readonly allocate: Allocator;
  threads(policy: Policy): number;
}

/** A launch: a module, its argument block, and the memory for partial results. */
export class WasmProgram implements CpuProgram {
  readonly remarks: string[];
  private readonly args: CpuBuffer;
  private readonly scratch: CpuBuffer;
  private readonly tables: CpuBuffer;
  private readonly reductions: WasmPartials[];
  private readonly results: Record<string, number> = {};
  private readonly empty: boolean;

  constructor(
    private readonly binding: Binding,
    readonly tuning: LaunchTuning,
    private readonly code: WasmCode,
    private readonly plans: readonly ScatterPlan[],
    private readonly workers: number,
    private readonly means: Means,
  ) {
    const { allocate } = means;
    const { kernel } = code.module;
    const { ir, policy } = binding;
    this.empty = policy.kind === "team" ? policy.league === 0 : policy.extents.includes(0);
    this.reductions = (binding.partials ? [] : ir.params)
      .filter((p): p is ReduceParam => p.kind === "reduce")
      .map((p) => {
        const count = countOfPartials(p, kernel, policy, workers);
        return new WasmPartials(p, count, this.byWorkers, binding.outputs[p.name], allocate);
      });
    this.args = allocate(8 * kernel.slots.length);
    this.scratch = allocate(kernel.scratchBytes * workers);
    this.tables = allocate(kernel.tableBytes.length);
    new Uint8Array(this.tables.host, this.tables.address, kernel.tableBytes.length).set(kernel.tableBytes);
    for (const { slot, offset } of kernel.slots) this.fill(slot, offset);
    this.remarks = [
      `workers: ${workers}`,
      ...plans.map((plan) => plan.remark),
      ...kernel.remarks,
      ...(kernel.lines === undefined ? [] : [ANY_RANGE]),
    ];
  }

  run(): Record<string, number> {
    this.begin().now();
    return this.end();
  }

  now(): void {
    if (!this.empty) this.code.pool.run(this.code.module.id, this.args.address, this.workers);
  }

  get mostSlices(): number {
    const { policy } = this.binding;
    return this.plans.length === 0 && canSlice(this.code.module.kernel, this.reductions) ? elementCount(policy) / this.workers : 1;
  }

  aside(slice: Slice): Aside | undefined {
    return this.empty ? undefined : this.code.pool.aside(this.code.module.id, this.args.address, this.workers, slice);
  }

  /** The same as parts of a region; the launch's results are set on the way. */
  parts(launch: CpuLaunch): RegionPart[] {
    const parts: RegionPart[] = [];
    if (this.byWorkers && this.reductions.length > 0) parts.push(() => this.begin());
    if (!this.empty) parts.push({ program: this.code.module.id, args: this.args.address, workers: this.workers });
    // In a region all workers come together only between parts.
    for (const { folding } of this.plans) if (folding) parts.push(...(folding.program as WasmProgram).parts(folding));
    const few = this.plans.flatMap(({ folding, copies }) => (folding ? [] : (copies ?? [])));
    if (this.reductions.length > 0 || few.length > 0)
      parts.push(() => {
        for (const copies of few) copies.fold();
        launch.results = this.reduced();
      });
    return parts;
  }

  private get byWorkers(): boolean {
    return this.code.module.kernel.partials === "workers";
  }

  /** Work of the calling thread before the workers. */
  begin(): this {
    for (const partials of this.reductions) partials.clear();
    return this;
  }

  /** And after them: gives the results, always in one object, for many a launch takes no longer than to make one. */
  end(): Record<string, number> {
    foldCopies(this.plans);
    return this.reduced();
  }

  private reduced(): Record<string, number> {
    Object.assign(this.results, WasmPartials.finish(this.reductions));
    return this.results;
  }

  source(): string {
    return listing(this.code.module.kernel.bytes);
  }

  free(): void {
    this.code.modules.release(this.code.module);
    for (const buffer of [this.args, this.scratch, this.tables, ...this.reductions]) buffer.free();
    freePlans(this.plans);
  }

  handOver(): Rerun | undefined {
    if (this.plans.length > 0 || this.empty || this.ownBytes > KEPT_BYTES) return undefined;
    const { args, scratch, tables, reductions, binding, workers } = this;
    return new WasmRerun({ args, scratch, tables, reductions, workers }, this.code, this.means, { ir: binding.ir, policy: binding.policy });
  }

  private get ownBytes(): number {
    return [this.scratch, this.tables, ...this.reductions].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Writes the entry of a slot into the argument block. */
  private fill(slot: WasmSlot, offset: number): void {
    const { binding } = this;
    const entry = new DataView(this.args.host, this.args.address + offset, 8);
    const address = (value: number) => entry.setBigUint64(0, BigInt(value), true);
    switch (slot.kind) {
      case "scalar": {
        const param = binding.ir.params.find((p): p is ScalarParam => p.kind === "scalar" && p.name === slot.name)!;
        return put(entry, param.type, binding.scalars[slot.name]);
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
        return address(this.tables.address);
      case "scratch":
        return address(this.scratch.address);
      case "scratchStride":
        return put(entry, "u32", this.code.module.kernel.scratchBytes);
      case "begin":
        return put(entry, "i32", this.range.begin[slot.axis]);
      case "count":
        return put(entry, "u32", this.range.extents[slot.axis]);
      case "units":
      case "batch":
        return put(entry, "u32", workOfRange(this.range, this.code.module.kernel.lines!)[slot.kind]);
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

/** Number of a parameter's partials. */
function countOfPartials({ type }: ReduceParam, { partials }: WasmKernel, policy: Policy, workers: number): number {
  return partials === "workers" ? (workers * LANE_BYTES) / BYTES[type] : partialCount(policy);
}

/** True where workers have no memory of their own. */
const canSlice = ({ scratchBytes, partials }: WasmKernel, reductions: readonly WasmPartials[]): boolean =>
  scratchBytes === 0 && (partials === "units" || reductions.length === 0);

/** Memory that a launch of this backend has for itself. */
interface OwnMemory {
  readonly args: CpuBuffer;
  scratch: CpuBuffer;
  readonly tables: CpuBuffer;
  readonly reductions: readonly WasmPartials[];
  /** Workers for which there is scratch. */
  workers: number;
}

class WasmRerun implements Rerun {
  readonly anyRange: boolean;
  /** Range within which the code may run. */
  private readonly around: RangePolicy | undefined;
  private readonly scalars: readonly (readonly [name: string, type: ScalarType, offset: number])[];
  /** The run that was begun. */
  private going = { workers: 1, size: 0 };

  constructor(
    private readonly own: OwnMemory,
    private readonly code: WasmCode,
    private readonly means: Means,
    { ir, policy }: { readonly ir: KernelIR; readonly policy: Policy },
  ) {
    this.anyRange = code.module.kernel.lines !== undefined;
    this.around = this.anyRange ? enclosing(policy as RangePolicy) : undefined;
    const types = new Map(ir.params.flatMap((p) => (p.kind === "scalar" ? [[p.name, p.type]] : [])));
    this.scalars = code.module.kernel.slots.flatMap(({ slot, offset }) =>
      slot.kind === "scalar" ? [[slot.name, types.get(slot.name)!, offset] as const] : [],
    );
  }

  begin({ scalars, policy }: Numbers): boolean {
    if (this.around && !samePolicy(this.around, enclosing(policy as RangePolicy))) return false;
    const { args, reductions } = this.own;
    const { kernel } = this.code.module;
    const block = new DataView(args.host, args.address, 8 * kernel.slots.length);
    for (const [name, type, offset] of this.scalars) put(block, type, scalars[name], offset);
    const workers = this.means.threads(policy);
    if (this.around && !this.prepare(block, policy as RangePolicy, workers)) return false;
    for (const partials of reductions) partials.clear();
    this.going = { workers, size: elementCount(policy) };
    return true;
  }

  now(): void {
    if (this.going.size > 0) this.code.pool.run(this.code.module.id, this.own.args.address, this.going.workers);
  }

  get mostSlices(): number {
    return canSlice(this.code.module.kernel, this.own.reductions) ? this.going.size / this.going.workers : 1;
  }

  aside(slice: Slice): Aside | undefined {
    return this.going.size === 0 ? undefined : this.code.pool.aside(this.code.module.id, this.own.args.address, this.going.workers, slice);
  }

  end(): Record<string, number> {
    const results: Record<string, number> = {};
    Object.assign(results, WasmPartials.finish(this.own.reductions));
    return results;
  }

  /** Gives the code its range, and memory for what depends on it. False where that is too much, or where the storage had to move for it. */
  private prepare(block: DataView, range: RangePolicy, workers: number): boolean {
    const { own, means } = this;
    const { kernel } = this.code.module;
    const { memory } = cpuStorage();
    if (own.reductions.some(({ param }) => 2 * BYTES[param.type] * countOfPartials(param, kernel, range, workers) > KEPT_BYTES))
      return false;
    if (workers > own.workers) {
      own.scratch.free();
      own.scratch = means.allocate(kernel.scratchBytes * workers);
      own.workers = workers;
    }
    for (const partials of own.reductions) partials.resize(countOfPartials(partials.param, kernel, range, workers));
    if (cpuStorage().memory !== memory) return false;
    for (const { slot, offset } of kernel.slots) {
      if (slot.kind === "scratch") block.setBigUint64(offset, BigInt(own.scratch.address), true);
      else if (slot.kind === "partials")
        block.setBigUint64(offset, BigInt(own.reductions.find(({ param }) => param.name === slot.name)!.address), true);
      else if (slot.kind === "begin") put(block, "i32", range.begin[slot.axis], offset);
      else if (slot.kind === "count") put(block, "u32", range.extents[slot.axis], offset);
      else if (slot.kind === "units" || slot.kind === "batch") put(block, "u32", workOfRange(range, kernel.lines!)[slot.kind], offset);
    }
    return true;
  }

  free(): void {
    const { args, scratch, tables, reductions } = this.own;
    this.code.modules.release(this.code.module);
    for (const buffer of [args, scratch, tables, ...reductions]) buffer.free();
  }
}

function put(entry: DataView, type: ScalarType, value: PlainValue, offset = 0): void {
  if (type === "bool") entry.setUint32(offset, Number(value), true);
  else putValue(entry, type, offset, value);
}
