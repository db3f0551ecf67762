import { fetchByCalls, namedCalls } from "../fetch.js";
import { LIBRARY } from "../dialect.js";
import { isDouble, isFloat, isInteger, isWord, type FloatType, type WideType } from "../../../ir/scalars.js";
import type { NumericType, ScatterOp } from "../../../ir/types.js";
import type { AtomicFunction, GpuDialect, Space, SubGroups } from "../gpu/dialect.js";
import type { Axis } from "../../../schedule/nodes.js";
import { SORT_BY_WARPS } from "../gpu/sort.js";
import { definitionsThroughF64, inF64, throughF64 } from "../gpu/through-f64.js";
import { powDefinition } from "../helpers.js";

/** Features of a device's compiler beyond OpenCL C 1.2. */
export interface OpenclFeatures {
  /** Type double. */
  readonly f64: boolean;
  /** Compare-and-exchange of 8 bytes. */
  readonly atomics64: boolean;
  /** f32 is divided, and its roots are taken, with no more error than rounding. */
  readonly exactF32: boolean;
  /** Functions that fold over sub-groups. */
  readonly subGroups: boolean;
  /** Takes the assembly of NVIDIA's GPUs, which adds floats atomically. */
  readonly ptx?: boolean;
}

/** Settings on which the spelling of a program depends, besides the device. */
interface Spelling {
  /** The index type has 64 bits. */
  readonly wide: boolean;
  readonly strict: boolean;
}

const NAN = "as_double(0x7ff8000000000000ul)";

/** Without a comparison that a compiler might read as the absolute value of its target, whose sign NVIDIA's assembler takes for known. */
const ABS_I32 = "int abs_i32(int a) { const uint sign = (uint)a >> 31; return (int)(((uint)a ^ (0u - sign)) + sign); }";

const DIMENSION: Record<Axis, number> = { x: 0, y: 1, z: 2 };
const SPACE: Record<Space, string> = { global: "__global", shared: "__local" };

/** OpenCL C 1.2, and functions of later versions where the device has them. Each pointer comes with the offset of its first element, as buffers have no arithmetic. */
export function openclDialect({ wide, strict }: Spelling, { f64, atomics64, exactF32, subGroups, ptx }: OpenclFeatures): GpuDialect {
  const rough = strict && !exactF32;
  const types = {
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
    index: wide ? "long" : "int",
  };
  return {
    name: "OpenCL",
    types,
    helperPrefix: "static",
    tablePrefix: "__constant",
    signedWraps: false,
    roughDivision: rough,
    tableBits: {
      f64: { type: "ulong", suffix: "ul", value: (word) => `as_double(${word})` },
      f32: { type: "uint", suffix: "u", value: (word) => `as_float(${word})` },
    },
    bits: { of: (value) => `as_uint(${value})`, value: (word) => `as_float(${word})` },
    // Writes bits for f64: the language's constants are f32, and functions are chosen by the types of their arguments.
    infinity: f64 ? "as_double(0x7ff0000000000000ul)" : "INFINITY",
    nan: f64 ? NAN : "NAN",
    math: (fn, type) => {
      if (!f64 || isDouble(type)) return LIBRARY[fn];
      return (rough && fn === "sqrt" ? inF64(fn) : throughF64(fn)) ?? LIBRARY[fn];
    },
    helpers: {
      ...(f64 ? { pow_f32: powDefinition("f32", { types, nan: NAN }, "(float)pow((double)a, (double)b)") } : {}),
      abs_i32: ABS_I32,
      clz_u32: "int clz_u32(uint a) { return clz(a); }",
      mulhi_u32: "uint mulhi_u32(uint a, uint b) { return mul_hi(a, b); }",
    },
    // PoCL 3.1 loses what functions do in local memory that it does not inline.
    apartPrefix: "static inline __attribute__((always_inline))",
    i64: "long",
    head: () => [
      ...(f64 ? ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] : []),
      ...(atomics64 ? ["#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable"] : []),
      ...(strict ? ["#pragma OPENCL FP_CONTRACT OFF"] : []),
    ],
    // A kernel takes no bool.
    paramTypes: { f64: "double", f32: "float", i32: "int", u32: "uint", i64: "long", u64: "ulong", long: "long", bool: "uchar" },
    block: (axis) => `get_group_id(${DIMENSION[axis]})`,
    thread: (axis) => `get_local_id(${DIMENSION[axis]})`,
    blocks: (axis) => `get_num_groups(${DIMENSION[axis]})`,
    threads: (axis) => `get_local_size(${DIMENSION[axis]})`,
    barrier: "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    fence: "mem_fence(CLK_GLOBAL_MEM_FENCE)",
    pointer: (space, type) => `${SPACE[space]} ${type === "long" ? "long" : types[type]} *`,
    restrict: "restrict",
    sharedPrefix: "__local",
    subGroups: subGroups ? SUB_GROUPS : undefined,
    finishThreads: 256,
    // On an H200 copies and triads of f32 take 0.63 and 0.78 of the time of single elements so, of f64 0.90 and 0.99.
    bytesOfThread: ptx ? 32 : 0,
    sortShape: SORT_BY_WARPS,
    atomic: (op, type, space) => atomic(op, type, space, ptx === true),
    fetch: fetchByCalls({
      ...namedCalls({
        add: "atomic_add",
        min: "atomic_min",
        max: "atomic_max",
        and: "atomic_and",
        or: "atomic_or",
        xor: "atomic_xor",
        exchange: "atomic_xchg",
        compareExchange: "atomic_cmpxchg",
      }),
      load: (pointer, _, type) => `*(const volatile __global ${type === "i32" ? "int" : "uint"} *)(${pointer})`,
    }),
    next: (pointer) => `atomic_inc(${pointer})`,
    // Strings that are printed have to be literals.
    printf: { format: "%d", bool: (value) => `(int)(${value})` },
    exchange: "atomic_cmpxchg",
    mathDefinitions: (source) => definitionsThroughF64(source, "static"),
    entry: (name, _most, block) => `__kernel ${block ? `__attribute__((reqd_work_group_size(${block.join(", ")}))) ` : ""}void ${name}`,
    parameter: ({ type, identifier, declaration }, fresh) => {
      if (type !== "pointer") return { declarations: [declaration], opening: [] };
      const first = fresh(`${identifier}_first`);
      return { declarations: [declaration, `const long ${first}`], opening: [`${identifier} += ${first};`] };
    },
  };
}

