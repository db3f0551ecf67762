import { BYTES, ELEMENTS, isHalf, isPacked } from "../../src/ir/scalars.js";
import type { NumberElement } from "../../src/ir/types.js";
import { grid, type Memory } from "./memory.js";
import { kernelOf, type Program } from "./program.js";

const EDGES: Record<NumberElement, readonly number[]> = {
  f64: [
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    5e-324,
    -2.2250738585072014e-308,
    1.7976931348623157e308,
    1,
    -1,
    0.5,
    2147483648,
    -2147483649,
    4294967296.5,
    1e-200,
  ],
  f32: [
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    1.401298464324817e-45,
    1.1754943508222875e-38,
    3.4028234663852886e38,
    1,
    -1,
    0.5,
    16777217,
    2147483648,
    4294967296,
  ].map(Math.fround),
  i32: [0, 1, -1, 2, 31, 32, 255, 65536, 2147483647, -2147483648, -2147483647],
  u32: [0, 1, 2, 31, 32, 65536, 2147483647, 2147483648, 4294967295],
  u8: [0, 1, 127, 128, 255],
  i8: [0, 1, -1, 127, -128],
  u16: [0, 1, 32767, 32768, 65535],
  i16: [0, 1, -1, 32767, -32768],
  f16: [0, -0, NaN, Infinity, -Infinity, 2 ** -24, -(2 ** -14), 65504, 1, -1, 0.5, 2049, 1e-9],
  bf16: [0, -0, NaN, Infinity, -Infinity, 2 ** -126, 3.3895313892515355e38, 1, -1, 0.5, 257, 65535],
};

/** Contents of the program's views, from its seed, a third of them at the edges of their types; values of its scalars. */
export function dataOf(program: Program): {
  inputs: Memory;
  scalars: Record<string, number | boolean>;
  fixed: Record<string, number | boolean>;
} {
  const used = kernelOf(program).params;
  const inputs: Memory = {};
  const scalars: Record<string, number | boolean> = {};
  const fixed: Record<string, number | boolean> = {};
  for (const [name, param] of program.params) {
    if (!(name in used)) continue;
    if (param.kind === "view" || param.kind === "scatter") {
      const next = sequence(program.data + hash(name));
      const value = (): number =>
        param.indices
          ? Math.floor(next() * 16)
          : next() < 0.3
            ? EDGES[param.element][Math.floor(next() * EDGES[param.element].length)]
            : ordinary(param.element, next);
      const contents = grid(param.element, param.shape);
      for (let n = 0; n < contents.data.length; n++)
        contents.data[n] = isHalf(param.element) ? ELEMENTS[param.element].wrap(value()) : value();
      inputs[name] = contents;
    } else if (param.kind === "scalar") scalars[name] = param.value;
    else if (param.kind === "fixed") fixed[name] = param.value;
  }
  return { inputs, scalars, fixed };
}

function ordinary(type: NumberElement, next: () => number): number {
  if (type === "f64" || type === "f32") return (next() - 0.5) * 2 ** Math.floor(next() * 24 - 8);
  if (isHalf(type)) return Math.fround((next() - 0.5) * 2 ** Math.floor(next() * 40 - 26));
  if (isPacked(type)) return Math.floor(next() * 2 ** (8 * BYTES[type])) + ELEMENTS[type].least;
  return Math.floor((next() - (type === "i32" ? 0.5 : 0)) * 2 ** (1 + Math.floor(next() * 31)));
}

const hash = (name: string): number => [...name].reduce((h, c) => Math.imul(h, 31) + c.charCodeAt(0), 7);

/** Numbers in [0, 1) by the 32-bit generator of mulberry. */
export function sequence(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
