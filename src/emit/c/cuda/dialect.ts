import { fetchByCalls, namedCalls } from "../fetch.js";
import { isDouble, isInteger, type FloatType } from "../../../ir/scalars.js";
import type { NumericType, ScatterOp } from "../../../ir/types.js";
import { LIBRARY, PRINTF, type LibraryFn } from "../dialect.js";
import type { AtomicFunction, GpuDialect } from "../gpu/dialect.js";
import { SORT_BY_BLOCKS } from "../gpu/sort.js";
import { definitionsThroughF64, throughF64 } from "../gpu/through-f64.js";
import { powDefinition } from "../helpers.js";

const NAN = "__longlong_as_double(0x7ff8000000000000)";
const WARP = 32;

/** Instructions that need no header, which run-time compilation may lack. */
const HALVES = {
  f32_from_f16: 'float f32_from_f16(unsigned short h) { float value; asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(h)); return value; }',
  f16_from_f32: 'unsigned short f16_from_f32(float x) { unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }',
};

/** CUDA C++; `wide` makes the index type 64 bits. */
export function cudaDialect(wide: boolean): GpuDialect {
  const types = {
    f64: "double",
    f32: "float",
    i32: "int",
    u32: "unsigned int",
    i64: "long long",
    u64: "unsigned long long",
    bool: "bool",
    u8: "unsigned char",
    i8: "signed char",
    u16: "unsigned short",
    i16: "short",
    f16: "unsigned short",
    bf16: "unsigned short",
    index: wide ? "long long" : "int",
  };
  return {
    name: "CUDA",
    types,
    helperPrefix: "__device__ inline",
    tablePrefix: "__device__ const",
    signedWraps: false,
    tableBits: {
      f64: { type: "unsigned long long", suffix: "ull", value: (word) => `__longlong_as_double((long long)${word})` },
      f32: { type: "unsigned int", suffix: "u", value: (word) => `__uint_as_float(${word})` },
    },
    bits: { of: (value) => `__float_as_uint(${value})`, value: (word) => `__uint_as_float(${word})` },
    infinity: "__longlong_as_double(0x7ff0000000000000)",
    nan: NAN,
    math,
    helpers: {
      // CUDA's powf is off by more than 2 ulp.
      pow_f32: powDefinition("f32", { types, nan: NAN }, "(float)pow((double)a, (double)b)"),
      abs_i32: ABS_I32,
      ...HALVES,
      clz_u32: "int clz_u32(unsigned int a) { return __clz(a); }",
      mulhi_u32: "unsigned int mulhi_u32(unsigned int a, unsigned int b) { return __umulhi(a, b); }",
    },
    apartPrefix: "__device__ __noinline__",
    i64: "long long",
    head: () => [],
    paramTypes: {
      f64: "double",
      f32: "float",
      i32: "int",
      u32: "unsigned int",
      i64: "long long",
      u64: "unsigned long long",
      long: "long long",
      bool: "bool",
    },
    block: (axis) => `blockIdx.${axis}`,
    thread: (axis) => `threadIdx.${axis}`,
    blocks: (axis) => `gridDim.${axis}`,
    threads: (axis) => `blockDim.${axis}`,
    barrier: "__syncthreads()",
    fence: "__threadfence()",
    pointer: (_space, type) => (type === "long" ? "long long *" : `${types[type]} *`),
    restrict: "__restrict__",
    sharedPrefix: "__shared__",
    dynamicShared: (name) => `extern __shared__ double ${name}[];`,
    shuffle: {
      down: (value, step) => `__shfl_down_sync(~0u, ${value}, ${step})`,
      xor: (value, step) => `__shfl_xor_sync(~0u, ${value}, ${step})`,
      warp: WARP,
      group: {
        mask: (thread, lane, lanes) => (lanes === WARP ? "~0u" : `${2 ** lanes - 1}u << (${thread} % ${WARP} - ${lane})`),
        xor: (value, step, mask) => `__shfl_xor_sync(${mask}, ${value}, ${step})`,
        fence: (mask) => `__syncwarp(${mask})`,
      },
    },
    finishThreads: 1024,
    sortShape: SORT_BY_BLOCKS,
    peerAccess: {
      // A single SM is slow to read this many partials: 64 KiB take 3 us on an H200.
      threads: 256,
      fence: 'asm volatile("fence.acq_rel.sys;" ::: "memory")',
      load: (pointer, [first, second]) => `poll(${pointer}, &${first}, &${second})`,
      definition: POLL,
      nanoseconds: "nanoseconds()",
      pause: "__nanosleep(20)",
      fail: "__trap()",
    },
    atomic,
    fetch: fetchByCalls({
      ...namedCalls({
        add: "atomicAdd",
        min: "atomicMin",
        max: "atomicMax",
        and: "atomicAnd",
        or: "atomicOr",
        xor: "atomicXor",
        exchange: "atomicExch",
        compareExchange: "atomicCAS",
      }),
      load: (pointer, _, type) => `*(const volatile ${type === "i32" ? "int" : "unsigned int"} *)(${pointer})`,
    }),
    next: (pointer) => `atomicAdd(${pointer}, 1)`,
    printf: PRINTF,
    exchange: "atomicCAS",
    runs: { body: foldRun },
    mathDefinitions: (source) => definitionsThroughF64(source, "__device__ inline"),
    assumed: { statement: (condition) => `__builtin_assume(${condition});`, address: (pointer) => `(unsigned long long)${pointer}` },
    ahead: { definition: ASK_AHEAD, ask: (pointer) => `ask_ahead(${pointer})` },
    // On an H200 copies of f64 take 0.91 of the time of single elements so, of f32 0.64, sums of two arrays of f32 0.80.
    bytesOfThread: 32,
    holdsResidents: true,
    writesOutTurns: true,
    stagesTurns: true,
    entry: (name, most, _block, resident) =>
      `extern "C" __global__ void __launch_bounds__(${most}${resident ? `, ${resident}` : ""}) ${name}`,
    parameter: ({ declaration }) => ({ declarations: [declaration], opening: [] }),
  };
}

