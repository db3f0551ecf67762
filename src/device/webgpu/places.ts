import type { Representation, ScatterCode } from "../../emit/wgsl/program.js";
import { TEMPORARY } from "../../emit/wgsl/writer.js";
import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../kernel/errors.js";
import type { Binding as KernelBinding } from "../bind.js";
import { BYTES, type View } from "../view.js";
import { bufferOf, type Gpu, type GpuBuffer } from "./gpu.js";
import type { Binding } from "./steps.js";

/** Bindings begin at multiples of this. */
const ALIGNMENT = 256;

/**
 * Where a launch's memory lies. Views of one buffer share one storage binding, because WebGPU lets no shader have two of a buffer that it
 * writes; the memory of the launch itself is the last one.
 */
export interface Places {
  readonly groups: Readonly<Record<string, number>>;
  readonly representations: readonly Representation[];
  readonly bindings: readonly Binding[];
  /** Elements from the start of its binding to a place's first. */
  readonly bases: Readonly<Record<string, number>>;
  readonly packed: Packed | undefined;
}

/** Arrays that a shader finds copied into one buffer of the launch, because it may not have a binding for each. */
export interface Packed {
  readonly buffer: GpuBuffer;
  readonly parts: readonly { readonly array: GPUBuffer; readonly offset: number; readonly size: number; readonly written: boolean }[];
}

interface Group {
  readonly buffer: GpuBuffer;
  readonly types: Set<ElementType>;
  /** Bytes of the buffer that the places reach. */
  begin: number;
  end: number;
  atomic: boolean;
  written: boolean;
}

interface Place {
  readonly name: string;
  readonly view: View;
  readonly written: boolean;
  readonly atomic: boolean;
}

/** Throws LaunchError where a place is larger than the adapter can bind. */
export function placesOf(gpu: Gpu, binding: KernelBinding, scatter: Readonly<Record<string, ScatterCode>>): Places {
  const places = placesIn(binding, scatter);
  const found = groupsOf(gpu, places);
  const most = gpu.limits.maxStorageBuffersPerShaderStage;
  // One is the launch's own memory, and one takes the arrays that are left over.
  const apart = found.length < most ? found : [...found].sort((a, b) => b.buffer.bytes - a.buffer.bytes).slice(0, most - 2);
  const together = found.filter((group) => !apart.includes(group));
  const packed = together.length > 0 ? pack(gpu, binding, together) : undefined;
  const bindings = apart.map((group) => window(gpu, binding, group, places.find(({ view }) => view.buffer === group.buffer)!.name));
  const representations = apart.map(representationOf);
  if (packed) {
    bindings.push({ buffer: packed.buffer.handle, offset: 0, size: packed.buffer.handle.size });
    representations.push(together.some(({ atomic }) => atomic) ? "atomic_u32" : "words");
  }
  const where = ({ view }: Place): { group: number; base: number } => {
    const group = apart.findIndex(({ buffer }) => buffer === view.buffer);
    const before = group >= 0 ? -bindings[group].offset : packed!.parts[together.findIndex(({ buffer }) => buffer === view.buffer)].offset;
    return { group: group >= 0 ? group : apart.length, base: view.offset + before / BYTES[view.type] };
  };
  return {
    groups: Object.fromEntries([...places.map((place) => [place.name, where(place).group]), [TEMPORARY, bindings.length]]),
    representations: [...representations, "words"],
    bindings,
    bases: Object.fromEntries(places.map((place) => [place.name, where(place).base])),
    packed,
  };
}

function placesIn({ views, outputs, access }: KernelBinding, scatter: Readonly<Record<string, ScatterCode>>): Place[] {
  const arguments_ = Object.entries(views).map(([name, view]): Place => {
    const written = access.views[name]?.written ?? false;
    const atomic = scatter[name] === "atomic" || scatter[name] === "shared";
    return { name, view, written: written || name in scatter, atomic: atomic || (written && view.type === "u8") };
  });
  const results = Object.entries(outputs).flatMap(([name, view]): Place[] =>
    view ? [{ name: `output:${name}`, view, written: true, atomic: false }] : [],
  );
  return [...arguments_, ...results];
}

function groupsOf(gpu: Gpu, places: readonly Place[]): Group[] {
  const groups = new Map<GpuBuffer, Group>();
  for (const { view, atomic, written } of places) {
    const buffer = bufferOf(gpu, view.buffer);
    const [begin, end] = reach(view);
    const group = groups.get(buffer) ?? { buffer, types: new Set(), begin, end, atomic: false, written: false };
    groups.set(buffer, group);
    group.types.add(view.type);
    group.begin = Math.min(group.begin, begin);
    group.end = Math.max(group.end, end);
    group.atomic ||= atomic;
    group.written ||= written;
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

function representationOf({ types, atomic }: Group): Representation {
  const [type] = types;
  if (atomic) return types.size === 1 && type === "i32" ? "atomic_i32" : "atomic_u32";
  return types.size === 1 && type !== "u8" ? type : "words";
}

/** The whole buffer where that can be bound, else the part that the places reach. */
function window(gpu: Gpu, binding: KernelBinding, { buffer, begin, end }: Group, place: string): Binding {
  const most = gpu.limits.maxStorageBufferBindingSize;
  const { size } = buffer.handle;
  if (size <= most) return { buffer: buffer.handle, offset: 0, size };
  const offset = Math.floor(begin / ALIGNMENT) * ALIGNMENT;
  const length = Math.ceil((end - offset) / 16) * 16;
  if (length > most)
    throw refusal(
      gpu,
      binding,
      `"${place}" reaches over ${length} bytes of its array, and a shader of this adapter sees at most ${most} of one`,
      "launch it over slices of the array one after the other",
    );
  return { buffer: buffer.handle, offset, size: Math.min(length, size - offset) };
}

function reach({ type, shape, strides, offset, size }: View): [begin: number, end: number] {
  if (size === 0) return [offset * BYTES[type], offset * BYTES[type]];
  const span = shape.map((extent, axis) => (extent - 1) * strides[axis]);
  const [low, high] = [Math.min, Math.max].map((pick) => span.reduce((sum, step) => sum + pick(0, step), offset));
  return [low * BYTES[type], (high + 1) * BYTES[type]];
}

function refusal(gpu: Gpu, { kernel }: KernelBinding, problem: string, remedy: string): LaunchError {
  const { file, line } = kernel.location;
  return new LaunchError(`kernel "${kernel.name}" (${file}:${line}) on ${gpu.name}: ${problem}; ${remedy}`);
}
