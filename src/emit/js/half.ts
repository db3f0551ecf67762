import { isHalf, type ElementType } from "../../ir/scalars.js";

/** The values of all f16, once for each thread: 65536 f32. */
const F16_VALUES = `const $f16 = (globalThis[Symbol.for("isoform.f16")] ??= Float32Array.from({ length: 65536 }, (_, h) => {
  const exponent = (h >> 10) & 31, fraction = h & 1023;
  const value = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
  return h >> 15 ? -value : value;
}));`;

/** The formulas of ir/half.ts. */
export const HALF_HELPERS: Record<string, string> = {
  $f16: F16_VALUES,
  $toF16: `const $toF16 = (() => {
  const single = new Float32Array(1), word = new Uint32Array(single.buffer);
  return (x) => {
    single[0] = x;
    const magnitude = word[0] & 0x7fffffff, sign = (word[0] >>> 16) & 0x8000;
    if (magnitude > 0x7f800000) return sign | 0x7e00;
    if (magnitude < 0x38800000) return (single[0] = Math.abs(single[0]) + 0.5), sign | (word[0] - 0x3f000000);
    const most = magnitude < 0x47800000 ? magnitude : 0x47800000;
    return sign | ((most - 0x38000000 + 0xfff + ((most >>> 13) & 1)) >>> 13);
  };
})();`,
  $bf16: `const $bf16 = (() => {
  const single = new Float32Array(1), word = new Uint32Array(single.buffer);
  return (h) => ((word[0] = h << 16), single[0]);
})();`,
  $toBf16: `const $toBf16 = (() => {
  const single = new Float32Array(1), word = new Uint32Array(single.buffer);
  return (x) => {
    single[0] = x;
    if ((word[0] & 0x7fffffff) > 0x7f800000) return ((word[0] >>> 16) & 0x8000) | 0x7fc0;
    return (word[0] + 0x7fff + ((word[0] >>> 16) & 1)) >>> 16;
  };
})();`,
};

/** The value of an element, whose place in its typed array is given. */
export function loadedText(element: ElementType, place: string): string {
  if (!isHalf(element)) return place;
  return element === "f16" ? `$f16[${place}]` : `$bf16(${place})`;
}

/** The value as the typed array takes it. */
export function storedText(element: ElementType, value: string): string {
  if (!isHalf(element)) return value;
  return element === "f16" ? `$toF16(${value})` : `$toBf16(${value})`;
}
