import { isPacked, isSigned } from "../../ir/scalars.js";
import { isAtomic, type BindingGroups, type Representation, type ScatterCode } from "../../emit/wgsl/shader-program.js";
import { takenRange } from "../../ir/analysis/access.js";
import { launchRanges } from "../../ir/analysis/contributions.js";
import { REDUCTION_CHUNK } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding as KernelBinding } from "../launch/binding.js";
import { cut } from "../gpu/sorted-contributions.js";
import type { Policy, RangePolicy } from "../launch/policy.js";
import { BYTES, type View } from "../memory/view.js";
import { bufferOf, type Gpu, type GpuBuffer } from "./gpu.js";
import type { BufferBinding } from "./steps.js";

/** Bindings begin at multiples of this. */
const ALIGNMENT = 256;

/**
 * Layout of a launch's memory. Views of one buffer share one storage binding, because WebGPU lets no shader have two of a buffer that it
 * writes; the memory of the launch itself is the last one.
 */
export interface BufferGroups {
  readonly groups: BindingGroups;
  readonly representations: readonly Representation[];
  /** One, or several where an array is larger than what a shader can see of it. */
  readonly pieces: readonly Piece[];
  readonly packed: Packed | undefined;
}

/** A part of a launch, which is run by itself. */
export interface Piece {
  readonly policy: Policy;
  readonly bindings: readonly BufferBinding[];
  /** Elements from the start of its binding to a place's first. */
  readonly bases: { readonly views: Readonly<Record<string, number>>; readonly outputs: Readonly<Record<string, number>> };
}

/** Arrays that a shader finds copied into one buffer of the launch, because it may not have a binding for each. */
interface Packed {
  readonly buffer: GpuBuffer;
  readonly parts: readonly { readonly array: GPUBuffer; readonly offset: number; readonly size: number; readonly written: boolean }[];
}

interface Group {
  readonly buffer: GpuBuffer;
  readonly views: Bound[];
  atomic: boolean;
  written: boolean;
}

interface Bound {
  readonly kind: "view" | "output";
  readonly name: string;
  readonly view: View;
  readonly written: boolean;
  readonly atomic: boolean;
}

/**
 * Finds a launch's memory. Where a range reaches more of an array than the adapter can bind, it is cut into pieces along its first axis.
 * Throws LaunchError if that cannot be.
 */
export function bufferGroups(gpu: Gpu, binding: KernelBinding, scatter: Readonly<Record<string, ScatterCode>>): BufferGroups {
  const views = boundViews(binding, scatter);
  const groups = groupsOf(gpu, views);
  const most = gpu.limits.maxStorageBuffersPerShaderStage;
  // One is the launch's own memory, and one takes the arrays that are left over.
  const apart = groups.length < most ? groups : [...groups].sort((a, b) => b.buffer.bytes - a.buffer.bytes).slice(0, most - 2);
  const together = groups.filter((group) => !apart.includes(group));
  const pieces = piecesOf(gpu, binding, apart);
  const packed = together.length > 0 ? pack(gpu, binding, together) : undefined;
  const representations = apart.map(representationOf);
  if (packed) representations.push(together.some(({ atomic }) => atomic) ? "atomic_u32" : "words");
  const groupOf = ({ view }: Bound): number => {
    const group = apart.findIndex(({ buffer }) => buffer === view.buffer);
    return group >= 0 ? group : apart.length;
  };
  const packedAt = ({ view }: Bound): number => packed!.parts[together.findIndex(({ buffer }) => buffer === view.buffer)].offset;
  const whole = packed ? [{ buffer: packed.buffer.handle, offset: 0, size: packed.buffer.handle.size }] : [];
  return {
    groups: { ...byKind(views, groupOf), temporary: apart.length + whole.length },
    representations: [...representations, "words"],
    pieces: pieces.map(({ policy, bindings }) => ({
      policy,
      bindings: [...bindings, ...whole],
      bases: byKind(views, (bound) => {
        const before = groupOf(bound) < apart.length ? -bindings[groupOf(bound)].offset : packedAt(bound);
        return bound.view.offset + before / BYTES[bound.view.type];
      }),
    })),
    packed,
  };
}

function byKind(
  views: readonly Bound[],
  number: (bound: Bound) => number,
): { views: Record<string, number>; outputs: Record<string, number> } {
  const of = (kind: Bound["kind"]) =>
    Object.fromEntries(views.filter((bound) => bound.kind === kind).map((bound) => [bound.name, number(bound)]));
  return { views: of("view"), outputs: of("output") };
}

/** The launch, or pieces of its range, with a binding for each group. */
function piecesOf(gpu: Gpu, binding: KernelBinding, groups: readonly Group[]): { policy: Policy; bindings: BufferBinding[] }[] {
  const { policy } = binding;
  const bindingsOf = (piece: Policy): BufferBinding[] | undefined => {
    const bindings = groups.map((group) => window(gpu, binding, group, piece));
    return bindings.every((found) => found !== undefined) ? bindings : undefined;
  };
  const bindings = bindingsOf(policy);
  if (bindings) return [{ policy, bindings }];
  const unit = policy.kind === "range" && policy.extents.length === 1 ? REDUCTION_CHUNK : 1;
  for (let rows = policy.kind === "range" ? policy.extents[0] : 0; rows > unit;) {
    rows = Math.ceil(rows / 2 / unit) * unit;
    const pieces = cut(policy as RangePolicy, rows).map((piece) => ({ policy: piece, bindings: bindingsOf(piece) }));
    if (pieces.every((piece): piece is { policy: RangePolicy; bindings: BufferBinding[] } => piece.bindings !== undefined)) return pieces;
  }
  const large = groups.find((group) => window(gpu, binding, group, policy) === undefined)!;
  throw refusal(
    gpu,
    binding,
    `"${large.views[0].name}" spans more than the ${gpu.limits.maxStorageBufferBindingSize} bytes of an array that a shader of this adapter can bind, and dividing ${policy.kind === "range" ? "the range" : "a league"} does not make it less, as far as is known before the launch`,
    "launch it over slices of the array, one after the other",
  );
}

