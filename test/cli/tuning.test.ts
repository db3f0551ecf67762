import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command } from "commander";
import { makeShell } from "../../src/cli/shell.js";
import { addTuning, parseTuning } from "../../src/cli/tuning.js";
import { openByDefault } from "../../src/device/open.js";
import { f64, i32, kernel, open, range, view } from "../../src/index.js";
import { isoform } from "./isoform.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-cli-tuning-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

const file = (text: string): string => {
  const path = join(folder, "tuning.toml");
  writeFileSync(path, text);
  return path;
};

test("--tune measures, keeps the results right, and explain tells what it has found", () => {
  const heat = isoform(["heat", "--size", "200", "--steps", "10", "--tune"]);
  assert.equal(heat.status, 0, heat.stderr);
  assert.match(heat.stdout, /deviation from the exact steps \d(\.\d)?e-1[5-9]/);
  const explained = isoform(["explain", "heat", "--size", "200", "--iterations", "2", "--devices", "wasm", "--tune"]);
  assert.match(explained.stdout, /step: tuning: .*, measured: [\d.e+]+ us against [\d.e+]+ us/);
  for (const words of ["stream --gib 0.001 --iterations 3", "gsr --generator parallel --gib 0.002 --iterations 60"]) {
    const { status, stderr } = isoform([...words.split(" "), "--tune"]);
    assert.equal(status, 0, stderr);
  }
});

test("--deterministic holds for the devices of a command", () => {
  const push = (deposit: string) =>
    isoform(["pic", "push", "--particles", "3000", "--calls", "1", "--deposit", deposit, "--deterministic"]);
  assert.equal(push("auto").status, 0);
  const { status, stderr } = push("atomic");
  assert.equal(status, 2);
  assert.match(stderr, /scatter "j" cannot be atomic in a deterministic launch/);
});

test("--checked holds for the devices of a command", async () => {
  const gather = kernel("gather", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => void (y[i] = x[at[i]]));
  const run = async (...words: string[]) => {
    const program = new Command();
    addTuning(program, makeShell());
    program.command("gather").action(async () => {
      const device = await open("js");
      try {
        const args = { x: device.array(f64, 4), at: device.from(i32, [3, 4]), y: device.array(f64, 2) };
        await device.run(gather, args, range(2), { precision: "fast" });
      } finally {
        await device.close();
      }
    });
    await program.parseAsync([...words, "gather"], { from: "user" });
  };
  try {
    await run();
    await assert.rejects(run("--checked"), /index 4 is outside axis 0 of "x", which has extent 4/);
  } finally {
    openByDefault({});
  }
});

test("a file's values win, wherever it is named", () => {
  const path = file('[wasm.step]\nworkers = 1\n\n["wasm:7".step]\nworkers = 99\n');
  const words = ["explain", "heat", "--size", "20", "--iterations", "1", "--devices", "wasm"];
  assert.match(isoform([...words, "--tuning", path, "--tune"]).stdout, /step: tuning: workers 1, as the tuning file asks/);
  process.env.ISOFORM_TUNING = path;
  assert.match(isoform(words).stdout, /step: tuning: workers 1, as the tuning file asks/);
  delete process.env.ISOFORM_TUNING;
  assert.doesNotMatch(isoform(words).stdout, /tuning:/);
});

test("what no launch can be is refused with the kernel, the parameter and what it can be", () => {
  const path = file("[wasm.step]\nworkers = 99\n");
  const { status, stderr } = isoform(["heat", "--size", "20", "--steps", "1", "--tuning", path]);
  assert.equal(status, 2);
  assert.match(stderr, /kernel "step" on wasm, tuning: workers cannot be 99; use one of 1, /);
  assert.match(isoform(["heat", "--tuning", join(folder, "none.toml")]).stderr, /cannot read .*none\.toml: ENOENT/);
});

test("a file that is none is refused with the place", async () => {
  const refused = (text: string, message: RegExp) => assert.rejects(parseTuning(text, "t.toml"), { name: "IsoformError", message });
  await refused("[native.axpy\n", /^t\.toml: /);
  await refused("native = 3", /t\.toml: "native" is not a section; write a section for a device and a kernel, such as \[native\.axpy\]/);
  await refused("[native]\nworkers = 3", /"workers" is in the section \[native\], which holds sections of kernels/);
  await refused("[native.axpy]\nblock = 3", /\[native\.axpy\] has no parameter "block"; choose from scatter, stores/);
  const parsed = await parseTuning('["cuda:0"."A p + p.s"]\nthreads = 128\n', "t.toml");
  assert.equal(JSON.stringify(parsed), '{"cuda:0":{"A p + p.s":{"threads":128}}}');
});
