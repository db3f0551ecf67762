import { isInteger } from "../../../ir/scalars.js";
import type { NumericType, ScatterOp } from "../../../ir/types.js";
import type { Axis } from "../../../schedule/nodes.js";
import { LIBRARY, type LibraryFn } from "../dialect.js";
import type { AtomicFunction, Declared, EntryFrame, GpuDialect, Space } from "../gpu/dialect.js";
import { SORT_BY_WARPS } from "../gpu/sort.js";

const SPACE: Record<Space, string> = { global: "device", shared: "threadgroup" };
const WARP = 32;

/** Names of an entry's places, and the attributes by which Metal fills them in. */
const PLACES = {
  thread_at: "thread_position_in_threadgroup",
  block_at: "threadgroup_position_in_grid",
  block_size: "threads_per_threadgroup",
  grid_size: "threadgroups_per_grid",
};

const TYPES = {
  f64: "double",
  f32: "float",
  i32: "int",
  u32: "uint",
  i64: "long",
  u64: "ulong",
  bool: "bool",
  u8: "uchar",
  i8: "char",
  u16: "ushort",
  i16: "short",
  f16: "ushort",
  bf16: "ushort",
};

/** Metal's shading language, version 3, without f64: `wide` makes the index type 64 bits. Apple's compilers have not seen it: see docs/emit.md. */
export function metalDialect(wide: boolean, strict: boolean): GpuDialect {
  const types = { ...TYPES, index: wide ? "long" : "int" };
  return {
    name: "Metal",
    types,
    helperPrefix: "static inline",
    tablePrefix: "constant",
    signedWraps: false,
    tableBits: {
      f64: { type: "ulong", suffix: "ul", value: (word) => word },
      f32: { type: "uint", suffix: "u", value: (word) => `as_type<float>(${word})` },
    },
    bits: { of: (value) => `as_type<uint>(${value})`, value: (word) => `as_type<float>(${word})` },
    infinity: "INFINITY",
    nan: "NAN",
    math: (fn) => (Object.hasOwn(MISSING, fn) ? `${LIBRARY[fn]}_f32` : LIBRARY[fn]),
    helpers: {
      clz_u32: "int clz_u32(uint a) { return int(clz(a)); }",
      mulhi_u32: "uint mulhi_u32(uint a, uint b) { return mulhi(a, b); }",
    },
    apartPrefix: "static",
    i64: "long",
    head: () => ["#include <metal_stdlib>", "using namespace metal;", ...(strict ? ["#pragma clang fp contract(off)"] : [])],
    paramTypes: { f64: "double", f32: "float", i32: "int", u32: "uint", i64: "long", u64: "ulong", long: "long", bool: "uchar" },
    block: (axis: Axis) => `block_at.${axis}`,
    thread: (axis: Axis) => `thread_at.${axis}`,
    blocks: (axis: Axis) => `grid_size.${axis}`,
    threads: (axis: Axis) => `block_size.${axis}`,
    barrier: "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device)",
    fence: "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device)",
    pointer: (space, type) => `${SPACE[space]} ${type === "long" ? "long" : types[type]} *`,
    restrict: "",
    sharedPrefix: "threadgroup",
    shuffle: {
      down: (value, step) => `simd_shuffle_down(${value}, (ushort)${step})`,
      xor: (value, step) => `simd_shuffle_xor(${value}, (ushort)${step})`,
      warp: WARP,
      // Lanes of members that go their own ways cannot wait for each other: members are one thread.
      group: {
        xor: (value, step) => `simd_shuffle_xor(${value}, (ushort)${step})`,
        fence: () => "simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device)",
      },
    },
    // Not used: one thread adds contributions in their order.
    sortShape: SORT_BY_WARPS,
    finishThreads: 256,
    atomic,
    next: (pointer) => `atomic_fetch_add_explicit((device atomic_uint *)(${pointer}), 1u, memory_order_relaxed)`,
    exchange: "exchange",
    mathDefinitions: (source) =>
      (Object.keys(MISSING) as (keyof typeof MISSING)[]).filter((fn) => source.includes(`${fn}_f32(`)).map((fn) => MISSING[fn]),
    entry: (name, most) => `[[max_total_threads_per_threadgroup(${most})]] kernel void ${name}`,
    parameter: ({ declaration }) => ({ declarations: [declaration], opening: [] }),
    frame,
  };
}

