import assert from "node:assert/strict";
import { test } from "node:test";
import { assess, type Evidence } from "../../src/portability/assessment.js";
import type { TimedRun } from "../../src/portability/cells.js";
import { codeDivergence, type Coverage } from "../../src/portability/divergence.js";
import { filesOf } from "../../src/portability/handwritten/sources.js";
import { merge } from "../../src/portability/merge.js";
import { report } from "../../src/portability/report.js";
import { assessmentSchema } from "../../src/portability/schema.js";
import { sourceFile } from "../../src/portability/source-files.js";
import { tablesOf } from "../../src/portability/tables.js";

const one = (lines: string, file = "main.c", id = "1") => [{ file, id, lines }];

test("divergence is the mean Jaccard distance of all pairs of platforms", () => {
  // 80 lines of 100, 30 of 100 and 30 of 100 are shared: lines 0-89, 10-99, 0-39.
  const divergence = codeDivergence([one("0-89"), one("10-99"), one("0-39")]);
  assert.ok(Math.abs(divergence - (1 - 80 / 100 + 1 - 40 / 90 + 1 - 30 / 100) / 3) < 1e-15);
  assert.equal(divergence.toFixed(6), "0.485185");
});

test("one platform diverges from none, and equal lines of other files or versions are not shared", () => {
  assert.equal(codeDivergence([one("1-5")]), 0);
  assert.equal(codeDivergence([one("1-5"), one("1,2,3-5")]), 0);
  assert.equal(codeDivergence([one("1-5"), one("1-5", "other.c")]), 1);
  assert.equal(codeDivergence([one("1-5"), one("1-5", "main.c", "2")]), 1);
});

/** Iterations of a second on platforms. */
const runs = (application: string, ...platforms: string[]): TimedRun[] =>
  platforms.map((platform) => ({ application, platform, problem: "q", run: 1, quantity: "iteration", seconds: 1 }));
const covered = (application: string, lines: Readonly<Record<string, string>>): Coverage[] =>
  Object.entries(lines).map(([platform, stretch]) => ({ application, platform, problem: "q", files: one(stretch) }));
const evidence = (all: TimedRun[], coverage: Coverage[] = []): Evidence => ({ host: [], devices: [], validation: [], runs: all, coverage });

test("one source is one application on all platforms: its convergence is 1 without a coverage", () => {
  const { divergences } = assess(
    evidence([...runs("isoform-js", "X", "Y"), ...runs("isoform-emitted-c", "X"), ...runs("other", "X", "Y")]),
  );
  assert.deepEqual(
    divergences!.map((d) => [d.application, d.convergence, d.by, d.set.join()]),
    [
      ["isoform-js", 1, "one source", "X,Y"],
      ["isoform", 1, "one source", "X,Y"],
    ],
  );
});

test("an application whose coverage is known on some platforms only has no divergence, and a note says so", () => {
  const coverage = [...covered("a", { X: "1-4", Y: "3-6" }), ...covered("b", { X: "1-4" })];
  const assessment = assess(evidence([...runs("a", "X", "Y"), ...runs("b", "X", "Y")], coverage));
  assert.deepEqual(assessmentSchema.parse(assessment), assessment);
  assert.deepEqual(
    assessment.divergences!.map((d) => [d.application, d.by, d.convergence.toFixed(4)]),
    [["a", "coverage", "0.3333"]],
  );
  assert.deepEqual(assessment.notes, ["q, all: no code divergence of b, whose coverage on Y is unknown, or differs between runs"]);
  const table = tablesOf(assessment).find(({ title }) => title.startsWith("Code divergence"))!;
  assert.deepEqual([table.title, ...table.rows[0]], ["Code divergence: q, all", "a", "coverage", "2", "66.67", "33.33"]);
});

test("merging keeps coverages, and one that differs between runs is unknown", () => {
  const first = evidence(runs("a", "X"), covered("a", { X: "1-4" }));
  const second = evidence(runs("a", "Y"), covered("a", { Y: "1-8" }));
  assert.equal(assess(merge([first, second, first])).divergences![0].divergence, 0.5);
  const { divergences, notes } = assess(merge([first, second, evidence(runs("a", "X"), covered("a", { X: "1-5" }))]));
  assert.deepEqual(divergences, []);
  assert.match(notes![0], /no code divergence of a, whose coverage on X is unknown, or differs between runs/);
});

/** Centres of the markers of a chart by the words that they show. */
const markersOf = (svg: string): Record<string, string> =>
  Object.fromEntries(
    [...svg.matchAll(/transform="translate\(([\d.,]+)\)" class="marker s\d"><title>([^<]*: convergence[^<]*)</g)].map(([, at, words]) => [
      words.split(":")[0],
      at,
    ]),
  );

test("the navigation chart has a point for each application, and shades the goal", () => {
  const coverage = [...covered("a", { X: "1-4", Y: "3-6" }), ...covered("b", { X: "1", Y: "1" })];
  const slower = runs("b", "X", "Y").map((run) => ({ ...run, seconds: 2 }));
  const assessment = assess(evidence([...runs("a", "X", "Y"), ...slower], coverage));
  const html = report(assessment, { convergence: 0.9, phi: 0.8 });
  const chart = html.slice(html.indexOf("Navigation chart of q on all"));
  // The box goes from 56 to 442 and, downwards, from 30 to 374.
  assert.deepEqual(markersOf(chart), { a: "184.67,30.00", b: "442.00,202.00" });
  assert.match(chart, /<rect x="403.4" y="30" width="38.6" height="68.8" class="goal"\/>/);
  assert.match(chart, />goal 0.9, 0.8</);
  assert.ok(chart.includes(">code convergence<") && chart.includes(">Φ app (any)<"));
  assert.ok(!report(assessment).includes('class="goal"'));
  assert.ok(!report(assess(evidence([...runs("a", "X", "Y"), ...slower]))).includes("Navigation"));
});

test("lines of a program's files are the ones with code, and a program in C and in CUDA shares its headers", () => {
  assert.deepEqual(sourceFile("a.c", "/* one\n two */\nint a; // three\n\n  // four\nint b;").lines, "3,6");
  const [onHost, onGpu] = (["c", "cuda"] as const).map((language) =>
    [...filesOf("gsr", language)].map(([file, text]) => sourceFile(file, text)),
  );
  assert.deepEqual(onHost.map(({ file }) => file).sort(), ["assessed/gsr.c", "assessed/gsr.h", "assessed/program.h", "gsr.c"]);
  const divergence = codeDivergence([onHost, onGpu]);
  assert.ok(divergence > 0.5 && divergence < 1, String(divergence));
});
