import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { deviceNames } from "../../../src/device/open.js";
import { Hiprtc } from "../../../src/device/hip/hiprtc.js";
import { hipLanguage } from "../../../src/emit/c/hip.js";
import type { Precision } from "../../../src/device/device.js";
import { suite } from "../../../src/testing/suite.js";
import { applicationKernels, gridSources, suiteSources, together, type Target } from "../gpu-sources.js";
import { hipSource } from "../../emit/sources.js";

/** MI200, and MI300 under the newest of its names that the compiler knows. */
const WANTED = [["gfx90a"], ["gfx942", "gfx940"]];
const TARGET: Target = { language: hipLanguage, facts: { sharedBytes: 64 << 10, threads: 1024, atomics64: true, l2Bytes: 8 << 20 } };

const folder = mkdtempSync(join(tmpdir(), "isoform-hipcc-"));
after(() => rmSync(folder, { recursive: true }));

const hipcc = (text: string, architectures: readonly string[], contract: string) => {
  const [source, code] = [join(folder, "all.hip"), join(folder, "all.hsaco")];
  writeFileSync(source, `#include <hip/hip_runtime.h>\n${text}`);
  const targets = architectures.map((arch) => `--offload-arch=${arch}`);
  const { status, error, stderr } = spawnSync(
    "hipcc",
    ["--genco", ...targets, "-O1", "-std=c++17", `-ffp-contract=${contract}`, source, "-o", code],
    { encoding: "utf8" },
  );
  return { works: !error && status === 0, said: error?.message ?? stderr, bytes: status === 0 ? statSync(code).size : 0 };
};

const architectures = WANTED.flatMap((names) => names.find((name) => hipcc("", [name], "off").works) ?? []);
const missing = architectures.length === 0 && "hipcc is not installed, or knows no MI200";

function compile(sources: Iterable<string>, precision: Precision): void {
  const all = [...sources];
  const { works, said, bytes } = hipcc(together(all), architectures, precision === "fast" ? "fast" : "off");
  assert.ok(works, said.slice(0, 4000));
  assert.ok(bytes > 1000 * all.length, `${bytes} bytes`);
}

describe(`hipcc compiles, for ${architectures.join(" and ")}, the HIP code of`, { skip: missing }, () => {
  it("the library's own kernels", () => compile([hipLanguage.sort, hipLanguage.copies], "strict"));

  for (const precision of ["strict", "fast"] as const) {
    it(`the applications and benchmarks, ${precision}`, () => {
      const kernels = applicationKernels();
      assert.ok(kernels.length > 25);
      compile(
        kernels.map((kernel) => hipSource(kernel, precision)),
        precision,
      );
    });

    it(`applications on grids, ${precision}`, async () => {
      const sources = await gridSources(TARGET, precision);
      assert.ok(sources.size > 20);
      compile(sources.keys(), precision);
    });

    it(`the suite, ${precision}`, async () => {
      const sources = await suiteSources(TARGET, precision);
      assert.ok(sources.size > suite.length / 2);
      compile(sources.keys(), precision);
    });
  }
});

// Builds of 2022 end the process for architectures that they do not know.
const runtime = await Hiprtc.open().catch((error: Error) => error.message);

describe("the installed HIP", { skip: typeof runtime === "string" && runtime }, () => {
  const compileAtRunTime = (source: string, fast: boolean) => (runtime as Hiprtc).compile(source, "gfx90a", { fast }, (code) => code);

  it("compiles the library's own kernels and applications", () => {
    process.env.XDG_CACHE_HOME = folder;
    const sources = [hipLanguage.sort, hipLanguage.copies, ...applicationKernels().map((kernel) => hipSource(kernel, "fast"))];
    assert.ok(compileAtRunTime(together(sources), true).length > 1000 * sources.length);
  });

  it("has all functions that are called", async () => {
    const said = await deviceNames("hip").then(String, (error: Error) => error.message);
    assert.doesNotMatch(said, /lacks a function/);
  });

  it("refuses what is no code with its name and the place", () => {
    process.env.XDG_CACHE_HOME = folder;
    assert.throws(() => compileAtRunTime("no code", false), {
      name: "DeviceError",
      message: /hiprtc refused the code generated for "kernel":\n[^]*error:/,
    });
  });
});
