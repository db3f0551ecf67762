import { BYTES, isPacked, isSigned } from "../../ir/scalars.js";
import type { KnownIntegers } from "../../ir/analysis/integer-ranges.js";
import type { ElementType, KernelIR, NumericType, ScalarType, ScatterOp } from "../../ir/types.js";
import type { ScatterCode, Traversal } from "../../schedule/program.js";
import type { WgslSlot } from "../../schedule/slots.js";

export type { ScatterCode, Traversal };

/**
 * Spellings of the types. WGSL has no f64: where it is emulated, a value is the unevaluated sum of two f32. Integers of 64 bits are two words, the lower
 * one first.
 */
export const WGSL_TYPES: Readonly<Record<ScalarType, string>> = {
  f64: "vec2<f32>",
  f32: "f32",
  i32: "i32",
  u32: "u32",
  i64: "vec2<u32>",
  u64: "vec2<u32>",
  bool: "bool",
};

/**
 * Declares a variable of a function that is zero each time control comes there. It is given its value by name, as drivers make a declaration without one
 * once for all turns of a loop, so that a turn would find what the last has left (Dawn with SwiftShader, and on an H100).
 */
export const zeroVariable = (name: string, type: string): string => `var ${name} = ${type}();`;

/** Invocations of a workgroup: what every WebGPU device has. */
export const WORKGROUP = 256;

/** How the elements of a storage buffer are declared: by their one type, or as words where several types or atomics meet in one buffer. */
export type Representation = NumericType | "words" | "atomic_i32" | "atomic_u32";

/**
 * How the buffer of one array of a kernel is declared: bytes that are written share their words with others, and atomics of floats go through their
 * bits. What checked code and prints count in is atomic, too.
 *
 * @param folded several invocations fold into an element at once
 */
export function representationOf(
  { checks, prints }: Pick<KernelIR, "checks" | "prints">,
  { name, element, ...param }: { readonly name: string; readonly element: ElementType; readonly atomic?: true },
  folded: boolean,
  written: boolean,
): Representation {
  if (folded || param.atomic || name === checks?.record || name === prints?.count) return isSigned(element) ? "atomic_i32" : "atomic_u32";
  if (!isPacked(element)) return element;
  return written ? "atomic_u32" : "words";
}

/** One field of the uniform block with a launch's numbers. */
export interface LaunchField<Slot = WgslSlot> {
  readonly slot: Slot;
  readonly type: ScalarType;
}

/** A storage buffer that an entry uses: bindings 1, 2, ... in order; binding 0 is the uniform block. */
export interface EntryBuffer {
  readonly group: number;
  readonly written: boolean;
}

/** Memory that a shader reaches: a view, the view of a result, or memory of the launch itself, which has partials and contributions. */
export type BoundArray = { readonly kind: "view" | "output"; readonly name: string } | typeof TEMPORARY;

/** The place of a view or scatter target. */
export const viewPlace = (name: string): BoundArray => ({ kind: "view", name });

export const TEMPORARY = { kind: "temporary" } as const;

/** The number of the storage buffer of each place. */
export interface BindingGroups {
  readonly views: Readonly<Record<string, number>>;
  readonly outputs: Readonly<Record<string, number>>;
  readonly temporary: number;
}

/** Undefined for a result that no view takes. */
export function groupOf(groups: BindingGroups, place: BoundArray): number | undefined {
  switch (place.kind) {
    case "view":
      return groups.views[place.name];
    case "output":
      return groups.outputs[place.name];
    case "temporary":
      return groups.temporary;
    default:
      return place satisfies never;
  }
}

/** A buffer for each view, in order, and then the launch's own. */
export const groupsApart = (views: readonly string[]): BindingGroups => ({
  views: Object.fromEntries(views.map((name, n) => [name, n])),
  outputs: {},
  temporary: views.length,
});

/** One compute shader with all that it needs. */
export interface ShaderEntry<Slot = WgslSlot> {
  readonly name: string;
  readonly source: string;
  /** In the order of the block; see `layOutBlock`. */
  readonly fields: readonly LaunchField<Slot>[];
  readonly buffers: readonly EntryBuffer[];
  readonly workgroup: readonly [number, number, number];
  /** Bytes of the workgroup's memory: scratch, copies of scatter targets, cells of folds. */
  readonly workgroupBytes: number;
}

