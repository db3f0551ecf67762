import { isHalf, isSigned, BYTES, type HalfType, type PackedType } from "../../ir/scalars.js";
import type { KernelCode } from "./kernel-code.js";

/* Elements that are narrower in memory than the values on WebAssembly's stack: whole numbers of 8 and 16 bits, and floats of 16 bits by the formulas of ir/half.ts. */

/** Loads the word of an element. */
const loadOf = (type: PackedType): string => `i32.load${8 * BYTES[type]}_${isSigned(type) ? "s" : "u"}`;

/** With the address on the stack: the value of an element. */
export function loadPacked(code: KernelCode, type: PackedType, offset: number): void {
  loadWord(code, type, offset);
  if (isHalf(type)) fromHalf(code, type);
}

/** The same, for floats of 16 bits the word. */
export const loadWord = ({ fn }: KernelCode, type: PackedType, offset: number): void => fn.memory(loadOf(type), offset);

/** With the address and the value on the stack. */
export function storePacked(code: KernelCode, type: PackedType, offset: number): void {
  if (isHalf(type)) toHalf(code, type);
  storeWord(code, type, offset);
}

/** The same, for floats of 16 bits with the word on the stack. */
export const storeWord = ({ fn }: KernelCode, type: PackedType, offset: number): void => fn.memory(`i32.store${8 * BYTES[type]}`, offset);

/** Turns the word of a float of 16 bits into an f32. */
function fromHalf(code: KernelCode, type: HalfType): void {
  const { fn } = code;
  if (type === "bf16") {
    withNumber(code, "i32.shl", 16);
    return fn.op("f32.reinterpret_i32");
  }
  const [word, shifted] = [code.temp("i32"), code.temp("i32")];
  const and = (mask: number, shift: number): void => {
    withNumber(code, "i32.and", mask);
    withNumber(code, "i32.shl", shift);
  };
  fn.tee(word);
  and(0x7fff, 13);
  fn.tee(shifted);
  withNumber(code, "i32.add", 0x38800000);
  fn.op("f32.reinterpret_i32");
  fn.f32(2 ** -14);
  fn.op("f32.sub");
  fn.op("i32.reinterpret_f32");
  fn.get(shifted);
  fn.i32(0x70000000);
  fn.i32(0x38000000);
  fn.get(shifted);
  withNumber(code, "i32.ge_u", 0x0f800000);
  fn.op("select");
  fn.op("i32.add");
  fn.get(shifted);
  withNumber(code, "i32.lt_u", 0x00800000);
  fn.op("select");
  fn.get(word);
  and(0x8000, 16);
  fn.op("i32.or");
  fn.op("f32.reinterpret_i32");
  code.release("i32", word, shifted);
}

/** Turns an f32 into the word of a float of 16 bits. */
function toHalf(code: KernelCode, type: HalfType): void {
  const { fn } = code;
  const [word, magnitude] = [code.temp("i32"), code.temp("i32")];
  fn.op("i32.reinterpret_f32");
  fn.tee(word);
  withNumber(code, "i32.and", 0x7fffffff);
  fn.set(magnitude);
  fn.i32(type === "f16" ? 0x7e00 : 0x7fc0);
  if (type === "f16") toF16(code, magnitude);
  else {
    fn.get(magnitude);
    withNumber(code, "i32.add", 0x7fff);
    nearestEven(code, magnitude, 16);
  }
  fn.get(magnitude);
  withNumber(code, "i32.gt_u", 0x7f800000);
  fn.op("select");
  fn.get(word);
  withNumber(code, "i32.shr_u", 16);
  withNumber(code, "i32.and", 0x8000);
  fn.op("i32.or");
  code.release("i32", word, magnitude);
}

/** The word of the f16 nearest to an f32 without sign, whose bits a local has. */
function toF16(code: KernelCode, magnitude: number): void {
  const { fn } = code;
  const most = code.temp("i32");
  fn.get(magnitude);
  fn.i32(0x47800000);
  fn.get(magnitude);
  withNumber(code, "i32.lt_u", 0x47800000);
  fn.op("select");
  fn.tee(most);
  fn.op("f32.reinterpret_i32");
  fn.f32(0.5);
  fn.op("f32.add");
  fn.op("i32.reinterpret_f32");
  withNumber(code, "i32.sub", 0x3f000000);
  fn.get(most);
  withNumber(code, "i32.add", 0xfff - 0x38000000);
  nearestEven(code, most, 13);
  fn.get(most);
  withNumber(code, "i32.lt_u", 0x38800000);
  fn.op("select");
  code.release("i32", most);
}

