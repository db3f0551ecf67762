import type { Device } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { bitsOfBf16, bitsOfF16, valueOfBf16, valueOfF16 } from "../../ir/half.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { bool, f32, i32, view } from "../../kernel/declare/params.js";
import { bf16, f16, i16, i8, stored, u16, u8 } from "../../kernel/declare/storage.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { make } from "../values.js";

/* Types that arrays store and kernels do not compute with. */

const WORDS = 65536;
const roundedToF16 = (value: number): number => valueOfF16(bitsOfF16(value));
const roundedToBf16 = (value: number): number => valueOfBf16(bitsOfBf16(value));

const loadF16 = kernel("loadF16", { x: view(f16), y: view(f32) }, ({ x, y }, i) => {
  y[i] = x[i];
});
const storeF16 = kernel("storeF16", { x: view(f32), y: view(f16) }, ({ x, y }, i) => {
  y[i] = x[i];
});
const loadBf16 = kernel("loadBf16", { x: view(bf16), y: view(f32) }, ({ x, y }, i) => {
  y[i] = x[i];
});
const storeBf16 = kernel("storeBf16", { x: view(f32), y: view(bf16) }, ({ x, y }, i) => {
  y[i] = x[i];
});
const integers = kernel(
  "narrowIntegers",
  { x: view(i32), b: view(u8), c: view(i8), d: view(u16), e: view(i16), y: view(i32, 2) },
  ({ x, b, c, d, e, y }, i) => {
    b[i] = x[i];
    c[i] = x[i];
    d[i] = x[i];
    e[i] = x[i];
    y[i][0] = b[i] + c[i];
    y[i][1] = d[i] - e[i];
  },
);
const reversed = kernel("reversed", { x: view(i16), h: view(f16), y: view(f32), at: view(i32) }, ({ x, h, y, at }, i) => {
  y[i] = x[at[i]] * h[at[i]];
});
const every = kernel("everyOther", { x: view(f16, 2), by: view(f16), y: view(f16, 2) }, ({ x, by, y }, i, j) => {
  if (x[i][j] > 0) y[i][j] = x[i][j] * by[1];
});
const flags = kernel("flags", { x: view(i32), on: view(bool), off: view(bool), y: view(i32) }, ({ x, on, off, y }, i) => {
  if (on[i]) y[i] = x[i];
  off[i] = !on[i] && x[i] > 2;
});
const scaled = kernel(
  "scaled",
  {
    x: view(f32),
    h: view(stored(f16, { scale: 2 ** -15 })),
    n: view(stored(i8, { scale: 0.25 })),
    m: view(stored(u16, { scale: 2 })),
    y: view(f32, 2),
  },
  ({ x, h, n, m, y }, i) => {
    h[i] = x[i];
    n[i] = x[i];
    m[i] = x[i];
    y[i][0] = h[i];
    y[i][1] = n[i] + m[i];
  },
);

/** The values of all words, their middles and what is next to these, of both signs. */
function near(valueOf: (bits: number) => number): number[] {
  const values: number[] = [];
  for (let h = 0; h < WORDS / 2; h++) {
    const [value, next] = [valueOf(h), valueOf(h + 1)];
    if (Number.isNaN(value) || Number.isNaN(next)) continue;
    const middle = Number.isFinite(next) ? Math.fround((value + next) / 2) : 2 * value - valueOf(h - 1) || 65520;
    values.push(value, middle, nextUp(middle), nextDown(middle));
  }
  return [...values, 65520, 65519.996, 1e30, 3.4e38, Infinity, NaN].flatMap((value) => [value, -value]);
}

const bits = new Uint32Array(1);
const single = new Float32Array(bits.buffer);
function stepped(x: number, by: number): number {
  single[0] = x;
  bits[0] += by;
  return single[0];
}
const nextUp = (x: number): number => (x > 0 ? stepped(x, 1) : x);
const nextDown = (x: number): number => (x > 0 ? stepped(x, -1) : x);

/** Leaves out what becomes infinite where a device reports that. */
const fitting = ({ backend }: Device, values: readonly number[], valueOf: (value: number) => number): number[] =>
  backend === "js-debug" ? values.filter((x) => !Number.isFinite(x) || Number.isFinite(valueOf(x))) : [...values];

/** Leaves out what a device flushes. */
const normal = ({ capabilities }: Device, values: readonly number[]): number[] =>
  capabilities.subnormals === false ? values.filter((x) => !(Math.abs(x) > 0 && Math.abs(x) < 2 ** -100)) : [...values];

