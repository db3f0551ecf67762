import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Nvrtc } from "../../../src/device/cuda/nvrtc.js";
import { cudaLanguage } from "../../../src/emit/c/cuda.js";
import { failing } from "../../checked/cases.js";
import { checkedSources, together, type Target } from "../gpu-sources.js";

const TARGET: Target = { language: cudaLanguage, facts: { sharedBytes: 96 << 10, threads: 1024, atomics64: true, l2Bytes: 50 << 20 } };

const compiler = await Nvrtc.open().then(
  (nvrtc) => ({ nvrtc }),
  (error: Error) => ({ missing: error.message }),
);

describe("NVRTC compiles CUDA code that checks indices", { skip: "missing" in compiler ? compiler.missing : false }, () => {
  const { nvrtc } = compiler as { nvrtc: Nvrtc };
  for (const precision of ["strict", "fast"] as const)
    it(precision, async () => {
      const sources = await checkedSources(TARGET, precision);
      assert.ok(sources.size > failing.length / 2, String(sources.size));
      for (const source of sources.keys()) assert.match(source, /note_failure\(faults/);
      for (const arch of [75, 90]) {
        const code = nvrtc.compileToCubin(together(sources.keys()), arch, { fast: precision === "fast", name: "all" });
        assert.ok(code.length > 1000 * sources.size, `${code.length} bytes`);
      }
    });
});
