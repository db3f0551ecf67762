/* Instructions of WebAssembly with SIMD, threads and relaxed SIMD, by their names in the text format. */

/** What follows an opcode. */
export type Immediate = "none" | "memory" | "lane" | "memoryLane" | "shuffle";

export interface Opcode {
  name: string;
  /** 0 for the one-byte opcodes, else 0xfc, 0xfd or 0xfe. */
  prefix: number;
  code: number;
  immediate: Immediate;
}

const table = new Map<string, Opcode>();

/** Names with consecutive codes; `_` skips one. */
function define(prefix: number, first: number, names: string): void {
  names.split(/\s+/).forEach((name, n) => {
    if (name !== "_") table.set(name, { name, prefix, code: first + n, immediate: immediateOf(name) });
  });
}

function immediateOf(name: string): Immediate {
  if (name === "i8x16.shuffle") return "shuffle";
  if (/(extract|replace)_lane/.test(name)) return "lane";
  if (/(load|store)\d+_lane/.test(name)) return "memoryLane";
  return /\.(load|store|atomic)/.test(name) ? "memory" : "none";
}

const COMPARE_INT = (t: string) => `${t}.eq ${t}.ne ${t}.lt_s ${t}.lt_u ${t}.gt_s ${t}.gt_u ${t}.le_s ${t}.le_u ${t}.ge_s ${t}.ge_u`;
const COMPARE_FLOAT = (t: string) => `${t}.eq ${t}.ne ${t}.lt ${t}.gt ${t}.le ${t}.ge`;
const ARITHMETIC_INT = (t: string) =>
  [
    "clz",
    "ctz",
    "popcnt",
    "add",
    "sub",
    "mul",
    "div_s",
    "div_u",
    "rem_s",
    "rem_u",
    "and",
    "or",
    "xor",
    "shl",
    "shr_s",
    "shr_u",
    "rotl",
    "rotr",
  ]
    .map((op) => `${t}.${op}`)
    .join(" ");
const ARITHMETIC_FLOAT = (t: string) =>
  ["abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt", "add", "sub", "mul", "div", "min", "max", "copysign"]
    .map((op) => `${t}.${op}`)
    .join(" ");

define(0, 0x00, "unreachable nop");
define(0, 0x0f, "return");
define(0, 0x1a, "drop select");
define(0, 0x28, "i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u");
define(0, 0x36, "i32.store i64.store f32.store f64.store i32.store8");
define(0, 0x45, `i32.eqz ${COMPARE_INT("i32")} i64.eqz ${COMPARE_INT("i64")} ${COMPARE_FLOAT("f32")} ${COMPARE_FLOAT("f64")}`);
define(0, 0x67, `${ARITHMETIC_INT("i32")} ${ARITHMETIC_INT("i64")} ${ARITHMETIC_FLOAT("f32")} ${ARITHMETIC_FLOAT("f64")}`);
define(0, 0xa7, "i32.wrap_i64 _ _ _ _ i64.extend_i32_s i64.extend_i32_u _ _ _ _ f32.convert_i32_s f32.convert_i32_u _ _ f32.demote_f64");
define(0, 0xb1, "i64.trunc_f64_u");
define(0, 0xb7, "f64.convert_i32_s f64.convert_i32_u _ _ f64.promote_f32");
define(0, 0xbc, "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64");
define(0xfc, 0x00, "i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u");

define(0xfd, 0, "v128.load _ _ _ _ _ _ v128.load8_splat v128.load16_splat v128.load32_splat v128.load64_splat v128.store");
define(0xfd, 13, "i8x16.shuffle _ _ _ i32x4.splat i64x2.splat f32x4.splat f64x2.splat");
define(0xfd, 27, "i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane");
define(0xfd, 31, "f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane");
define(0xfd, 55, `${COMPARE_INT("i32x4")} ${COMPARE_FLOAT("f32x4")} ${COMPARE_FLOAT("f64x2")}`);
define(0xfd, 77, "v128.not v128.and v128.andnot v128.or v128.xor v128.bitselect v128.any_true");
define(0xfd, 84, "v128.load8_lane v128.load16_lane v128.load32_lane v128.load64_lane");
define(0xfd, 88, "v128.store8_lane v128.store16_lane v128.store32_lane v128.store64_lane v128.load32_zero v128.load64_zero");
define(0xfd, 94, "f32x4.demote_f64x2_zero f64x2.promote_low_f32x4");
define(0xfd, 103, "f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest");
define(0xfd, 116, "f64x2.ceil f64x2.floor");
define(0xfd, 122, "f64x2.trunc");
define(0xfd, 137, "i16x8.extend_low_i8x16_u");
define(
  0xfd,
  160,
  "i32x4.abs i32x4.neg _ i32x4.all_true i32x4.bitmask _ _ _ _ i32x4.extend_low_i16x8_u _ i32x4.shl i32x4.shr_s i32x4.shr_u i32x4.add",
);
define(0xfd, 177, "i32x4.sub _ _ _ i32x4.mul i32x4.min_s i32x4.min_u i32x4.max_s i32x4.max_u");
define(0xfd, 195, "i64x2.all_true i64x2.bitmask _ _ i64x2.extend_low_i32x4_s _ i64x2.extend_low_i32x4_u");
define(0xfd, 222, "i64x2.extmul_low_i32x4_u i64x2.extmul_high_i32x4_u");
for (const [t, first] of [
  ["f32x4", 224],
  ["f64x2", 236],
] as const)
  define(
    0xfd,
    first,
    ["abs", "neg", "_", "sqrt", "add", "sub", "mul", "div", "min", "max", "pmin", "pmax"]
      .map((op) => (op === "_" ? op : `${t}.${op}`))
      .join(" "),
  );
define(0xfd, 248, "i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u");
define(0xfd, 252, "i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u");
define(0xfd, 0x105, "f32x4.relaxed_madd f32x4.relaxed_nmadd f64x2.relaxed_madd f64x2.relaxed_nmadd");

define(0xfe, 0x10, "i32.atomic.load i64.atomic.load");
define(0xfe, 0x1e, "i32.atomic.rmw.add");
define(0xfe, 0x48, "i32.atomic.rmw.cmpxchg i64.atomic.rmw.cmpxchg");

const byCode = new Map([...table.values()].map((op) => [op.prefix * 0x10000 + op.code, op]));

/** The instruction of that name. @throws Error for a name that is not in the table. */
export function opcode(name: string): Opcode {
  const found = table.get(name);
  if (!found) throw new Error(`no WebAssembly instruction "${name}"`);
  return found;
}

/** The instruction of that code. */
export const opcodeAt = (prefix: number, code: number): Opcode | undefined => byCode.get(prefix * 0x10000 + code);
