import { derive } from "../../cache/derive.js";
import { emitWgsl } from "../../emit/wgsl/kernel.js";
import { WORKGROUP, type WgslAssumptions, type WgslProgram } from "../../emit/wgsl/shader-program.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KernelIR } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import { BYTES } from "../memory/view.js";
import { elementsToMove } from "../../ir/passes/jam.js";
import type { Tunables } from "../tuning/tuning.js";
import type { ScatterCacheShape } from "../gpu/scatter-cache.js";
import { requireF64, requirePairs, requireRange } from "./f64.js";
import type { Gpu } from "./gpu.js";
import { bufferGroups, type BufferGroups } from "./buffer-groups.js";
import { chooseScatter } from "./strategy.js";

/** The code for a launch, where its memory lies, and what was decided on the way. */
export interface LaunchProgram {
  program: WgslProgram;
  buffers: BufferGroups;
  /** One invocation runs it all. */
  serial: boolean;
  members: number;
  /** Contributions of one element or team to each sorted scatter target, at most. */
  slots: Readonly<Record<string, number>>;
  caches?: ScatterCacheShape;
  remarks: string[];
}

/** Members of a team at least, and by default. */
const SMALLEST_TEAM = 32;
const DEFAULT_TEAM = 64;

/** The sizes of a workgroup that a launch may have: one where a workgroup folds. */
export const shapeTunables = ({ ir, policy }: Binding): Tunables =>
  policy.kind === "range" && ir.params.every(({ kind }) => kind !== "reduce" && kind !== "scatter")
    ? { threads: [64, 128, WORKGROUP] }
    : {};

/** Elements of a range from which on an invocation may have several. */
const MANY = 2 ** 20;
/** Bytes that an invocation with little to compute is to move. */
const BYTES_OF_INVOCATION = 32;

/** Elements of an invocation, where there are enough of them and no two share a word. */
function elementsOf({ ir, policy, views }: Binding): number | undefined {
  if (policy.kind !== "range" || policy.extents.length !== 1 || policy.extents[0] < MANY) return undefined;
  const elements = Object.values(views).every(({ type }) => BYTES[type] === 4) ? elementsToMove(ir, 0, BYTES_OF_INVOCATION) : 1;
  return elements > 1 ? elements : undefined;
}

/**
 * Emits the shaders for a binding's kernel, layouts and places, with workgroups of `threads` invocations if they were chosen, or finds them emitted.
 * Throws LaunchError.
 */
export function programOf(gpu: Gpu, binding: Binding, threads?: number): LaunchProgram {
  const { ir, access, policy, precision, views } = binding;
  requireF64(gpu, binding.kernel, ir);
  requirePairs(gpu, binding.kernel, ir);
  if (gpu.emulates) requireRange(gpu, binding);
  const scatter = chooseScatter(binding, gpu.limits.maxComputeWorkgroupStorageSize);
  const serial = Object.values(scatter.code).includes("serial");
  const buffers = bufferGroups(gpu, binding, scatter.code);
  const assumptions: WgslAssumptions = {
    strict: precision === "strict",
    sizes: binding.sizes(),
    unitStrides: Object.fromEntries(Object.entries(views).map(([name, view]) => [name, view.strides.map((stride) => stride === 1)])),
    groups: buffers.groups,
    representations: buffers.representations,
    atStart: Object.fromEntries(Object.keys(views).map((name) => [name, buffers.pieces.every(({ bases }) => bases.views[name] === 0)])),
    partials: binding.partials,
    subgroups: gpu.hasSubgroups,
    subgroupSize: gpu.subgroupSize,
    fma: gpu.exactFma,
    ordered: binding.ordered,
    inChunks: binding.ordered || buffers.pieces.length > 1,
    scatter: scatter.code,
    copies: Object.fromEntries(
      Object.keys(scatter.code).flatMap((name) => (scatter.code[name] === "shared" ? [[name, Math.max(1, views[name].size)]] : [])),
    ),
    scatterCacheLines: scatter.caches?.lines,
    members: policy.kind === "team" ? membersOf(policy.size, serial) : WORKGROUP,
    threads,
    elements: elementsOf(binding),
  };
  const program = derive(ir, emitted, { access, assumptions }, JSON.stringify(assumptions));
  const most = gpu.limits.maxComputeWorkgroupStorageSize;
  if (program.main.workgroupBytes > most)
    throw new LaunchError(
      `kernel "${binding.kernel.name}" (${binding.kernel.location.file}:${binding.kernel.location.line}) on ${gpu.name}: its scratch, folds and copies of scatter targets take ${program.main.workgroupBytes} bytes of a workgroup's memory, and this adapter has ${most}; use less scratch, or the scatter strategy "atomic"`,
    );
  if (buffers.pieces.length > 1 && Object.keys(scatter.slots).length > 0)
    throw new LaunchError(
      `kernel "${binding.kernel.name}": it scatters in order and reads more of an array than a shader of ${gpu.name} sees; use the strategy "atomic", or slices of the array`,
    );
  const packed: string[] = buffers.packed
    ? [
        `the ${buffers.packed.parts.length} smallest arrays are copied into one and back, ${buffers.packed.buffer.bytes} bytes, as a shader of this adapter has at most ${gpu.limits.maxStorageBuffersPerShaderStage} storage buffers`,
      ]
    : [];
  const pieces = buffers.pieces.length;
  if (pieces > 1)
    packed.push(
      `in ${pieces} pieces of the range, as a shader of this adapter sees ${gpu.limits.maxStorageBufferBindingSize} bytes of an array`,
    );
  return {
    program,
    buffers,
    serial,
    members: assumptions.members,
    slots: scatter.slots,
    caches: scatter.caches,
    remarks: [...scatter.remarks, ...(scatter.caches ? [scatter.caches.remark] : []), ...packed],
  };
}

const emitted = (ir: KernelIR, { access, assumptions }: { access: AccessAnalysis; assumptions: WgslAssumptions }): WgslProgram =>
  emitWgsl(ir, access, assumptions);

/** Members of a team: a power of two near the wish. */
function membersOf(wish: number = DEFAULT_TEAM, serial: boolean): number {
  return serial ? 1 : Math.min(WORKGROUP, Math.max(SMALLEST_TEAM, 2 ** Math.ceil(Math.log2(wish))));
}
