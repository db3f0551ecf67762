import { unreachable } from "../../base/unreachable.js";
import { shaderEntries } from "../../emit/wgsl/kernel.js";
import { SORT, WGSL_SORT_BITS, type WgslSortSlot } from "../../emit/wgsl/sorted-scatter.js";
import type { ShaderEntry, WgslProgram } from "../../emit/wgsl/shader-program.js";
import { laneLoops } from "../../ir/analysis/teams.js";
import type { Binding as KernelBinding } from "../launch/binding.js";
import { checksRemark } from "../launch/faults.js";
import { DeviceLaunch } from "../gpu/device-launch.js";
import { launchPlanOf, teamRemarks, type LaunchPlan, type PlannedStep } from "../gpu/launch-plan.js";
import { fillFrom } from "../gpu/steps.js";
import { layOutParts, type TemporaryLayout } from "../gpu/temporary.js";
import { LaunchTuning, scatterTunables } from "../tuning/tuning.js";
import type { BufferGroups } from "./buffer-groups.js";
import { requireScalarRange } from "./f64.js";
import type { Gpu, GpuBuffer } from "./gpu.js";
import { gridRules, linearGrid, WGSL_SORT_RULES } from "./grids.js";
import { whole } from "./host-data.js";
import { programOf, shapeTunables, type LaunchProgram } from "./program.js";
import {
  blockOf,
  ClearStep,
  CopyStep,
  DispatchStep,
  DispatchSteps,
  type BufferBinding,
  type Dispatch,
  type WorkgroupGrid,
  type EncodedStep,
} from "./steps.js";
import { fillRun, type ValueSources } from "./values.js";

type Plan = LaunchPlan<ShaderEntry, WorkgroupGrid>;

/** A kernel bound to arguments on one device: the steps of a run, and the temporary memory that they share. */
export class WebGpuLaunch extends DeviceLaunch<Gpu> {
  readonly tuning: LaunchTuning;
  readonly steps: readonly EncodedStep[];
  protected readonly reduces: WgslProgram["reduces"];
  protected override readonly readF64 = (data: DataView, at: number): number =>
    whole(data.getFloat32(at, true), data.getFloat32(at + 4, true));
  private readonly code: LaunchProgram;
  private readonly layout: TemporaryLayout;
  private readonly temporary: GpuBuffer | undefined;
  private readonly dispatches: DispatchSteps;
  private plan: Plan;

  constructor(gpu: Gpu, binding: KernelBinding) {
    super(gpu, binding);
    this.tuning = new LaunchTuning(binding, () => ({ ...scatterTunables(binding), ...shapeTunables(binding) }));
    const code = (this.code = programOf(gpu, binding, this.tuning.values.threads));
    const plan = (this.plan = planOf(binding, code));
    this.reduces = binding.partials ? [] : code.program.reduces;
    this.layout = layOutParts(plan.parts);
    this.temporary = this.layout.bytes > 0 ? gpu.allocate(this.layout.bytes) : undefined;
    const values = valuesOf(binding, code, this.layout);
    const { steps, dispatches } = makeSteps(gpu, binding, code, plan, values, this.temporary);
    this.steps = [...copies(code, false), ...steps, ...copies(code, true)];
    this.dispatches = dispatches;
  }

  get remarks(): readonly string[] {
    const { code, binding, tuning, plan } = this;
    return [
      ...code.remarks,
      ...checksRemark(binding.ir),
      ...tuning.remarks,
      ...teamRemarks(binding, code, "workgroups"),
      ...gridRemarks(binding, code.program, plan),
    ];
  }

  get ownBytes(): number {
    return this.layout.bytes;
  }

  protected setScalars(scalars: KernelBinding["scalars"]): void {
    const binding = { ...this.binding, scalars };
    if (this.gpu.emulates) requireScalarRange(this.gpu, binding);
    this.refill(binding, this.plan);
  }

  protected coverRange(binding: KernelBinding): boolean {
    const { code, gpu } = this;
    const { buffers } = code;
    if (this.plan.parts.length > 0 || !seesAll(buffers) || this.binding.sizes() !== binding.sizes()) return false;
    const pieces = [{ ...buffers.pieces[0], policy: binding.policy }];
    const plan = planOf(binding, { ...code, buffers: { ...buffers, pieces } });
    const [before, after] = [this.plan, plan].map(({ steps }) => steps.flatMap((step) => (step.kind === "run" ? [step.entry] : [])));
    const same = plan.parts.length === 0 && plan.steps.length === after.length && after.length === before.length;
    if (!same || after.some((entry, n) => entry !== before[n])) return false;
    if (gpu.emulates) requireScalarRange(gpu, binding);
    this.plan = plan;
    this.refill(binding, plan);
    return true;
  }

  /** Puts other numbers in the shaders' blocks, and takes the plan's grids. */
  private refill(binding: KernelBinding, { steps }: Plan): void {
    const values = valuesOf(binding, this.code, this.layout);
    const runs = steps.flatMap((step) => (step.kind === "run" ? [step] : []));
    this.dispatches.refill(runs.map(({ entry, grid, values: run }) => ({ grid, block: blockOf(entry.fields, fillRun(values, run)) })));
  }

  /** Throws LaunchError as others do, and what is wrong with a shader that the driver has refused. */
  override requireReady(): void {
    super.requireReady();
    for (const step of this.steps) if (step instanceof DispatchStep && step.pipeline.failure) throw step.pipeline.failure;
  }

  source(): string {
    const { program } = this.code;
    const sort = program.sorted.length > 0 ? Object.values(SORT) : [];
    return [...shaderEntries(program), ...sort].map(({ source }) => source).join("\n");
  }

