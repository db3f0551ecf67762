import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { optimise } from "../../src/ir/optimise.js";
import { print } from "../../src/ir/print.js";
import type { KernelIR } from "../../src/ir/types.js";
import { verify } from "../../src/ir/verify.js";
import { interpret } from "./interpret.js";
import type { Memory } from "./interpret.js";
import { EXTENT, randomKernel } from "./random.js";

const DATA = {
  xd: [0.1, -0, NaN, -3e9],
  xs: [0.5, -0, 16777217, Infinity].map(Math.fround),
  xi: [3, -1, 2147483647, 0],
  xu: [3, 4294967295, 0, 2147483648],
};

function outcome(ir: KernelIR): Memory {
  const zeros = () => Array<number>(EXTENT).fill(0);
  const memory: Memory = { ...structuredClone(DATA), yd: zeros(), ys: zeros(), yi: zeros(), yu: zeros(), h: zeros(), s: [0] };
  interpret(ir, EXTENT, memory, { pd: 2.5, pi: -7, pb: true });
  return memory;
}

test("the passes change no bit of what random kernels compute", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 100, maxLength: 600, size: "max" }), (choices) => {
      const ir = randomKernel(choices);
      verify(ir);
      assert.deepEqual(outcome(optimise(ir)), outcome(ir), print(ir));
    }),
    { numRuns: 2000, seed: 7 },
  );
});
