import assert from "node:assert/strict";
import test from "node:test";
import { WgslHelpers } from "../../../src/emit/wgsl/helpers.js";
import { F32_EDGES } from "../../../src/testing/values.js";
import { model } from "./model.js";

const words = new Uint32Array(1);
const floats = new Float32Array(words.buffer);
const fromBits = (word: number): number => ((words[0] = word), floats[0]);
const toBits = (x: number): number => ((floats[0] = x), words[0]);

let state = 1;
/** Reproducible words of 32 bits (xorshift, G. Marsaglia, 2003). */
function word(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}
/** A positive f32, moved by up to `most` units in the last place either way. */
const moved = (x: number, most: number): number => fromBits(toBits(x) + (word() % (2 * most + 1)) - most);

/** Operands of which the quotient, or its square root, lies next to the middle between two f32, and those at the ends of the range. */
const EDGES = [
  ...F32_EDGES,
  ...[1, 2, 3, 0x7fffff, 0x800000, 0x800001, 0x3f7fffff, 0x3f800001, 0x3fffffff, 0x407fffff, 0x7effffff, 0x7f000000, 0x7f7fffff].map(
    fromBits,
  ),
];
const random = (): number => fromBits(word());
/** Between 1 and 2. */
const near = (): number => fromBits(0x3f800000 | (word() & 0x7fffff));

const helpers = new WgslHelpers();
for (const name of ["div_f32", "sqrt_f32"] as const) helpers.use(name);

for (const most of [0, 3, 20]) {
  const { div_f32, sqrt_f32 } = model(String(helpers), {
    quotient: (a, b) => (b === 0 ? Infinity : moved(Math.fround(a / b), most)),
    root: (a) => moved(Math.fround(Math.sqrt(a)), most),
  });
  const divides = (a: number, b: number): void => {
    const [actual, expected] = [div_f32(a, b), Math.fround(a / b)];
    if (!Object.is(actual, expected)) assert.fail(`${a} / ${b} is ${actual} instead of ${expected}`);
  };
  const roots = (a: number): void => {
    const [actual, expected] = [sqrt_f32(a), Math.fround(Math.sqrt(a))];
    if (!Object.is(actual, expected)) assert.fail(`the root of ${a} is ${actual} instead of ${expected}`);
  };

  test(`quotients are right on a device whose own are ${most} units off`, () => {
    for (const a of EDGES) for (const b of EDGES) divides(a, b);
    for (let n = 0; n < 100_000; n++) {
      divides(random(), random());
      divides(near(), near());
      const [c, d] = [near(), near()];
      divides(Math.fround(c * d), d);
      // Next to 2^-126 and below, where the quotient loses bits.
      divides(c * 2 ** -100, d * 2 ** (word() % 52));
    }
  });

  test(`roots are right on a device whose own are ${most} units off`, () => {
    EDGES.forEach(roots);
    for (let n = 0; n < 100_000; n++) {
      roots(random());
      const middle = near() + 2 ** -24;
      roots(moved(Math.fround(middle * middle), 1));
    }
  });
}
