import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Interval } from "../../../src/ir/analysis/affine.js";
import { sizesOf } from "../../../src/ir/analysis/integer-ranges.js";
import { integersOfLaunch } from "../../../src/ir/analysis/launch-integers.js";
import type { KernelIR } from "../../../src/ir/types.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { KernelPrograms } from "../../random/generate.js";
import { kernelOf } from "../../random/program.js";
import { dataOf } from "../../random/data.js";

type Ranges = Readonly<Record<string, Interval>>;

/** As the walk through the code finds them. */
const anew = (ir: KernelIR, ranges: Ranges) =>
  sizesOf(ir, (leaf) => {
    if (leaf.op === "index") return ranges[`index:${leaf.axis}`];
    if (leaf.op === "param") return ranges[`param:${leaf.name}`];
    return leaf.op === "extent" ? ranges[`extent:${leaf.view}:${leaf.axis}`] : undefined;
  });

const edge = fc.constantFrom(0, 1, 7, 100, 65536, 2 ** 20, 2 ** 28, 2 ** 30, 2 ** 31 - 1, -1, -65536, -65537);
const near = fc.integer({ min: -10, max: 3000 });

test("integers of launches of random kernels are known as the walk through their code finds them, launch after launch", () => {
  const found = { any: 0, small: 0, settled: 0 };
  let kernels = 0;
  const property = fc.property(
    new KernelPrograms(),
    fc.array(fc.array(fc.oneof(near, near, edge), { minLength: 12, maxLength: 12 }), { minLength: 4, maxLength: 12 }),
    (program, launches) => {
      const { ir } = compileKernel(kernelOf(program), dataOf(program).fixed);
      kernels++;
      for (const values of launches) {
        const ranges: Record<string, Interval> = {};
        let n = 0;
        const value = (): number => values[n++ % values.length];
        for (const axis of [0, 1, 2]) {
          const low = value();
          ranges[`index:${axis}`] = [low, Math.min(2 ** 31 - 1, low + Math.abs(value()))];
        }
        for (const param of ir.params) {
          if (param.kind === "scalar" && param.type !== "bool") {
            const own = value();
            ranges[`param:${param.name}`] = [own, own];
          } else if (param.kind === "view" || param.kind === "scatter")
            for (let axis = 0; axis < param.rank; axis++) {
              const extent = Math.abs(value());
              ranges[`extent:${param.name}:${axis}`] = [extent, extent];
            }
        }
        const sizes = integersOfLaunch(ir, (atom) => ranges[atom]);
        assert.equal(sizes, anew(ir, ranges));
        found[sizes]++;
      }
    },
  );
  fc.assert(property, { numRuns: 120, seed: 1 });
  assert.ok(kernels >= 120 && Math.min(...Object.values(found)) > 20, JSON.stringify(found));
});