export const storage: ConformanceCase[] = [
  conformanceCase(170, "all f16 and what rounds to them", async (device) => {
    const words = Float32Array.from({ length: WORDS }, (_, h) => valueOfF16(h));
    const [x, y] = [device.from(f16, words), device.array(f32, WORDS)];
    await device.run(loadF16, { x, y }, range(WORDS), { precision: "strict" });
    expectSame(await device.queue.read(y), words, "f16 to f32");
    const given = Float32Array.from(fitting(device, normal(device, near(valueOfF16)), roundedToF16));
    const [v, w] = [device.from(f32, given), device.array(f16, given.length)];
    await device.run(storeF16, { x: v, y: w }, range(given.length), { precision: "strict" });
    expectSame(await device.queue.read(w), given.map(roundedToF16), "f32 to f16");
    for (const each of [x, y, v, w]) each.free();
  }),

  conformanceCase(171, "all bf16 and what rounds to them", async (device) => {
    const words = Float32Array.from(
      normal(
        device,
        Array.from({ length: WORDS }, (_, h) => valueOfBf16(h)),
      ),
    );
    const [x, y] = [device.from(bf16, words), device.array(f32, words.length)];
    await device.run(loadBf16, { x, y }, range(words.length), { precision: "strict" });
    expectSame(await device.queue.read(y), words, "bf16 to f32");
    const given = Float32Array.from(fitting(device, normal(device, near(valueOfBf16)), roundedToBf16));
    const [v, w] = [device.from(f32, given), device.array(bf16, given.length)];
    await device.run(storeBf16, { x: v, y: w }, range(given.length), { precision: "strict" });
    expectSame(await device.queue.read(w), given.map(roundedToBf16), "f32 to bf16");
    for (const each of [x, y, v, w]) each.free();
  }),

  conformanceCase(172, "integers of 8 and 16 bits, which wrap", async (device) => {
    const given = [
      0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536, 2147483647, -2147483648, 77, -12345,
    ];
    const n = given.length;
    const [x, y] = [device.from(i32, given), device.array(i32, [n, 2])];
    const [b, c, d, e] = [device.array(u8, n), device.array(i8, n), device.array(u16, n), device.array(i16, n)];
    await device.run(integers, { x, b, c, d, e, y }, range(n));
    expectSame(await device.queue.read(b), new Uint8Array(given), "u8");
    expectSame(await device.queue.read(c), new Int8Array(given), "i8");
    expectSame(await device.queue.read(d), new Uint16Array(given), "u16");
    expectSame(await device.queue.read(e), new Int16Array(given), "i16");
    const sums = given.flatMap((v) => [(v & 255) + ((v << 24) >> 24), (v & 65535) - ((v << 16) >> 16)]);
    expectSame(await device.queue.read(y), sums, "values in the kernel");
    const at = device.from(
      i32,
      make(n, (k) => n - 1 - k),
    );
    const h = device.from(
      f16,
      make(n, (k) => k / 4),
    );
    const products = device.array(f32, n);
    await device.run(reversed, { x: e, h, y: products, at }, range(n));
    const expected = given.map((_, k) => Math.fround(((given[n - 1 - k] << 16) >> 16) * ((n - 1 - k) / 4)));
    expectSame(await device.queue.read(products), expected, "values at any place");
    for (const view of [x, y, b, c, d, e, at, h, products]) view.free();
  }),

  conformanceCase(173, "slices and layouts of f16", async (device) => {
    const values = make(9 * 7, (k) => (k % 5) - 2 + k / 64);
    const x = device.from(f16, values, [9, 7], { layout: "left" });
    const whole = device.array(f16, [9, 9]);
    const y = whole.slice(undefined, [1, 8]);
    const by = device.from(f16, [3, 2]);
    await device.run(every, { x, by, y }, range(9, 7));
    const expected = make(81, (k) => {
      const [i, j] = [Math.floor(k / 9), (k % 9) - 1];
      const value = j >= 0 && j < 7 ? values[7 * i + j] : 0;
      return value > 0 ? roundedToF16(2 * roundedToF16(value)) : 0;
    });
    expectSame(await device.queue.read(whole), expected, "elements of a slice");
    device.queue.copy(y, x);
    expectSame(
      await device.queue.read(x),
      [...expected].filter((_, k) => k % 9 > 0 && k % 9 < 8),
      "copied slice",
    );
    for (const view of [x, by, whole]) view.free();
  }),

  conformanceCase(174, "truth values in bytes", async (device) => {
    const n = 33;
    const x = device.from(
      i32,
      make(n, (k) => k),
    );
    const on = device.from(
      bool,
      Array.from({ length: n }, (_, k) => k % 3 === 0),
    );
    const [off, y] = [device.array(bool, n), device.array(i32, n)];
    await device.run(flags, { x, on, off, y }, range(n));
    expectSame(
      await device.queue.read(off),
      make(n, (k) => (k % 3 !== 0 && k > 2 ? 1 : 0)),
      "stored truth values",
    );
    expectSame(
      await device.queue.read(y),
      make(n, (k) => (k % 3 === 0 ? k : 0)),
      "conditions",
    );
    for (const view of [x, on, off, y]) view.free();
  }),

  conformanceCase(175, "storage with a scale", async (device) => {
    const all = [
      0,
      0.1,
      -0.1,
      0.375,
      0.125,
      -0.125,
      -0.375,
      1.9999,
      31.75,
      40,
      -40,
      1,
      3,
      5,
      -3,
      131070,
      1e9,
      NaN,
      6e-8,
      0.49999997,
      1.4999999,
    ].map(Math.fround);
    const given = Float32Array.from(fitting(device, all, (value) => roundedToF16(value * 2 ** 15)));
    const n = given.length;
    const [x, y] = [device.from(f32, given), device.array(f32, [n, 2])];
    const [h, c, m] = [device.array(f16, n), device.array(i8, n), device.array(u16, n)];
    await device.run(scaled, { x, h, n: c, m, y }, range(n), { precision: "strict" });
    const halves = given.map((value) => roundedToF16(value * 2 ** 15));
    const whole = (scale: number, least: number, most: number): number[] =>
      Array.from(given, (value) => clamped(value / scale, least, most));
    const [bytes, words] = [whole(0.25, -128, 127), whole(2, 0, 65535)];
    expectSame(await device.queue.read(h), halves, "f16");
    expectSame(await device.queue.read(c), bytes, "i8");
    expectSame(await device.queue.read(m), words, "u16");
    const values = [...given].flatMap((_, k) => [Math.fround(halves[k] * 2 ** -15), Math.fround(bytes[k] * 0.25 + words[k] * 2)]);
    expectSame(await device.queue.read(y), values, "values in the kernel");
    for (const view of [x, y, h, c, m]) view.free();
  }),
];

/** The nearest whole number in a range, of two the even one; 0 for NaN. */
function clamped(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) return 0;
  const inside = Math.min(Math.max(value, least), most);
  const below = Math.floor(inside);
  const rest = inside - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? 1 : 0);
}
