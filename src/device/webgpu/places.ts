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
}

interface Group {
  readonly buffer: GpuBuffer;
  readonly types: Set<ElementType>;
  /** Bytes of the buffer that the places reach. */
  begin: number;
  end: number;
  atomic: boolean;
}

/** Throws LaunchError where a place is larger than the adapter can bind, or there are too many. */
export function placesOf(gpu: Gpu, binding: KernelBinding, scatter: Readonly<Record<string, ScatterCode>>): Places {
  const found = new Map<GpuBuffer, Group>();
  const places: [place: string, view: View, atomic: boolean][] = [
    ...Object.entries(binding.views).map(([name, view]): [string, View, boolean] => {
      const bytes = view.type === "u8" && binding.access.views[name]?.written;
      return [name, view, bytes || scatter[name] === "atomic" || scatter[name] === "shared"];
    }),
    ...Object.entries(binding.outputs).flatMap(([name, view]): [string, View, boolean][] =>
      view ? [[`output:${name}`, view, false]] : [],
    ),
  ];
  for (const [, view, atomic] of places) {
    const buffer = bufferOf(gpu, view.buffer);
    const [begin, end] = reach(view);
    const group = found.get(buffer) ?? { buffer, types: new Set(), begin, end, atomic: false };
    found.set(buffer, group);
    group.types.add(view.type);
    group.begin = Math.min(group.begin, begin);
    group.end = Math.max(group.end, end);
    group.atomic ||= atomic;
  }
  const groups = [...found.values()];
  const most = gpu.limits.maxStorageBuffersPerShaderStage;
  if (groups.length + 1 > most)
    throw refusal(
      gpu,
      binding,
      `its views lie in ${groups.length} arrays and it needs memory of its own, and a shader of this adapter has at most ${most} storage buffers`,
      "make some of the views slices of one array, or split the kernel",
    );
  const bindings = groups.map((group) => window(gpu, binding, group, places.filter(([, view]) => view.buffer === group.buffer)[0][0]));
  const indexOf = (view: View) => groups.findIndex(({ buffer }) => buffer === view.buffer);
  return {
    groups: Object.fromEntries([...places.map(([place, view]) => [place, indexOf(view)]), [TEMPORARY, groups.length]]),
    representations: [...groups.map(representationOf), "words"],
    bindings,
    bases: Object.fromEntries(places.map(([place, view]) => [place, view.offset - bindings[indexOf(view)].offset / BYTES[view.type]])),
  };
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