const SUB_GROUPS: SubGroups = {
  // Leaves out min and max of floats, which treat NaN and the sign of zero differently.
  fold: (op, type, value) => (op === "sum" || isInteger(type) ? `sub_group_reduce_${op === "sum" ? "add" : op}(${value})` : undefined),
  first: "get_sub_group_local_id() == 0",
  number: "get_sub_group_id()",
  count: "get_num_sub_groups()",
};

function atomic(op: ScatterOp, type: NumericType, space: Space, ptx: boolean): AtomicFunction {
  if (isWord(type)) return { name: op === "sum" ? "atomic_add" : `atomic_${op}` };
  const name = `atomic_${op}_${type}_${space}`;
  if (ptx && op === "sum" && space === "global" && isFloat(type)) return { name, definition: adding(name, type) };
  return { name, definition: exchanging(name, op, type, space), helper: op === "sum" ? undefined : `${op}_${type}` };
}

/** Adds by the instruction that CUDA's `atomicAdd` is, too. */
function adding(name: string, type: FloatType): string {
  const [T, register] = { f64: ["double", "d"], f32: ["float", "f"] }[type];
  return [
    `static void ${name}(volatile __global ${T} *place, ${T} value) {`,
    `  asm volatile("red.global.add.${type} [%0], %1;" : : "l"(place), "${register}"(value) : "memory");`,
    `}`,
  ].join("\n");
}

const EXCHANGED: Readonly<Record<FloatType | WideType, readonly [T: string, bits: string, exchange: string]>> = {
  f64: ["double", "ulong", "atom_cmpxchg"],
  f32: ["float", "uint", "atomic_cmpxchg"],
  i64: ["long", "ulong", "atom_cmpxchg"],
  u64: ["ulong", "ulong", "atom_cmpxchg"],
};

/** Folds by compare-and-exchange, which is all that OpenCL 1.2 has for floats. */
function exchanging(name: string, op: ScatterOp, type: FloatType | WideType, space: Space): string {
  const [T, bits, exchange] = EXCHANGED[type];
  const seen = `as_${T}(seen)`;
  return [
    `static void ${name}(volatile ${SPACE[space]} ${T} *place, ${T} value) {`,
    `  volatile ${SPACE[space]} ${bits} *cell = (volatile ${SPACE[space]} ${bits} *)place;`,
    `  ${bits} seen = *cell;`,
    `  for (;;) {`,
    `    const ${bits} wanted = as_${bits}(${op === "sum" ? `${seen} + value` : `${op}_${type}(${seen}, value)`});`,
    `    if (wanted == seen) return;`,
    `    const ${bits} found = ${exchange}(cell, seen, wanted);`,
    `    if (found == seen) return;`,
    `    seen = found;`,
    `  }`,
    `}`,
  ].join("\n");
}