function boundViews({ ir, views, outputs, access }: KernelBinding, scatter: Readonly<Record<string, ScatterCode>>): Bound[] {
  const counters = [
    ir.checks?.record,
    ir.prints?.count,
    ...ir.params.flatMap((param) => (param.kind === "view" && param.atomic ? [param.name] : [])),
  ];
  const arguments_ = Object.entries(views).map(([name, view]): Bound => {
    const written = access.views[name]?.written ?? false;
    return {
      kind: "view",
      name,
      view,
      written: written || Object.hasOwn(scatter, name) || counters.includes(name),
      atomic: isAtomic(scatter[name]) || (written && isPacked(view.type)) || counters.includes(name),
    };
  });
  const results = Object.entries(outputs).flatMap(([name, view]): Bound[] =>
    view ? [{ kind: "output", name, view, written: true, atomic: false }] : [],
  );
  return [...arguments_, ...results];
}

function groupsOf(gpu: Gpu, views: readonly Bound[]): Group[] {
  const groups = new Map<GpuBuffer, Group>();
  for (const bound of views) {
    const buffer = bufferOf(gpu, bound.view.buffer);
    const group = groups.get(buffer) ?? { buffer, views: [], atomic: false, written: false };
    groups.set(buffer, group);
    group.views.push(bound);
    group.atomic ||= bound.atomic;
    group.written ||= bound.written;
  }
  return [...groups.values()];
}

function pack(gpu: Gpu, binding: KernelBinding, groups: readonly Group[]): Packed {
  let end = 0;
  const parts = groups.map(({ buffer: { handle }, written }) => {
    const part = { array: handle, offset: end, size: handle.size, written };
    end += handle.size;
    return part;
  });
  if (end > gpu.limits.maxStorageBufferBindingSize)
    throw refusal(
      gpu,
      binding,
      `a shader of this adapter has at most ${gpu.limits.maxStorageBuffersPerShaderStage} storage buffers, and the ${groups.length} smallest of its arrays, ${end} bytes, are too large to be copied into one`,
      "make some of the views slices of one array, or split the kernel",
    );
  return { buffer: gpu.allocate(end), parts };
}

function representationOf({ views, atomic }: Group): Representation {
  const types = new Set(views.map(({ view }) => view.type));
  const [type] = types;
  if (atomic) return types.size === 1 && isSigned(type) && !isPacked(type) ? "atomic_i32" : "atomic_u32";
  return types.size === 1 && !isPacked(type) ? type : "words";
}

/** The whole buffer where that can be bound, else the part that the places reach; undefined if that is too much. */
function window(gpu: Gpu, binding: KernelBinding, { buffer, views }: Group, policy: Policy): BufferBinding | undefined {
  const most = gpu.limits.maxStorageBufferBindingSize;
  const { size } = buffer.handle;
  if (size <= most) return { buffer: buffer.handle, offset: 0, size };
  const reaches = views.map(({ name, view }) => {
    const [begin, end] = reach(view);
    return end - begin + ALIGNMENT <= most ? [begin, end] : reachOver(binding, name, view, policy);
  });
  if (!reaches.every((found) => found !== undefined)) return undefined;
  const offset = Math.floor(Math.min(...reaches.map(([begin]) => begin)) / ALIGNMENT) * ALIGNMENT;
  const length = Math.ceil((Math.max(...reaches.map(([, end]) => end)) - offset) / 16) * 16;
  return length <= most ? { buffer: buffer.handle, offset, size: Math.min(length, size - offset) } : undefined;
}

/** Bytes from the first element of a view to the end of its last. */
function reach({ type, shape, strides, offset, size }: View): [begin: number, end: number] {
  if (size === 0) return [offset * BYTES[type], offset * BYTES[type]];
  const last = shape.reduce((sum, extent, axis) => sum + (extent - 1) * strides[axis], offset);
  return [offset * BYTES[type], (last + 1) * BYTES[type]];
}

/** The same for the elements that a launch over `policy` accesses; undefined if data decides which they are. */
function reachOver(
  { access, views, scalars }: KernelBinding,
  name: string,
  view: View,
  policy: Policy,
): [begin: number, end: number] | undefined {
  const known = launchRanges({ policy, views, scalars });
  let [low, high] = [Infinity, -Infinity];
  for (const use of access.accesses) {
    if (use.view !== name) continue;
    let [first, last] = [view.offset, view.offset];
    for (const [axis, stride] of view.strides.entries()) {
      const range = takenRange({ ...use, conditional: false }, axis, known);
      if (!range) return undefined;
      first += range[0] * stride;
      last += range[1] * stride;
    }
    [low, high] = [Math.min(low, first), Math.max(high, last)];
  }
  const [begin, end] = reach(view);
  const bytes = BYTES[view.type];
  return low > high ? [begin, begin] : [Math.max(begin, low * bytes), Math.min(end, (high + 1) * bytes)];
}

function refusal(gpu: Gpu, { kernel }: KernelBinding, problem: string, remedy: string): LaunchError {
  const { file, line } = kernel.location;
  return new LaunchError(`kernel "${kernel.name}" (${file}:${line}) on ${gpu.name}: ${problem}; ${remedy}`);
}
