import assert from "node:assert/strict";
import { it, test } from "node:test";
import { KernelError } from "../../src/base/errors.js";
import { range } from "../../src/device/launch/policy.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { printKernel } from "../../src/ir/kernel-text.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f32, f64, i32, u32, view } from "../../src/kernel/declare/params.js";
import { normalPair, normalPair32, philox, random, stream, uniform, uniform32 } from "../../src/patterns/index.js";
import { eachDevice } from "./devices.js";

/** Word `k` of an element's sequence. */
function word(seed: number, index: number, step: number, k: number): number {
  const words = Uint32Array.of(index, k >> 2, 0, 0);
  philox(words, seed, step);
  return words[k & 3];
}

const SEED = 0xfedcba98;
const STEP = 77;

const integers = kernel(
  "integers",
  { seed: u32, step: u32, n: i32, words: view(u32, 2), below: view(i32, 2), single: view(f32, 2) },
  ({ seed, step, n, words, below, single }, i) => {
    const r = stream(seed, i, step);
    for (let k = 0; k < 3; k++) words[i][k] = r.u32();
    below[i][0] = r.below(n); // skips the last word
    single[i][0] = r.uniform32();
    if (i % 2 === 1) below[i][1] = r.below(3); // the odd ones go on from another place
    single[i][1] = r.uniform32();
    words[i][3] = r.u32();
  },
  () => [stream],
);
const doubles = kernel(
  "doubles",
  { seed: u32, turns: i32, u: view(f64, 2), normals: view(f64, 2), walk: view(f64) },
  ({ seed, turns, u, normals, walk }, i) => {
    const r = stream(seed, i);
    u[i][0] = r.uniform();
    normals[i][0] = r.normal(); // the second block
    u[i][1] = r.uniform();
    normals[i][1] = r.normal(); // kept from the pair
    const other = stream(seed, i, 1);
    let sum = 0;
    for (let k = 0; k < turns + (i % 5); k++) sum += other.uniform();
    walk[i] = sum;
  },
  () => [stream],
);
const listed = kernel("listed", { ...random, n: view(f32), e: view(f32) }, ({ stream, n, e }, i) => {
  const r = stream(3, i);
  n[i] = r.normal32() + 0 * r.normal32();
  e[i] = r.exponential32();
});

test("words follow one another, and numbers of several words do not cross blocks", () => {
  const r = stream(SEED, 5, STEP);
  const w = (k: number): number => word(SEED, 5, STEP, k);
  assert.deepEqual([r.u32(), r.u32(), r.u32()], [w(0), w(1), w(2)]);
  assert.equal(r.uniform(), uniform(w(4), w(5)));
  assert.equal(r.u32(), w(6));
  assert.equal(r.normal(), normalPair(uniform(w(8), w(9)), uniform(w(10), w(11)))[0]);
  assert.equal(r.uniform32(), uniform32(w(12)));
  assert.equal(r.normal32(), normalPair32(uniform32(w(13)), uniform32(w(14)))[0]);
  assert.equal(r.normal(), normalPair(uniform(w(8), w(9)), uniform(w(10), w(11)))[1]);
  assert.equal(r.normal32(), normalPair32(uniform32(w(13)), uniform32(w(14)))[1]);
  assert.equal(r.exponential(), -Math.log(1 - uniform(w(16), w(17))));
});

test("integers below n are the high words of exact products", () => {
  for (const n of [1, 2, 3, 10, 65536, 1000003, 0x7fffffff]) {
    const r = stream(1, n);
    for (let k = 0; k < 50; k++) {
      const value = (BigInt(word(1, n, 0, 2 * k)) << 32n) + BigInt(word(1, n, 0, 2 * k + 1));
      assert.equal(r.below(n), Number((value * BigInt(n)) >> 64n));
    }
  }
});

test("moments, correlations and counts fit the distributions", () => {
  const count = 40_000;
  const draw = (make: (r: ReturnType<typeof stream>) => number): number[] => Array.from({ length: count }, (_, i) => make(stream(9, i)));
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b) / values.length;
  // Five standard deviations each.
  const near = (values: readonly number[], expected: number, variance: number): void =>
    assert.ok(Math.abs(mean(values) - expected) < 5 * Math.sqrt(variance / values.length), `${mean(values)} is not near ${expected}`);
  const normals = draw((r) => r.normal());
  near(normals, 0, 1);
  near(
    normals.map((x) => x ** 2),
    1,
    2,
  );
  near(
    normals.map((x) => x ** 4),
    3,
    96,
  );
  // Neighbouring elements, and the two numbers of a pair
  near(
    normals.slice(1).map((x, i) => x * normals[i]),
    0,
    1,
  );
  near(
    draw((r) => r.normal() * r.normal()),
    0,
    1,
  );
  near(
    draw((r) => r.exponential()),
    1,
    1,
  );
  near(
    draw((r) => r.exponential32() ** 2),
    2,
    20,
  );
  const faces = Array(6).fill(0);
  for (const face of draw((r) => r.below(6))) faces[face] += 1;
  const chi2 = faces.reduce((sum, n) => sum + (n - count / 6) ** 2 / (count / 6), 0);
  assert.ok(chi2 < 25.7, `chi^2 of 5 degrees of freedom is ${chi2}`); // 1 of 10^4
});