/** Assumptions about a launch when its code is generated. */
export interface WgslAssumptions {
  readonly strict: boolean;
  readonly sizes: KnownIntegers;
  /** Folds keep the order of strict mode, which in it they always do. */
  readonly ordered?: boolean;
  /** Reductions over a range go by chunks: in strict mode, and where a range is run in pieces. */
  readonly inChunks: boolean;
  /** The device folds over subgroups, and numbers them. */
  readonly subgroups?: boolean;
  /** Invocations of a subgroup that is full, where the device has one size. */
  readonly subgroupSize?: number;
  /** The device's `fma` is known to round once. */
  readonly fma?: boolean;
  /** By view and axis: the stride is 1. */
  readonly unitStrides: Readonly<Record<string, readonly boolean[]>>;
  readonly groups: BindingGroups;
  /** By number of the storage buffer. */
  readonly representations: readonly Representation[];
  /** Views that begin where their buffer begins. */
  readonly atStart: Readonly<Record<string, boolean>>;
  /** Reduce parameters leave their partials in the views that they were given. */
  readonly partials: boolean;
  readonly scatter: Readonly<Record<string, ScatterCode>>;
  /** Elements of targets with a copy in the workgroup's memory. */
  readonly copies: Readonly<Record<string, number>>;
  /** Lines of a scatter cache, a power of two; undefined if no target has one. */
  readonly scatterCacheLines?: number;
  /** Invocations of a team. */
  readonly members: number;
  /** Invocations of a workgroup where each has elements of its own, and nothing is folded; if omitted, the default size. */
  readonly threads?: number;
  /** Elements of an invocation in a range of one axis, as many as a workgroup has invocations apart; if omitted, one. */
  readonly elements?: number;
}

interface SortedScatter {
  readonly name: string;
  readonly type: NumericType;
  readonly op: ScatterOp;
  /** Adds the sorted contributions to the target. */
  readonly apply: ShaderEntry;
}

/** WGSL for one kernel, and what a launch must know of it. */
export interface WgslProgram {
  readonly main: ShaderEntry;
  readonly traversal: Traversal;
  /** Elements of an invocation of `main` along the last axis. */
  readonly elements: number;
  /** In the order of their 8-byte places in the results. */
  readonly reduces: readonly { readonly name: string; readonly type: NumericType }[];
  /** Fold partials chunk by chunk, and to the end; present where there are reductions. */
  readonly fold?: ShaderEntry;
  readonly finish?: ShaderEntry;
  readonly sorted: readonly SortedScatter[];
  /** Scatter targets of emulated f64 that atomic sums were added to. */
  readonly renormalised: readonly { readonly name: string; readonly entry: ShaderEntry }[];
}

/** Bytes from the start of the block to each of its fields, and of the block as a whole. */
export function layOutBlock(fields: readonly LaunchField<unknown>[]): { offsets: readonly number[]; size: number } {
  let end = 0;
  const offsets = fields.map(({ type }) => {
    const size = type === "bool" ? 4 : BYTES[type];
    const offset = Math.ceil(end / size) * size;
    end = offset + size;
    return offset;
  });
  return { offsets, size: Math.max(16, Math.ceil(end / 16) * 16) };
}

/** The updates of a target may come from several invocations at once. */
export const isAtomic = (code: ScatterCode | undefined): boolean => code === "atomic" || code === "shared" || code === "cached";

/** 32-bit words of an element; a `u8` shares one with three others. */
export const wordsOf = (type: ElementType): number => Math.ceil(BYTES[type] / 4);

/** Numbers of its invocation that a shader may ask for: the name in the language, the name in our code, and the type. */
export const SHADER_INPUTS = [
  ["global_invocation_id", "invocation", "vec3<u32>"],
  ["local_invocation_index", "thread_number", "u32"],
  ["workgroup_id", "workgroup", "vec3<u32>"],
  ["num_workgroups", "workgroups", "vec3<u32>"],
  ["subgroup_invocation_id", "subgroup_lane", "u32"],
  ["subgroup_id", "subgroup_number", "u32"],
  ["num_subgroups", "subgroup_count", "u32"],
] as const;
