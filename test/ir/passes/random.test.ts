import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { KernelIR } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { interpret } from "../interpret.js";
import type { Memory } from "../interpret.js";
import { EXTENT, randomKernel, randomMemory } from "../random.js";

function outcome(ir: KernelIR): Memory {
  const memory = randomMemory();
  interpret(ir, EXTENT, memory, { pd: 2.5, pi: -7, pb: true });
  return memory;
}

test("the passes change no bit of what random kernels compute", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 100, maxLength: 600, size: "max" }), (choices) => {
      const ir = randomKernel(choices);
      verify(ir);
      assert.deepEqual(outcome(optimise(ir)), outcome(ir), printKernel(ir));
    }),
    { numRuns: 2000, seed: 7 },
  );
});