test("the code is as by hand where the number of words is known", () => {
  const byHand = kernel(
    "draw",
    { seed: u32, x: view(f64, 2) },
    ({ seed, x }, i) => {
      const a = new Uint32Array(4);
      a[0] = i >>> 0;
      philox(a, seed, 0);
      x[i][0] = uniform(a[0], a[1]);
      x[i][1] = uniform(a[2], a[3]);
    },
    () => [philox, uniform],
  );
  const byStream = kernel(
    "draw",
    { seed: u32, x: view(f64, 2) },
    ({ seed, x }, i) => {
      const r = stream(seed, i);
      for (let k = 0; k < 2; k++) x[i][k] = r.uniform();
    },
    () => [stream],
  );
  const operations = (text: string): string[] => text.match(/mulhi|\*|\^|>>>|if|sqrt|while/g)!.sort();
  const [a, b] = [byHand, byStream].map((k) => operations(printKernel(compileKernel(k).ir)));
  assert.deepEqual(b, a);
});

test("a method that it lacks is refused by name", () => {
  const wrong = kernel(
    "wrong",
    { x: view(f64) },
    ({ x }, i) => {
      const r = stream(1, i) as unknown as { gamma(): number };
      x[i] = r.gamma();
    },
    () => [stream],
  );
  assert.throws(
    () => compileKernel(wrong),
    (error) => error instanceof KernelError && /gamma/.test(error.message),
  );
});

await eachDevice("random streams", (device) => {
  const count = 300;
  it("give the host's integers and f32", async () => {
    const views = { words: device.array(u32, [count, 4]), below: device.array(i32, [count, 2]), single: device.array(f32, [count, 2]) };
    await device.run(integers, { seed: SEED, step: STEP, n: 1000, ...views }, range(count));
    const [words, below, single] = await Promise.all(Object.values(views).map((each) => device.queue.read(each)));
    for (let i = 0; i < count; i++) {
      const r = stream(SEED, i, STEP);
      for (let k = 0; k < 3; k++) assert.equal(words[4 * i + k], r.u32());
      assert.equal(below[2 * i], r.below(1000));
      assert.equal(single[2 * i], r.uniform32());
      if (i % 2 === 1) assert.equal(below[2 * i + 1], r.below(3));
      assert.equal(single[2 * i + 1], r.uniform32());
      assert.equal(words[4 * i + 3], r.u32());
    }
  });

  it("give the host's f64, and normal numbers to a few ulp", { skip: !device.capabilities.f64 && "it has no f64" }, async () => {
    const views = { u: device.array(f64, [count, 2]), normals: device.array(f64, [count, 2]), walk: device.array(f64, count) };
    await device.run(doubles, { seed: SEED, turns: 6, ...views }, range(count));
    const [u, normals, walk] = await Promise.all(Object.values(views).map((each) => device.queue.read(each)));
    for (let i = 0; i < count; i++) {
      const r = stream(SEED, i);
      assert.equal(u[2 * i], r.uniform());
      assert.ok(Math.abs(normals[2 * i] - r.normal()) < 1e-13);
      assert.equal(u[2 * i + 1], r.uniform());
      assert.ok(Math.abs(normals[2 * i + 1] - r.normal()) < 1e-13);
      const other = stream(SEED, i, 1);
      let sum = 0;
      for (let k = 0; k < 6 + (i % 5); k++) sum += other.uniform();
      assert.equal(walk[i], sum);
    }
  });

  it("come with the parameters of random", async () => {
    const views = { n: device.array(f32, count), e: device.array(f32, count) };
    await device.run(listed, views, range(count));
    const [n, e] = await Promise.all(Object.values(views).map((each) => device.queue.read(each)));
    for (let i = 0; i < count; i++) {
      const r = stream(3, i);
      const [first] = [r.normal32(), r.normal32()];
      assert.ok(Math.abs(n[i] - first) < 1e-4 && Math.abs(e[i] - r.exponential32()) < 1e-5);
    }
  });
});
