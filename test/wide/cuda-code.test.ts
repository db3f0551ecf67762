import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { cudaSource } from "../emit/sources.js";
import { WIDE_CASES } from "../emit/standalone/wide-cases.js";
import { treesOf } from "./trees.js";

const compiler = await Nvrtc.open().then(
  (nvrtc) => ({ nvrtc }),
  (error: Error) => ({ missing: error.message }),
);

describe("NVRTC compiles the CUDA code of 64-bit integers", { skip: "missing" in compiler ? compiler.missing : false }, () => {
  const { nvrtc } = compiler as { nvrtc: Nvrtc };
  const trees = [1, 2, 3].map((seed) => treesOf(seed, { floats: true, division: true, faithful: false }).kernel);
  for (const kernel of [...WIDE_CASES.map((given) => given.kernel), ...trees])
    it(kernel.name, () => {
      for (const precision of ["strict", "fast"] as const) {
        const code = nvrtc.compileToCubin(cudaSource(compileKernel(kernel), precision), 90, {
          fast: precision === "fast",
          name: kernel.name,
        });
        assert.ok(code.length > 1000);
      }
    });
});
