import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { describe, it } from "node:test";
import { emitCudaFile } from "../../../src/emit/standalone/cuda.js";
import { emitHipFile } from "../../../src/emit/standalone/hip.js";
import { matchesSnapshot } from "../snapshot.js";
import { ATOMIC_CASES, CASES, requestOf } from "./cases.js";
import { WIDE_CASES } from "./wide-cases.js";
import { inFolder, inNamespace, missing, run } from "./compiled.js";

// Compilers that are not on the path: ISOFORM_NVCC names the folder of nvcc.
if (process.env.ISOFORM_NVCC) process.env.PATH = `${process.env.ISOFORM_NVCC}${delimiter}${process.env.PATH}`;
// Without clang++ on the path, hipcc would take nvcc for its compiler.
process.env.HIP_PLATFORM ??= "amd";

for (const [compiler, emit, flags] of [
  ["nvcc", emitCudaFile, ["-arch=sm_90", "-Werror", "all-warnings"]],
  ["hipcc", emitHipFile, ["--offload-arch=gfx90a", "-Werror", "-Wno-unused-command-line-argument"]],
] as const)
  describe(`${compiler} compiles`, { skip: missing(compiler) }, () => {
    for (const precision of ["strict", "fast"] as const)
      it(`the files of all cases, ${precision}`, async () => {
        const files = [...CASES, ...ATOMIC_CASES, ...WIDE_CASES].flatMap((given) => emit(requestOf(given, precision)));
        const all = { name: compiler === "nvcc" ? "all.cu" : "all.cpp", text: files.map(({ text }) => inNamespace(text)).join("\n") };
        await inFolder([all], (folder) => run(folder, compiler, ...flags, "-c", all.name, "-o", "all.o"));
      });
  });

it("the host of a reduction allocates what it needs", () =>
  matchesSnapshot("emit/standalone/dot.cu", emitCudaFile(requestOf(CASES[2], "strict"))[0].text));
it("the host of a stencil chooses tiles by the cache", () =>
  matchesSnapshot("emit/standalone/laplace.cu", emitCudaFile(requestOf(CASES[1], "fast"))[0].text));
it("HIP differs from CUDA in names", () => {
  const [{ text }] = emitHipFile(requestOf(CASES[0], "strict"));
  assert.doesNotMatch(text, /cuda/i);
  matchesSnapshot("emit/standalone/axpy.hip.cpp", text);
});