/** Adds to what lies on the stack the lowest bit of `word` that stays, and cuts the bits below it. */
function nearestEven(code: KernelCode, word: number, below: number): void {
  const { fn } = code;
  fn.get(word);
  withNumber(code, "i32.shr_u", below);
  withNumber(code, "i32.and", 1);
  fn.op("i32.add");
  withNumber(code, "i32.shr_u", below);
}

function withNumber({ fn }: KernelCode, instruction: string, number: number): void {
  fn.i32(number);
  fn.op(instruction);
}

/** Turns the words of four floats of 16 bits, in lanes of 32 bits, into f32. */
export function fromHalves(code: KernelCode, type: HalfType): void {
  const { fn } = code;
  if (type === "bf16") {
    fn.i32(16);
    return fn.op("i32x4.shl");
  }
  const lanes = laneWriter(code);
  const [words, shifted] = [code.temp("v128"), code.temp("v128")];
  fn.tee(words);
  lanes.with(0x7fff, "v128.and");
  lanes.shift(13, "i32x4.shl");
  fn.tee(shifted);
  lanes.with(0x38800000, "i32x4.add");
  lanes.with(0x38800000, "f32x4.sub");
  fn.get(shifted);
  lanes.with(0x38000000, "i32x4.add");
  fn.get(shifted);
  lanes.with(0x0f7fffff, "i32x4.gt_s");
  lanes.with(0x38000000, "v128.and");
  fn.op("i32x4.add");
  fn.get(shifted);
  lanes.with(0x00800000, "i32x4.lt_s");
  fn.op("v128.bitselect");
  fn.get(words);
  lanes.with(0x8000, "v128.and");
  lanes.shift(16, "i32x4.shl");
  fn.op("v128.or");
  code.release("v128", words, shifted);
}

/** Turns four f32 into the words of floats of 16 bits, in lanes of 32 bits. */
export function toHalves(code: KernelCode, type: HalfType): void {
  const { fn } = code;
  const lanes = laneWriter(code);
  const [words, magnitudes] = [code.temp("v128"), code.temp("v128")];
  const signs = (): void => {
    fn.get(words);
    lanes.shift(16, "i32x4.shr_u");
    lanes.with(0x8000, "v128.and");
  };
  const odd = (of: number, place: number): void => {
    fn.get(of);
    lanes.shift(place, "i32x4.shr_u");
    lanes.with(1, "v128.and");
    fn.op("i32x4.add");
    lanes.shift(place, "i32x4.shr_u");
  };
  fn.tee(words);
  lanes.with(0x7fffffff, "v128.and");
  fn.set(magnitudes);
  const isNaN = (): void => {
    fn.get(magnitudes);
    lanes.with(0x7f800000, "i32x4.gt_s");
    fn.op("v128.bitselect");
  };
  if (type === "bf16") {
    signs();
    lanes.with(0x7fc0, "v128.or");
    fn.get(words);
    lanes.with(0x7fff, "i32x4.add");
    odd(words, 16);
    isNaN();
  } else {
    const most = code.temp("v128");
    lanes.splat(0x7e00);
    fn.get(magnitudes);
    lanes.with(0x47800000, "i32x4.min_s");
    fn.tee(most);
    lanes.with(0x3f000000, "f32x4.add");
    lanes.with(0x3f000000, "i32x4.sub");
    fn.get(most);
    lanes.with(0xfff - 0x38000000, "i32x4.add");
    odd(most, 13);
    fn.get(most);
    lanes.with(0x38800000, "i32x4.lt_s");
    fn.op("v128.bitselect");
    isNaN();
    signs();
    fn.op("v128.or");
    code.release("v128", most);
  }
  code.release("v128", words, magnitudes);
}

/** Instructions with a constant in all four lanes; a constant is given by its bits. */
function laneWriter({ fn }: KernelCode) {
  const splat = (word: number): void => fn.v128([word, word, word, word]);
  return {
    splat,
    with(word: number, instruction: string): void {
      splat(word);
      fn.op(instruction);
    },
    shift(by: number, instruction: string): void {
      fn.i32(by);
      fn.op(instruction);
    },
  };
}
