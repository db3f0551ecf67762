import assert from "node:assert/strict";
import { test } from "node:test";
import { GlibcRandom } from "../../../apps/gsr/glibc.js";

/** Printed by a C program on glibc 2.36. */
const KNOWN: [seed: number, first: number[], hundredThousandth: number][] = [
  [0, [1804289383, 846930886, 1681692777, 1714636915, 1957747793, 424238335, 719885386, 1649760492], 1185112642],
  [1, [1804289383, 846930886, 1681692777, 1714636915, 1957747793, 424238335, 719885386, 1649760492], 1185112642],
  [2, [1505335290, 1738766719, 190686788, 260874575, 747983061, 906156498, 1502820864, 142559277], 1047818895],
];

for (const [seed, first, later] of KNOWN)
  test(`rand() after srand(${seed})`, () => {
    const random = new GlibcRandom(seed);
    assert.deepEqual(
      first.map(() => random.integer()),
      first,
    );
    for (let i = first.length; i < 100_000; i++) random.integer();
    assert.equal(random.integer(), later);
  });

test("uniform numbers are rand() / RAND_MAX", () => {
  assert.equal(new GlibcRandom(1).uniform(), 1804289383 / (2 ** 31 - 1));
});
