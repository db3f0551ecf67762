/* The metrics beside p3-analysis-library's. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { assess, published } from "../../src/portability/assessment.js";
import { DIRECTIONS, type Direction } from "../../src/portability/cells.js";
import { P3, p3, phisOf, withoutP3 } from "./p3.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-p3-"));
after(() => rmSync(folder, { recursive: true }));

const TOLERANCE = 1e-12;

/** Figures of merit by platform and application; undefined is not measured. */
type Figures = (number | undefined)[][];
const figures: fc.Arbitrary<Figures> = fc
  .record({ platforms: fc.integer({ min: 1, max: 7 }), applications: fc.integer({ min: 1, max: 6 }) })
  .chain(({ platforms, applications }) => {
    const value = fc.option(fc.double({ min: 1e-3, max: 1e3, noNaN: true }), { nil: undefined, freq: 4 });
    const row = fc.array(value, { minLength: applications, maxLength: applications });
    return fc.array(row, { minLength: platforms, maxLength: platforms });
  })
  .filter((rows) => rows.flat().some((value) => value !== undefined));

function write(name: string, header: string, rows: readonly (readonly unknown[])[]): string {
  const path = join(folder, name);
  writeFileSync(path, [header, ...rows.map((row) => row.join(","))].join("\n"));
  return path;
}

/** Rows for p3, which refuses missing values where higher is better, and takes platforms on which nothing ran for unsupported. */
function rowsFor(rows: Figures, better: Direction): unknown[][] {
  return rows.flatMap((row, p) => {
    if (row.every((value) => value === undefined)) return [];
    return row.flatMap((value, a) => (value === undefined && better === "higher" ? [] : [["t", `P${p}`, `A${a}`, value ?? ""]]));
  });
}

describe("p3-analysis-library", { skip: withoutP3 }, () => {
  for (const better of DIRECTIONS)
    it(`100 random tables, ${better} is better: the same Phi`, async () => {
      const tables = fc.sample(figures, { numRuns: 100, seed: better === "lower" ? 1 : 2 });
      const wide = tables.map((rows, n) =>
        write(
          `wide-${better}-${n}.csv`,
          ["platform", ...rows[0].map((_, a) => `A${a}`)].join(","),
          rows.map((row, p) => [`P${p}`, ...row.map((value) => value ?? "X")]),
        ),
      );
      const theirs = p3(
        folder,
        tables.map(
          (rows, n) => [write(`long-${better}-${n}.csv`, "problem,platform,application,fom", rowsFor(rows, better)), better] as const,
        ),
      );
      let [compared, missing] = [0, 0];
      for (const [n, file] of wide.entries()) {
        const ours = phisOf(assess(await published(file, undefined, { fom: better, problem: "t" })));
        for (const [name, value] of Object.entries(theirs[n])) {
          // Applications without any value are not programs of ours, and 0 there.
          const own = ours[name] ?? 0;
          assert.ok(Math.abs(own - value) <= TOLERANCE, `${file} ${name}: ${own}, p3 has ${value}`);
          compared++;
        }
        assert.ok(Object.keys(ours).every((name) => name in theirs[n]));
        missing += tables[n].flat().filter((value) => value === undefined).length;
      }
      assert.ok(compared > 200 && missing > 100, `${compared} values, ${missing} missing`);
    });

  it("50 random coverages: the same code divergence", async () => {
    const lines = fc
      .record({ first: fc.integer({ min: 0, max: 40 }), length: fc.integer({ min: 1, max: 60 }), step: fc.constantFrom(1, 1, 2) })
      .map(({ first, length, step }) => Array.from({ length }, (_, n) => first + step * n));
    const coverage = fc.array(fc.record({ file: fc.constantFrom("a", "b"), id: fc.constantFrom("1", "2"), used_lines: lines }), {
      minLength: 1,
      maxLength: 3,
    });
    const tables = fc.sample(fc.array(coverage, { minLength: 1, maxLength: 6 }), { numRuns: 50, seed: 3 });
    const files = tables.map((platforms, n) =>
      write(
        `coverage-${n}.csv`,
        "problem,platform,application,fom,coverage",
        platforms.map((traces, p) => {
          const text = JSON.stringify(traces.map((one) => ({ ...one, unused_lines: [] })));
          return ["t", `P${p}`, "A", 1, `"${text.replaceAll('"', '""')}"`];
        }),
      ),
    );
    const theirs = p3(
      folder,
      files.map((file) => [file, ""] as const),
    );
    for (const [n, file] of files.entries()) {
      const [{ divergence }] = assess(await published(file, undefined, { fom: "lower" })).divergences!;
      assert.ok(Math.abs(divergence - theirs[n]["t/A"]) <= TOLERANCE, `${file}: ${divergence}, p3 has ${theirs[n]["t/A"]}`);
    }
    assert.ok(theirs.some((one) => one["t/A"] > 0.1 && one["t/A"] < 0.9));
  });

  it("its case study BabelStream: one language of five runs everywhere", async () => {
    const study = join(P3!, "case-studies/babelstream");
    const options = {
      fom: "higher",
      columns: { problem: "name", platform: "arch", application: "language" },
      coverage: join(study, "coverage.csv"),
    } as const;
    const { metrics, divergences } = assess(await published(join(study, "performance.csv"), undefined, options));
    const percent = metrics.filter((m) => m.yardstick === "any").map((m) => [m.application, (100 * m.value).toFixed(2)]);
    assert.deepEqual(Object.fromEntries(percent), {
      "Language 0": "95.15",
      "Language 1": "0.00",
      "Language 2": "0.00",
      "Language 3": "0.00",
      "Language 4": "0.00",
    });
    assert.deepEqual(
      divergences!.filter((d) => d.divergence > 0).map((d) => d.application),
      ["Language 0"],
    );
    assert.ok(readFileSync(join(study, "performance.csv"), "utf8").startsWith(","));
  });
});
