import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { assessmentSchema } from "../../src/portability/schema.js";
import { isoform } from "./isoform.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-failures-"));
after(() => rmSync(folder, { recursive: true }));

test("devices that fail are named with the reason in text, JSON and report, the others are measured, and the exit code is 1", () => {
  const backend = fileURLToPath(new URL("broken-backend.js", import.meta.url));
  const words = [
    "--backend",
    backend,
    "assess",
    "stream",
    "gsr",
    "--devices",
    "wrong:0,wrong:1,js",
    "--gib",
    "0.002",
    "--quick",
    "--no-handwritten",
  ];
  const { status, stdout, stderr } = isoform([...words, "--json", "out.json", "--report", "out.html"], folder);
  assert.equal(status, 1, stderr);
  const { runs, missing } = assessmentSchema.parse(JSON.parse(readFileSync(join(folder, "out.json"), "utf8")));
  assert.deepEqual(
    [...new Set(runs.map((run) => `${run.application} ${run.problem}`))],
    ["isoform-js stream 0.002 GiB", "isoform-js gsr 0.002 GiB", "isoform-js-fused gsr 0.002 GiB"],
  );
  const reasons = missing!.map(({ devices, problem, reason, failed }) => [devices, problem, reason.replace(/gave.*/, "..."), failed]);
  const untrue = 'device "wrong:0": it fails the self-test: a kernel over elements ...';
  const lost = "TypeError: the driver is lost";
  assert.deepEqual(reasons, [
    ["wrong:0", "stream 0.002 GiB", untrue, true],
    ["wrong:1", "stream 0.002 GiB", lost, true],
    ["wrong:0", "gsr 0.002 GiB", untrue, true],
    // Each form that was tried.
    ["wrong:1", "gsr 0.002 GiB", lost, true],
    ["wrong:1", "gsr 0.002 GiB", lost, true],
  ]);
  const html = readFileSync(join(folder, "out.html"), "utf8");
  for (const text of [stdout.slice(stdout.lastIndexOf("Missing")), html.slice(html.indexOf("<caption>Missing"))])
    for (const reason of ["it fails the self-test", "TypeError: the driver is lost"]) assert.ok(text.includes(reason), text);
  assert.match(stderr, /^isoform: failed, with the reason under Missing: [^\n]*\n$/m);
  assert.doesNotMatch(stderr, /^ {4}at /m);
});