/** Arrays are arguments of their own, numbers members of a struct: an entry has at most 31 arguments. */
function frame(name: string, params: readonly Declared[]): EntryFrame {
  const arrays = params.filter(({ type }) => type === "pointer");
  const shared = params.filter(({ type }) => type === "shared");
  const numbers = params.filter(({ type }) => type !== "pointer" && type !== "shared");
  const struct = `${name}_launch`;
  const fields = numbers.map(({ declaration }) => `${declaration.replace(/^const /, "")};`);
  return {
    before: numbers.length > 0 ? [`struct ${struct} { ${fields.join(" ")} };`] : [],
    declarations: [
      ...arrays.map(({ declaration }, n) => `${declaration} [[buffer(${n})]]`),
      ...(numbers.length > 0 ? [`constant ${struct} &launch [[buffer(${arrays.length})]]`] : []),
      ...shared.map(({ declaration }) => `${declaration} [[threadgroup(0)]]`),
      ...Object.entries(PLACES).map(([own, attribute]) => `uint3 ${own} [[${attribute}]]`),
    ],
    opening: numbers.map(({ declaration, identifier }) => `${declaration} = launch.${identifier};`),
  };
}

function atomic(op: ScatterOp, type: NumericType, space: Space): AtomicFunction {
  const name = `atomic_${op}_${type}_${space}`;
  if (!isInteger(type)) return { name, definition: exchanging(name, op, space), helper: op === "sum" ? undefined : `${op}_f32` };
  const [T, cell] = type === "i32" ? ["int", "atomic_int"] : ["uint", "atomic_uint"];
  const call = `atomic_fetch_${op === "sum" ? "add" : op}_explicit((${SPACE[space]} ${cell} *)place, value, memory_order_relaxed);`;
  return { name, definition: `static inline void ${name}(${SPACE[space]} ${T} *place, ${T} value) { ${call} }` };
}

/** Folds f32 by compare and exchange, which all versions have in both kinds of memory. */
function exchanging(name: string, op: ScatterOp, space: Space): string {
  const folded = op === "sum" ? "as_type<float>(seen) + value" : `${op}_f32(as_type<float>(seen), value)`;
  return [
    `static void ${name}(${SPACE[space]} float *place, float value) {`,
    `  ${SPACE[space]} atomic_uint *cell = (${SPACE[space]} atomic_uint *)place;`,
    `  uint seen = atomic_load_explicit(cell, memory_order_relaxed);`,
    `  while (!atomic_compare_exchange_weak_explicit(cell, &seen, as_type<uint>(${folded}), memory_order_relaxed, memory_order_relaxed)) {}`,
    `}`,
  ].join("\n");
}

/** Functions that Metal lacks, by others: expm1 and log1p by Kahan's corrections of exp and log, cbrt by a step of Newton's. */
const MISSING = {
  expm1:
    "static inline float expm1_f32(float x) { const float u = exp(x); return u == 1 ? x : u - 1 == -1 ? -1.0f : u == INFINITY ? u : (u - 1) * (x / log(u)); }",
  log1p: "static inline float log1p_f32(float x) { const float u = 1 + x; return u == 1 || u == INFINITY ? x : log(u) * (x / (u - 1)); }",
  cbrt: "static inline float cbrt_f32(float x) { const float r = pow(fabs(x), 1.0f / 3); return x == 0 || isinf(x) ? x : copysign(r - (r - fabs(x) / (r * r)) / 3, x); }",
  hypot:
    "static inline float hypot_f32(float a, float b) { const float most = max(fabs(a), fabs(b)), least = min(fabs(a), fabs(b)); return isinf(a) || isinf(b) ? INFINITY : a != a || b != b ? NAN : most == 0 ? 0.0f : most * sqrt(1 + least / most * (least / most)); }",
} satisfies Partial<Record<LibraryFn, string>>;
