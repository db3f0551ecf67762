import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Nvrtc } from "../../../src/device/cuda/nvrtc.js";
import { cudaLanguage, cudaSource } from "../../../src/emit/c/cuda.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { suite } from "../../../src/testing/suite.js";
import { dataOf } from "../../random/data.js";
import { KernelPrograms } from "../../random/generate.js";
import { kernelOf } from "../../random/program.js";
import { applicationKernels, gridSources, suiteSources, type Target } from "../gpu-sources.js";

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
  const compile = (source: string, name: string, fmad: boolean, targets = architectures) => {
    for (const arch of targets) assert.ok(nvrtc.compileToCubin(source, arch, { fmad, name }).length > 0);
  };

  it("the library's own kernels", () => {
    compile(cudaLanguage.sort, "sort", false);
    compile(cudaLanguage.copies, "copy", false);
  });

  it("the applications and benchmarks", () => {
    const kernels = applicationKernels();
    assert.ok(kernels.length > 25);
    for (const kernel of kernels)
      for (const precision of ["strict", "fast"] as const) compile(cudaSource(kernel, precision), kernel.ir.name, precision === "fast");
  });

  it("random kernels", () => {
    for (const program of fc.sample(new KernelPrograms(), { numRuns: 25, seed: 1 })) {
      const kernel = kernelOf(program);
      const source = cudaSource(compileKernel(kernel, dataOf(program).fixed), "strict");
      assert.ok(nvrtc.compileToCubin(source, architectures.at(-1)!, { fmad: false, name: "random" }).length > 0, source);
    }
  });

  for (const precision of ["strict", "fast"] as const)
    it(`applications on grids, ${precision}`, async () => {
      const sources = await gridSources(TARGET, precision);
      assert.ok(sources.size > 20);
      for (const [source, name] of sources) compile(source, name, precision === "fast");
    });

  // The code of fast mode differs from that of strict mode, but not from one architecture to another.
  for (const [precision, targets] of [
    ["strict", architectures],
    ["fast", architectures.slice(-1)],
  ] as const)
    it(`the suite, ${precision}, for ${targets.map((arch) => `sm_${arch}`).join(", ")}`, async () => {
      const sources = await suiteSources(TARGET, precision);
      assert.ok(sources.size > suite.length / 2);
      for (const [source, name] of sources) compile(source, name, precision === "fast", targets);
    });
});
