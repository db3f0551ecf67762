import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { cudaDialect } from "../../src/emit/c/cuda/dialect.js";
import { featuresOf } from "../../src/emit/c/gpu/emit.js";
import { openclDialect } from "../../src/emit/c/opencl/dialect.js";
import { analyseAccess } from "../../src/ir/analysis/access.js";
import { onlyFolds } from "../../src/ir/analysis/teams.js";
import type { KernelIR } from "../../src/ir/types.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { defaultAssumptions, scheduleGpu } from "../../src/schedule/lower.js";
import type { GpuAssumptions, ScatterCode } from "../../src/schedule/program.js";
import { applicationKernels } from "../device/gpu-sources.js";
import { dataOf } from "../random/data.js";
import { KernelPrograms } from "../random/generate.js";
import { kernelOf } from "../random/program.js";

/* Schedules under all assumptions that launches make: each is looked at by `#verify-schedule`. */

const cuda = featuresOf(cudaDialect(false));
const FEATURES = [
  cuda,
  { ...cuda, peerAccess: 0 },
  featuresOf(openclDialect({ wide: false, strict: false }, { f64: true, atomics64: true, exactF32: true, subGroups: true })),
];

type Variant = (ir: KernelIR, of: GpuAssumptions) => Partial<GpuAssumptions> | undefined;

const scatters =
  (code: ScatterCode): Variant =>
  (ir, { scatter, strict }) => {
    if (strict || ir.policy.kind === "team" || Object.keys(scatter).length === 0) return undefined;
    return { scatter: Object.fromEntries(Object.keys(scatter).map((name) => [name, code])), scatterCacheLines: 64 };
  };

const VARIANTS: readonly Variant[] = [
  () => ({}),
  () => ({ tuning: { elements: 4 } }),
  () => ({ tuning: { planes: 4, elements: 2 }, sweepBackward: true, large: true }),
  () => ({ aligned: true, row: 64, sizes: "any" }),
  () => ({ ordered: true, lanes: 8, members: 64 }),
  () => ({ members: 32 }),
  (ir, { strict }) => (!strict && ir.policy.kind === "team" && onlyFolds(ir) ? { members: 32, lanes: 1, abreast: 4 } : undefined),
  (ir, { wide }) => {
    const views = ir.params.filter((p) => p.kind === "view");
    return wide
      ? undefined
      : { far: Object.fromEntries(views.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === 0)])) };
  },
  scatters("shared"),
  scatters("cached"),
];

function scheduled(ir: KernelIR): number {
  const access = analyseAccess(ir);
  let count = 0;
  for (const strict of [true, false])
    for (const wide of [true, false]) {
      const usual: GpuAssumptions = { ...defaultAssumptions(ir, strict), wide };
      for (const assumptions of VARIANTS.flatMap((variant) => variant(ir, usual) ?? []))
        for (const features of FEATURES) {
          scheduleGpu(ir, access, { ...usual, ...assumptions }, features);
          count++;
        }
    }
  return count;
}

test("applications have sound schedules under all assumptions", () => {
  const count = applicationKernels().reduce((sum, { ir }) => sum + scheduled(ir), 0);
  assert.ok(count > 4000, `${count} schedules`);
});

test("random kernels have sound schedules under all assumptions", () => {
  fc.assert(
    fc.property(new KernelPrograms(), (program) => {
      scheduled(compileKernel(kernelOf(program), dataOf(program).fixed).ir);
    }),
    { numRuns: 60 },
  );
});