  /** Buffer, offset and bytes of the results, 8 bytes each. */
  get resultRange(): { buffer: GPUBuffer; offset: number; bytes: number } | undefined {
    if (this.reduces.length === 0) return undefined;
    return { buffer: this.temporary!.handle, offset: this.layout.offset({ kind: "results" })!, bytes: 8 * this.reduces.length };
  }

  protected release(): void {
    this.gpu.commands.flush();
    this.temporary?.free();
    this.code.buffers.packed?.buffer.free();
    this.dispatches.free();
  }
}

/* The stages of a launch, in order: emit (program.ts), plan (gpu/launch-plan.ts), allocate, fill; shaders are compiled as their steps are made. */

const planOf = (binding: KernelBinding, code: LaunchProgram): Plan =>
  launchPlanOf(binding, { ...code, abreast: 1 }, gridRules(binding.policy, code), WGSL_SORT_RULES);

/** True where the shaders see all of each array, whatever the range. */
const seesAll = ({ pieces }: BufferGroups): boolean =>
  pieces.length === 1 && pieces[0].bindings.every(({ buffer, offset, size }) => offset === 0 && size === buffer.size);

const valuesOf = (binding: KernelBinding, { buffers, slots, program }: LaunchProgram, layout: TemporaryLayout): ValueSources => ({
  binding,
  pieces: buffers.pieces,
  at: (part) => (layout.offset(part) ?? 0) / 4,
  slots,
  types: new Map([...program.reduces, ...program.sorted].map(({ name, type }) => [name, type])),
});

/** The plan's steps, and the dispatches among them. */
function makeSteps(
  gpu: Gpu,
  { kernel }: KernelBinding,
  { buffers }: LaunchProgram,
  plan: Plan,
  values: ValueSources,
  temporary: GpuBuffer | undefined,
): { steps: EncodedStep[]; dispatches: DispatchSteps } {
  const own: BufferBinding[] = temporary ? [{ buffer: temporary.handle, offset: 0, size: temporary.handle.size }] : [];
  const made = plan.steps.flatMap((step): (Dispatch | ClearStep)[] => {
    switch (step.kind) {
      case "run": {
        const { entry, grid, values: run } = step;
        const { bindings } = buffers.pieces[run.batch?.piece ?? 0];
        return [{ entry, grid, block: blockOf(entry.fields, fillRun(values, run)), bindings: [...bindings, ...own] }];
      }
      case "clear":
        return [new ClearStep({ ...own[0], offset: 4 * values.at({ kind: "keys", name: step.name }), size: 4 * step.count })];
      case "sort":
        return sortDispatches(values, step, own);
      default:
        return unreachable(step);
    }
  });
  const wanted = made.filter((step): step is Dispatch => !(step instanceof ClearStep));
  const dispatches = new DispatchSteps(gpu, { name: kernel.name, file: kernel.location.file }, wanted);
  let next = 0;
  return { dispatches, steps: made.map((step) => (step instanceof ClearStep ? step : dispatches.steps[next++])) };
}

/** A pass of the sort: digits are counted by tile, counts are summed, keys are moved. */
function sortDispatches(
  { at }: ValueSources,
  { name, pass, count, tiles }: PlannedStep<ShaderEntry, WorkgroupGrid> & { kind: "sort" },
  bindings: readonly BufferBinding[],
): Dispatch[] {
  const fill = fillFrom<WgslSortSlot["kind"]>({
    keys: at({ kind: pass.keys, name }),
    order: pass.order ? at({ kind: pass.order, name }) : -1,
    sortedKeys: at({ kind: pass.sortedKeys, name }),
    sortedOrder: at({ kind: pass.sortedOrder, name }),
    counts: at({ kind: "counts", name }),
    totals: at({ kind: "totals", name }),
    count,
    tiles,
    shift: pass.shift,
    firstPass: pass.shift === 0,
  });
  const dispatch = (entry: ShaderEntry<WgslSortSlot>, grid: WorkgroupGrid): Dispatch => ({
    entry,
    grid,
    block: blockOf(entry.fields, fill),
    bindings,
  });
  return [
    dispatch(SORT.count, linearGrid(tiles)),
    dispatch(SORT.scan, [2 ** WGSL_SORT_BITS, 1, 1]),
    dispatch(SORT.move, linearGrid(tiles)),
  ];
}

/** Copies of arrays that share a binding: into it before a run, and what was written back afterwards. */
function copies({ buffers: { packed } }: LaunchProgram, back: boolean): EncodedStep[] {
  return (packed?.parts ?? []).flatMap(({ array, offset, size, written }) => {
    if (back && !written) return [];
    const [theirs, ours] = [
      { buffer: array, offset: 0, size },
      { buffer: packed!.buffer.handle, offset, size },
    ];
    return [back ? new CopyStep(ours, theirs) : new CopyStep(theirs, ours)];
  });
}

function gridRemarks({ ir, policy }: KernelBinding, { main, traversal }: WgslProgram, { steps }: Plan): string[] {
  if (policy.kind === "team")
    return laneLoops(ir.body).length > 0 ? ["lanes: 1 of a member, as no part of a workgroup can wait for its own stores"] : [];
  const grids = steps.flatMap((step) => (step.kind === "run" && step.entry === main ? [step.grid] : []));
  return [
    ...grids.map((grid) => `grid ${grid.join(" x ")} of workgroups of ${main.workgroup.join(" x ")}, ${traversal}`),
    ...(policy.tile ? ["tiles: none, as workgroups have one shape"] : []),
  ];
}
