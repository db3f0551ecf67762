import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { findAdapter } from "../../src/device/webgpu/adapter.js";
import { emitOpenMP } from "../../src/emit/c/openmp.js";
import { TARGETS, type EmittedFile } from "../../src/emit/standalone/index.js";
import type { TargetName } from "../../src/emit/standalone/names.js";
import { analyseAccess } from "../../src/ir/analysis/access.js";
import type { KernelIR } from "../../src/ir/types.js";
import { f32, open, range } from "../../src/index.js";
import { kernelFromIR } from "../../src/ir-api.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { tested } from "../devices.js";
import { hostileNames, kernelsOf, requestOf } from "./hostile.js";
import { inFolder, missing, run } from "./standalone/compiled.js";
import { cudaSource, hipSource } from "./sources.js";

/* 10,000 names through the compilers that can stop behind the check of the source; 500 of them through those that make code of it, which takes long. */

const COUNT = 10_000;
const STUB = fileURLToPath(new URL("../../../test/emit/standalone/sycl-stub", import.meta.url));

const HIP = ["--offload-arch=gfx90a", "-std=c++17", "-Werror", "-Wno-unused-command-line-argument"];
// Without clang++ on the path, hipcc would take nvcc for its compiler.
process.env.HIP_PLATFORM ??= "amd";

/** Macros that a compiler has by itself or from the headers that emitted code includes. */
function macros(): string[] {
  const headers = ["math.h", "stdbool.h", "stdint.h", "stdlib.h", "stdio.h", "string.h", "omp.h"]
    .map((name) => `#include <${name}>\n`)
    .join("");
  const { stdout } = spawnSync("gcc", ["-dM", "-E", "-fopenmp", "-"], { input: headers, encoding: "utf8" });
  const names = [...(stdout ?? "").matchAll(/^#define (\w+)/gm)].map(([, name]) => name);
  return names.flatMap((name) => [name, name.replace(/_+$/, "")]).filter((name) => name !== "");
}

const names = hostileNames(COUNT, macros());
const kernels = kernelsOf(names, 2500);
const small = kernelsOf(names.slice(0, 500), 100);

/** Files of all kernels, each in a file of its own. */
const filesOf = (target: TargetName, suffix: string): EmittedFile[] =>
  kernels.flatMap(({ ir }, n) =>
    TARGETS[target](requestOf(ir, "strict"))
      .filter(({ name }) => name.endsWith(suffix))
      .map(({ text }) => ({ name: `k${n}${suffix}`, text })),
  );

const syntax = (compiler: string, target: TargetName, suffix: string, ...flags: string[]) =>
  it(`${target}, by ${compiler}`, { skip: missing(compiler) }, () =>
    inFolder(filesOf(target, suffix), (folder) => {
      run(folder, compiler, "-fsyntax-only", ...flags, ...kernels.map((_, n) => `k${n}${suffix}`));
    }),
  );

const nativeSource = (ir: KernelIR): string => {
  const strides = Object.fromEntries(ir.params.flatMap((p) => (p.kind === "view" ? [[p.name, [1]]] : [])));
  return emitOpenMP(ir, analyseAccess(ir), { strides, disjoint: true, ordered: true, sizes: "settled", scatter: {} }).source;
};

describe("hostile names compile as", () => {
  syntax("gcc", "c", ".c", "-std=gnu11", "-fopenmp", "-Wall", "-Werror");
  it("C with OpenMP of the device native, by gcc", { skip: missing("gcc") }, async () => {
    await inFolder(
      kernels.map(({ ir }, n) => ({ name: `k${n}.c`, text: nativeSource(ir) })),
      (folder) => run(folder, "gcc", "-fsyntax-only", "-std=gnu11", "-fopenmp", "-Wall", "-Werror", ...kernels.map((_, n) => `k${n}.c`)),
    );
  });
  syntax("gcc", "omp-target", ".target.c", "-std=gnu11", "-fopenmp", "-foffload=disable");
  syntax("gcc", "opencl", ".host.c", "-Wno-deprecated-declarations");
  syntax("g++", "openacc", ".acc.cpp", "-std=gnu++17", "-fopenacc", "-foffload=disable", "-Wall", "-Werror");
  syntax("g++", "stdpar", ".stdpar.cpp", "-std=c++20", "-Wall", "-Werror");
  syntax("g++", "sycl", ".sycl.cpp", "-std=c++17", `-I${STUB}`);

  syntax("hipcc", "hip", ".hip.cpp", ...HIP);
  it("HIP's code, by hipcc", { skip: missing("hipcc") }, () =>
    inFolder(
      small.map(({ ir }, n) => ({ name: `k${n}.hip`, text: `#include <hip/hip_runtime.h>\n${hipSource({ ir }, "strict")}` })),
      (folder) => small.forEach((_, n) => run(folder, "hipcc", "--genco", "-O1", ...HIP, `k${n}.hip`, "-o", `k${n}.hsaco`)),
    ),
  );

  it("CUDA, by NVRTC", { skip: !tested("cuda") }, async (t) => {
    const nvrtc = await Nvrtc.open().catch((error: Error) => error);
    if (nvrtc instanceof Error) return t.skip(nvrtc.message);
    for (const { ir } of small) {
      const source = cudaSource(compileKernel(kernelFromIR(ir)), "strict");
      assert.ok(nvrtc.compileToCubin(source, nvrtc.architectures.at(-1)!, { fast: false, name: ir.name }).length > 0);
    }
  });

  it("WGSL, by the adapter's compiler", { skip: !tested("webgpu") }, async (t) => {
    const found = await findAdapter();
    if ("missing" in found) return t.skip(found.missing.reason);
    const device = await found.adapter.requestDevice();
    for (const { ir } of kernels)
      for (const { name, text } of TARGETS.wgsl(requestOf(ir, "strict"))) {
        if (!name.endsWith(".wgsl")) continue;
        const { messages } = await device.createShaderModule({ code: text }).getCompilationInfo();
        assert.deepEqual(
          messages.filter(({ type }) => type === "error").map(({ message }) => message),
          [],
        );
      }
    device.destroy();
  });

  for (const name of ["native", "opencl"])
    it(`what runs on ${name}`, { skip: !tested(name) }, async (t) => {
      const device = await open(name).catch((error: Error) => error);
      if (device instanceof Error) return t.skip(device.message);
      for (const { ir, args } of small) {
        const [a, x, y, s] = args;
        const given = Object.fromEntries([
          [a, 0.5],
          [x, device.from(f32, [1, 2])],
          [y, device.array(f32, 2)],
        ]);
        const results = (await device.run(kernelFromIR(ir), given, range(2))) as Record<string, number>;
        assert.deepEqual(Object.entries(results), [[s, 2]]);
      }
      await device.close();
    });
});
