import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assessmentSchema } from "../../src/portability/schema.js";
import { missing } from "../emit/standalone/compiled.js";
import { isoform } from "./isoform.js";

test("two applications run on js and wasm, are right, and are assessed", () => {
  const directory = mkdtempSync(join(tmpdir(), "isoform-measure-"));
  try {
    const words = [
      "assess",
      "gsr",
      "stream",
      "--devices",
      "js,wasm",
      "--quick",
      "--gib",
      "0.01",
      "--repeats",
      "2",
      "--iterations",
      "2",
      "--no-handwritten",
      "--json",
      "out.json",
    ];
    const { status, stdout, stderr } = isoform(words, directory);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^Phi: gsr 0\.01 GiB/m);
    const { devices, runs, metrics, kernels, validation } = assessmentSchema.parse(
      JSON.parse(readFileSync(join(directory, "out.json"), "utf8")),
    );
    assert.deepEqual(
      devices.map((d) => d.name),
      ["js", "wasm"],
    );
    const quantities = ["iteration", "a1Astro", "a1Att", "a1Instr", "a2Astro", "a2Att", "a2Instr", "copy", "mul", "add", "triad", "dot"];
    // gsr in its fastest form is a code path of its own, with kernels under its name.
    const found = [...new Set(runs.map((r) => r.quantity))];
    assert.deepEqual(found.filter((name) => !name.startsWith("fused ")).sort(), quantities.sort());
    const ofForm = found.length - quantities.length;
    assert.ok(ofForm > 8, found.join());
    assert.deepEqual(
      [...new Set(runs.filter((r) => r.quantity === "fused sweep").map((r) => r.application))],
      ["isoform-js-fused", "isoform-wasm-fused"],
    );
    assert.equal(metrics.length, 18, "three applications and forms, two devices, two metrics, one of them by two yardsticks");
    assert.equal(kernels.length, 2 * (6 + 5 + ofForm), "six kernels and five and the form's, two devices");
    assert.ok(validation.length >= 4 && validation.every((v) => v.ok));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("emitted files and hand-written programs run the applications, too", { skip: missing("gcc") }, () => {
  const directory = mkdtempSync(join(tmpdir(), "isoform-measure-"));
  try {
    const words = "assess stream poisson --devices js --ports c,omp-target --quick --gib 0.002 --iterations 2 --json out.json".split(" ");
    const { status, stderr } = isoform(words, directory);
    assert.equal(status, 0, stderr);
    const { devices, validation, missing: refused } = assessmentSchema.parse(JSON.parse(readFileSync(join(directory, "out.json"), "utf8")));
    assert.deepEqual(
      devices.map((d) => d.name),
      ["js", "emitted-c", "emitted-omp-target"],
    );
    assert.match(devices[2].label, /OpenMP target regions on the host/);
    assert.equal(new Set(devices.map((d) => d.platform)).size, 1);
    assert.deepEqual([...new Set(validation.map((v) => `${v.application} ${v.ok}`))].sort(), [
      "handwritten true",
      "isoform-emitted-c true",
      "isoform-emitted-omp-target true",
      "isoform-js true",
    ]);
    assert.deepEqual(refused, []);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a device that is not there and a problem that does not fit are refused", () => {
  for (const [message, ...words] of [
    [/device "gpu": there is no such device/, "assess", "--devices", "js,gpu"],
    [/option '--ports <names>' argument 'c,cobol' is invalid\. Choose from c, omp-target, openacc, /, "assess", "--ports", "c,cobol"],
    [/a system of 100000 GiB: it can have from 0\.001 to 460 GiB/, "assess", "gsr", "--devices", "js", "--gib", "100000"],
  ] as const) {
    const { status, stdout, stderr } = isoform(words);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, message);
    assert.ok(!/\n\s+at /.test(stderr), stderr);
  }
});

test("the kind of grid, the layout, the devices and the overlap are options, and fields of the report", () => {
  const directory = mkdtempSync(join(tmpdir(), "isoform-options-"));
  try {
    const words = "assess poisson lbm --devices js,js*2 --quick --gib 0.0005 --repeats 1 --iterations 2 --json out.json --report out.html";
    const options = "--grid sparse --layout auto --occ two-way --precision strict --no-handwritten";
    const { status, stdout, stderr } = isoform([...words.split(" "), ...options.split(" ")], directory);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^Settings\n/m);
    const { settings, validation } = assessmentSchema.parse(JSON.parse(readFileSync(join(directory, "out.json"), "utf8")));
    assert.ok(validation.length === 4 && validation.every(({ ok }) => ok));
    assert.deepEqual(
      settings!.map((s) => [s.application, s.devices, s.grid, s.occ, s.precision]),
      ["js", "js*2", "js", "js*2"].map((set) => [`isoform-${set}-strict-sparse-auto-layout-two-way`, set, "sparse", "two-way", "strict"]),
    );
    const [poisson, , lbm] = settings!;
    assert.deepEqual([poisson.layout, poisson.choices], ["soa", []], "fields of one component have no layout");
    assert.deepEqual(Object.keys(lbm.choices![0].seconds), ["sparse soa", "sparse aos"]);
    assert.equal(`sparse ${lbm.layout}`, lbm.choices![0].best);
    assert.match(readFileSync(join(directory, "out.html"), "utf8"), /<caption>Settings<\/caption>/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
