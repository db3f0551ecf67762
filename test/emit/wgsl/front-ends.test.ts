import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { observeLaunches } from "../../../src/cli/observed-launches.js";
import { findAdapter } from "../../../src/device/webgpu/adapter.js";
import { emitWgslFiles } from "../../../src/emit/standalone/wgsl.js";
import { EmitError } from "../../../src/base/errors.js";
import { suite } from "../../../src/testing/suite.js";
import { applicationKernels } from "../../device/gpu-sources.js";
import { wgslEntries } from "../sources.js";

/* Every text in WGSL of the suite's and the applications' kernels, as it is written without a device: both front ends that there are must take it. */

/** Kernels by shader. */
const texts = new Map<string, string>();

before(async () => {
  for (const precision of ["strict", "fast"] as const) {
    const launched = await observeLaunches(precision, async ({ locals: [{ device }] }) => {
      // What a case expects is not the subject here.
      for (const { run } of suite) await run(device).catch(() => undefined);
    });
    for (const kernel of [...launched, ...applicationKernels()])
      for (const { source } of wgslEntries(kernel, precision)) texts.set(source, kernel.ir.name);
    for (const found of launched)
      try {
        for (const { name, text } of emitWgslFiles({ ...found, precision })) if (name.endsWith(".wgsl")) texts.set(text, found.stem);
      } catch (error) {
        // Files have no f64, which the other texts emulate.
        if (!(error instanceof EmitError)) throw error;
      }
  }
});

describe("WGSL of the suite and the applications", () => {
  it("is more than some kernels", () => assert.ok(texts.size > 500, `${texts.size} texts`));

  it("gives every variable of a function its value, as drivers keep the last of one without", () => {
    for (const [text, name] of texts) assert.doesNotMatch(text, /^\s+var \w+\s*: [^=]*;/m, name);
  });

  it("never asks whether a float differs, which devices take for false of NaN", () => {
    for (const [text, name] of texts)
      assert.doesNotMatch(text, /!= -?(\d+\.\d|\d+(\.\d+)?(e[+-]?\d+)?f\b|vec2<f32>|infinity\(|not_a_number\()/, name);
  });
});

const found = await findAdapter();

describe("Tint", { skip: "missing" in found && found.missing.reason }, () => {
  it("takes all of it", async () => {
    assert.ok("adapter" in found);
    const device = await found.adapter.requestDevice();
    device.pushErrorScope("validation");
    const refused = await Promise.all(
      [...texts].map(async ([code, name]) => {
        const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
        const wrong = messages.find(({ type }) => type === "error");
        return wrong ? [`${name}: ${wrong.message.split("\n")[0]} in ${code.split("\n")[wrong.lineNum - 1]}`] : [];
      }),
    );
    await device.popErrorScope();
    device.destroy();
    assert.deepEqual(refused.flat(), []);
  });
});

const naga = spawnSync("naga", ["--version"]).status === 0;

describe("naga", { skip: !naga && "it is not installed: cargo install naga-cli" }, () => {
  it("takes all of it", () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-naga-"));
    try {
      const files = [...texts].map(([text, name], n) => {
        const file = join(folder, `${n}-${name}.wgsl`);
        writeFileSync(file, text);
        return file;
      });
      const { status, stderr } = spawnSync("naga", ["--bulk-validate", ...files], { encoding: "utf8", maxBuffer: 1 << 28 });
      assert.equal(status, 0, stderr.slice(0, 4000));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
