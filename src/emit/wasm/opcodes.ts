/* Instructions of WebAssembly with SIMD, threads and relaxed SIMD, by their names in the text format. */

interface Opcode {
  name: string;
  /** 0 for the one-byte opcodes, else 0xfc, 0xfd or 0xfe. */
  prefix: number;
  code: number;
}

const table = new Map<string, Opcode>();

/** Names with consecutive codes; `_` skips one. */
function define(prefix: number, first: number, names: string): void {
  names.split(" ").forEach((name, n) => name !== "_" && table.set(name, { name, prefix, code: first + n }));
}

/** The instructions of one type. */
const of = (type: string, names: string): string => names.replace(/[a-z]\w*/g, `${type}.$&`);

const COMPARE_INT = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u";
const COMPARE_FLOAT = "eq ne lt gt le ge";
const ARITHMETIC_INT = "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr";
const ARITHMETIC_FLOAT = "abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign";
const ARITHMETIC_LANES = "abs neg _ sqrt add sub mul div min max pmin pmax";

define(0, 0x00, "unreachable nop");
define(0, 0x0f, "return");
define(0, 0x1a, "drop select");
define(0, 0x28, "i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u");
define(0, 0x36, "i32.store i64.store f32.store f64.store i32.store8 i32.store16");
define(
  0,
  0x45,
  `i32.eqz ${of("i32", COMPARE_INT)} i64.eqz ${of("i64", COMPARE_INT)} ${of("f32", COMPARE_FLOAT)} ${of("f64", COMPARE_FLOAT)}`,
);
define(0, 0x67, `${of("i32", ARITHMETIC_INT)} ${of("i64", ARITHMETIC_INT)} ${of("f32", ARITHMETIC_FLOAT)} ${of("f64", ARITHMETIC_FLOAT)}`);
define(0, 0xa7, "i32.wrap_i64 _ _ _ _ i64.extend_i32_s i64.extend_i32_u _ _ _ _ f32.convert_i32_s f32.convert_i32_u _ _ f32.demote_f64");
define(0, 0xb1, "i64.trunc_f64_u");
define(0, 0xb7, "f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32");
define(0, 0xbc, "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64");
define(
  0xfc,
  0x00,
  "i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u _ _ i64.trunc_sat_f64_s i64.trunc_sat_f64_u",
);

define(
  0xfd,
  0,
  "v128.load _ _ v128.load16x4_s v128.load16x4_u _ _ v128.load8_splat v128.load16_splat v128.load32_splat v128.load64_splat v128.store",
);
define(0xfd, 13, "i8x16.shuffle _ _ _ i32x4.splat i64x2.splat f32x4.splat f64x2.splat");
define(0xfd, 27, "i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane");
define(0xfd, 31, "f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane");
define(0xfd, 55, `${of("i32x4", COMPARE_INT)} ${of("f32x4", COMPARE_FLOAT)} ${of("f64x2", COMPARE_FLOAT)}`);
define(0xfd, 77, "v128.not v128.and v128.andnot v128.or v128.xor v128.bitselect v128.any_true");
define(0xfd, 84, "v128.load8_lane v128.load16_lane v128.load32_lane v128.load64_lane");
define(0xfd, 88, "v128.store8_lane v128.store16_lane v128.store32_lane v128.store64_lane v128.load32_zero v128.load64_zero");
define(0xfd, 94, "f32x4.demote_f64x2_zero f64x2.promote_low_f32x4");
define(0xfd, 103, "f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest");
define(0xfd, 116, "f64x2.ceil f64x2.floor");
define(0xfd, 122, "f64x2.trunc");
define(0xfd, 134, "i16x8.narrow_i32x4_u i16x8.extend_low_i8x16_s _ i16x8.extend_low_i8x16_u");
define(
  0xfd,
  160,
  "i32x4.abs i32x4.neg _ i32x4.all_true i32x4.bitmask _ _ i32x4.extend_low_i16x8_s _ i32x4.extend_low_i16x8_u _ i32x4.shl i32x4.shr_s i32x4.shr_u i32x4.add",
);
define(0xfd, 177, "i32x4.sub _ _ _ i32x4.mul i32x4.min_s i32x4.min_u i32x4.max_s i32x4.max_u");
define(0xfd, 195, "i64x2.all_true i64x2.bitmask _ _ i64x2.extend_low_i32x4_s _ i64x2.extend_low_i32x4_u");
define(0xfd, 222, "i64x2.extmul_low_i32x4_u i64x2.extmul_high_i32x4_u");
define(0xfd, 224, `${of("f32x4", ARITHMETIC_LANES)} ${of("f64x2", ARITHMETIC_LANES)}`);
define(0xfd, 248, "i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u");
define(0xfd, 252, "i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u");
define(0xfd, 0x105, "f32x4.relaxed_madd f32x4.relaxed_nmadd f64x2.relaxed_madd f64x2.relaxed_nmadd");

define(0xfe, 0x10, "i32.atomic.load i64.atomic.load");
define(0xfe, 0x1e, "i32.atomic.rmw.add i64.atomic.rmw.add");
define(0xfe, 0x2c, "i32.atomic.rmw.and");
define(0xfe, 0x33, "i32.atomic.rmw.or");
define(0xfe, 0x3a, "i32.atomic.rmw.xor");
define(0xfe, 0x41, "i32.atomic.rmw.xchg");
define(0xfe, 0x48, "i32.atomic.rmw.cmpxchg i64.atomic.rmw.cmpxchg");

/** The instruction of that name. @throws Error for a name that is not in the table. */
export function opcode(name: string): Opcode {
  const found = table.get(name);
  if (!found) throw new Error(`no WebAssembly instruction "${name}"`);
  return found;
}

/** All instructions. */
export const opcodes = (): Iterable<Opcode> => table.values();
