import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Precision } from "../../../src/device/device.js";
import { Nvrtc } from "../../../src/device/cuda/nvrtc.js";
import { cudaLanguage } from "../../../src/emit/c/cuda.js";
import { identityOf } from "../../../src/ir/identity.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { suite } from "../../../src/testing/suite.js";
import { dataOf } from "../../random/data.js";
import { KernelPrograms } from "../../random/generate.js";
import { kernelOf } from "../../random/program.js";
import { applicationKernels, gridSources, suiteSources, together, type Target } from "../gpu-sources.js";
import { cudaSource } from "../../emit/sources.js";

/** Volta, Ampere and Hopper: the oldest that CUDA 12 knows, and those of the published measurements. */
const ARCHITECTURES = [70, 80, 90];
/** With the shared memory that a block may ask for on the smallest of them. */
const TARGET: Target = { language: cudaLanguage, facts: { sharedBytes: 96 << 10, threads: 1024, atomics64: true, l2Bytes: 50 << 20 } };

const compiler = await Nvrtc.open().then(
  (nvrtc) => ({ nvrtc }),
  (error: Error) => ({ missing: error.message }),
);

describe("NVRTC compiles the CUDA code of", { skip: "missing" in compiler ? compiler.missing : false }, () => {
  const { nvrtc } = compiler as { nvrtc: Nvrtc };
  const architectures = ARCHITECTURES.filter((arch) => nvrtc?.architectures.includes(arch));
  /** One source at a time where all together fail, so that the message has the kernel's name. */
  const compile = (sources: Iterable<readonly [source: string, name: string]>, precision: Precision, targets = architectures): void => {
    const all = [...sources];
    const fast = precision === "fast";
    for (const arch of targets)
      try {
        const code = nvrtc.compileToCubin(together(all.map(([source]) => source)), arch, { fast, name: "all" });
        assert.ok(code.length > 1000 * all.length, `${code.length} bytes`);
      } catch (error) {
        for (const [source, name] of all) nvrtc.compileToCubin(source, arch, { fast, name });
        throw error;
      }
  };

  it("the library's own kernels", () =>
    compile(
      [
        [cudaLanguage.sort, "sort"],
        [cudaLanguage.copies, "copy"],
      ],
      "strict",
    ));

  for (const type of ["i32", "u32"] as const)
    for (const op of ["sum", "min", "max"] as const)
      it(`a scan of ${type} by ${op}`, () => compile([[cudaLanguage.scan!.source(type, op, identityOf(op, type)), "scan"]], "strict"));

  // The code of fast mode differs from that of strict mode, but not from one architecture to another.
  const MODES = [
    ["strict", architectures],
    ["fast", architectures.slice(-1)],
  ] as const;
  const shown = (targets: readonly number[]): string => targets.map((arch) => `sm_${arch}`).join(", ");

  for (const [precision, targets] of MODES)
    it(`the applications and benchmarks, ${precision}, for ${shown(targets)}`, () => {
      const kernels = applicationKernels();
      assert.ok(kernels.length > 25);
      compile(
        kernels.map((kernel) => [cudaSource(kernel, precision), kernel.ir.name]),
        precision,
        targets,
      );
    });

  it("random kernels", () => {
    const programs = fc.sample(new KernelPrograms(), { numRuns: 25, seed: 1 });
    const sources = programs.map((program) => cudaSource(compileKernel(kernelOf(program), dataOf(program).fixed), "strict"));
    compile(
      sources.map((source) => [source, "random"]),
      "strict",
      architectures.slice(-1),
    );
  });

  for (const [precision, targets] of MODES)
    it(`applications on grids, ${precision}, for ${shown(targets)}`, async () => {
      const sources = await gridSources(TARGET, precision);
      assert.ok(sources.size > 20);
      compile(sources, precision, targets);
    });

  for (const [precision, targets] of MODES)
    it(`the suite, ${precision}, for ${shown(targets)}`, async () => {
      const sources = await suiteSources(TARGET, precision);
      assert.ok(sources.size > suite.length / 2);
      compile(sources, precision, targets);
    });
});
