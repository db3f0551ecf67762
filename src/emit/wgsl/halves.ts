import { unreachable } from "../../base/unreachable.js";
import type { HalfType } from "../../ir/scalars.js";

/** Conversions between f32 and floats of 16 bits: the formulas of ir/half.ts, in fast mode the language's own functions for f16. */
export class Halves {
  constructor(
    private readonly definitions: { define(name: string, text: string): void },
    private readonly strict: boolean,
  ) {}

  /** The f32 of the lower 16 bits of a word; the upper ones may be anything. */
  from(type: HalfType, word: string): string {
    switch (type) {
      case "f16":
        if (!this.strict) return `unpack2x16float(${word}).x`;
        this.definitions.define("f32_from_f16", FROM_F16);
        return `f32_from_f16(${word})`;
      case "bf16":
        return `bitcast<f32>((${word}) << 16u)`;
      default:
        return unreachable(type);
    }
  }

  /** The 16 bits of an f32, as a u32 without others. */
  to(type: HalfType, value: string): string {
    switch (type) {
      case "f16":
        if (!this.strict) return `pack2x16float(vec2<f32>(${value}, 0.0)) & 0xffffu`;
        this.definitions.define("f16_from_f32", TO_F16);
        return `f16_from_f32(${value})`;
      case "bf16":
        this.definitions.define("bf16_from_f32", TO_BF16);
        return `bf16_from_f32(${value})`;
      default:
        return unreachable(type);
    }
  }
}

/** Subnormals are whole numbers times 2^-24: devices may take subnormal f32 for zeros. */
const FROM_F16 = `fn f32_from_f16(h: u32) -> f32 {
  let shifted = (h & 0x7fffu) << 13u;
  let normal = shifted + select(0x38000000u, 0x70000000u, shifted >= 0x0f800000u);
  let small = bitcast<u32>(f32(h & 0x7fffu) * 5.9604644775390625e-08);
  return bitcast<f32>(select(normal, small, shifted < 0x00800000u) | ((h & 0x8000u) << 16u));
}`;

const TO_F16 = `fn f16_from_f32(x: f32) -> u32 {
  let word = bitcast<u32>(x);
  let magnitude = word & 0x7fffffffu;
  let most = min(magnitude, 0x47800000u);
  let normal = (most - 0x38000000u + 0xfffu + ((most >> 13u) & 1u)) >> 13u;
  let small = bitcast<u32>(bitcast<f32>(most) + 0.5) - 0x3f000000u;
  let number = select(normal, small, most < 0x38800000u);
  return select(number, 0x7e00u, magnitude > 0x7f800000u) | ((word >> 16u) & 0x8000u);
}`;

const TO_BF16 = `fn bf16_from_f32(x: f32) -> u32 {
  let word = bitcast<u32>(x);
  let rounded = (word + 0x7fffu + ((word >> 16u) & 1u)) >> 16u;
  return select(rounded, ((word >> 16u) & 0x8000u) | 0x7fc0u, (word & 0x7fffffffu) > 0x7f800000u);
}`;
