import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isoform } from "./isoform.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-cli-profile-"));
after(() => rmSync(folder, { recursive: true }));

test("--profile prints a table with the share of the roofline, and --profile-json writes it", () => {
  const json = join(folder, "profile.json");
  const { status, stdout, stderr } = isoform([
    ..."stream --gib 0.001 --iterations 3 --device js --profile --profile-json".split(" "),
    json,
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^js: .*; roofs [\d.]+ GB\/s, [\d.]+ GFLOP\/s; 3 arrays/m);
  // Six figures: total, mean, least, GB/s, GFLOP/s, roofline.
  assert.match(stdout, /^triad +js +3 +3( +[\d.]+){6}$/m);
  const { rows } = JSON.parse(readFileSync(json, "utf8")) as { rows: { label: string; roofline?: number; count: number }[] };
  const dot = rows.find(({ label }) => label === "dot");
  assert.ok(dot && dot.count === 3 && dot.roofline! > 0);
});

test("--profile-trace writes launches of graphs, and measures no peaks", () => {
  const trace = join(folder, "trace.json");
  const { status, stdout, stderr } = isoform(["heat", "--size", "20", "--steps", "12", "--profile-trace", trace]);
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stdout + stderr, /peaks|roof/);
  const { traceEvents } = JSON.parse(readFileSync(trace, "utf8")) as { traceEvents: { name: string; cat?: string; dur?: number }[] };
  assert.ok(traceEvents.some(({ name, cat, dur }) => cat === "graph" && name.startsWith("graph of step") && dur! > 0));
});

test("--profile-graphs apart has a row for each kernel", () => {
  const json = join(folder, "apart.json");
  const { status, stderr } = isoform(
    "heat --size 20 --steps 12 --devices js*2 --profile-graphs apart --profile-trace".split(" ").concat(json),
  );
  assert.equal(status, 0, stderr);
  const { traceEvents } = JSON.parse(readFileSync(json, "utf8")) as { traceEvents: { name: string; cat?: string }[] };
  assert.ok(traceEvents.filter(({ name, cat }) => name === "step" && cat === "kernel").length >= 24);
  assert.ok(traceEvents.every(({ cat }) => cat !== "graph"));
});

test("a file that cannot be written is refused before the work, and NVTX that is missing is named", () => {
  const refused = isoform(["heat", "--size", "20", "--profile-trace", join(folder, "none", "trace.json")]);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /cannot write .*trace\.json/);
  assert.equal(refused.stdout, "");
  process.env.ISOFORM_NVTX = join(folder, "none.so");
  const { status, stderr } = isoform(["heat", "--size", "20", "--steps", "1", "--nvtx"]);
  delete process.env.ISOFORM_NVTX;
  assert.equal(status, 0, stderr);
  assert.match(stderr, /no ranges, NVTX: .*none\.so, which ISOFORM_NVTX names|koffi/);
});