/** Hides abs from the compiler: ptxas assumes that `abs.s32` is not negative, which is wrong for the least i32. */
const ABS_I32 = [
  "int abs_i32(int a) {",
  "  unsigned int sign;",
  '  asm("shr.s32 %0, %1, 31;" : "=r"(sign) : "r"(a));',
  "  return (int)(((unsigned int)a ^ sign) - sign);",
  "}",
].join("\n");

const POLL = [
  "__device__ inline void poll(const long long *place, long long *first, long long *second) {",
  '  asm volatile("ld.acquire.sys.global.v2.s64 {%0, %1}, [%2];" : "=l"(*first), "=l"(*second) : "l"(place) : "memory");',
  "}",
  "__device__ inline long long nanoseconds() {",
  "  long long now;",
  '  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));',
  "  return now;",
  "}",
].join("\n");

const ASK_AHEAD = '__device__ inline void ask_ahead(const void *place) { asm volatile("prefetch.global.L1 [%0];" :: "l"(place)); }';

function math(fn: LibraryFn, type: FloatType): string {
  return isDouble(type) ? LIBRARY[fn] : (throughF64(fn) ?? `${LIBRARY[fn]}f`);
}

function atomic(op: ScatterOp, type: NumericType): AtomicFunction {
  if (op === "sum") return type === "i64" ? { name: "atomic_add_i64", definition: ADD_I64 } : { name: "atomicAdd" };
  if (isInteger(type)) return { name: op === "min" ? "atomicMin" : "atomicMax" };
  return { name: `atomic_${op}_${type}`, definition: atomicDefinition(op, type), helper: `${op}_${type}` };
}

/** The hardware adds the same bits with and without a sign. */
const ADD_I64 = [
  "__device__ inline void atomic_add_i64(long long *place, long long value) {",
  "  atomicAdd((unsigned long long *)place, (unsigned long long)value);",
  "}",
].join("\n");

/** Most runs of a warp that are worth folding: more are short. */
const MOST_RUNS = 16;

/**
 * A segmented fold by shuffles. Whether a thread begins a run is known from its neighbour's place, how far the run goes from the votes of all; threads
 * that do not all come here together fold for themselves.
 */
function foldRun(folded: string, type: string, index: string): string[] {
  return [
    `if (__activemask() != ~0u) return true;`,
    `unsigned int lane;`,
    `asm("mov.u32 %0, %%laneid;" : "=r"(lane));`,
    `const ${index} before = __shfl_up_sync(~0u, place, 1);`,
    `const unsigned int heads = __ballot_sync(~0u, lane == 0 || before != place);`,
    `if (__popc(heads) > ${MOST_RUNS}) return true;`,
    `const unsigned int later = heads & (~1u << lane);`,
    `const unsigned int stop = later ? __ffs(later) - 1 : 32;`,
    `#pragma unroll 1`,
    `for (unsigned int step = 1; step < 32; step *= 2) {`,
    `  const ${type} other = __shfl_down_sync(~0u, value, step);`,
    `  if (lane + step < stop) value = ${folded};`,
    `}`,
    `return heads >> lane & 1;`,
  ];
}

const FLOATS_AS_BITS: Readonly<Record<FloatType, readonly string[]>> = {
  f64: ["double", "unsigned long long", "__double_as_longlong", "__longlong_as_double"],
  f32: ["float", "unsigned int", "__float_as_uint", "__uint_as_float"],
};

/** The least and greatest of floats, which the hardware's atomics lack. */
function atomicDefinition(op: "min" | "max", type: FloatType): string {
  const [T, bits, toBits, fromBits] = FLOATS_AS_BITS[type];
  return [
    `__device__ inline void atomic_${op}_${type}(${T} *place, ${T} value) {`,
    `  ${bits} *cell = (${bits} *)place;`,
    `  ${bits} seen = *cell;`,
    `  for (;;) {`,
    `    const ${bits} wanted = ${toBits}(${op}_${type}(${fromBits}(seen), value));`,
    `    if (wanted == seen) return;`,
    `    const ${bits} found = atomicCAS(cell, seen, wanted);`,
    `    if (found == seen) return;`,
    `    seen = found;`,
    `  }`,
    `}`,
  ].join("\n");
}
