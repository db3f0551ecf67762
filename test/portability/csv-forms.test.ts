/* One table in the forms in which files come has the same figures in each. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { assess, published } from "../../src/portability/assessment.js";
import { readTimings } from "../../src/portability/published.js";
import type { ReadingOptions } from "../../src/portability/read-rows.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-forms-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Figures of three programs on three platforms; X is not measured. */
const WIDE = [
  ["platform", "A", "B", "C"],
  ["P1", "8", "6", "X"],
  ["P2", "5", "10", "4"],
  ["P3", "9", "3", "12"],
];
/** The same with a row for each measurement. */
const LONG = [
  ["problem", "platform", "application", "fom"],
  ...WIDE.slice(1).flatMap(([platform, ...values]) => values.map((value, a) => ["q", platform, WIDE[0][a + 1], value])),
];

const text = (rows: readonly (readonly string[])[], separator = ",", end = "\n") => rows.map((row) => row.join(separator) + end).join("");
const renamed = LONG.map((row, r) => (r === 0 ? ["name", "arch", "language", "fom"] : row));
const inSeconds = LONG.map((row, r) => (r === 0 ? ["problem", "platform", "application", "seconds"] : row));
const spaced = WIDE.map((row) => row.map((field) => `  ${field} `));
const padded = WIDE.map((row) => row.map((field) => field.padEnd(12)));

/** Files by names of their forms, with the options that they need. */
const FORMS: Readonly<Record<string, { text: string; options?: ReadingOptions; lower?: true }>> = {
  "q-wide": { text: text(WIDE) },
  "wide, by name": { text: text(WIDE), options: { problem: "q" } },
  "wide, semicolons": { text: text(WIDE, ";"), options: { problem: "q" } },
  "wide, tabs": { text: text(WIDE, "\t"), options: { problem: "q" } },
  "wide, spaces": { text: text(spaced), options: { problem: "q" } },
  "wide, columns of spaces and tabs": { text: text(padded, "\t"), options: { problem: "q" } },
  "wide, first column without a name": { text: text(WIDE).replace("platform", ""), options: { problem: "q" } },
  "wide, missing as NA": { text: text(WIDE).replace("X", "NA"), options: { problem: "q" } },
  "wide, missing as NaN": { text: text(WIDE).replace("X", "NaN"), options: { problem: "q" } },
  "wide, missing as -": { text: text(WIDE).replace("X", "-"), options: { problem: "q" } },
  "wide, missing as nothing": { text: text(WIDE).replace("X", ""), options: { problem: "q" } },
  long: { text: text(LONG) },
  "long, CRLF": { text: text(LONG, ",", "\r\n") },
  "long, CR": { text: text(LONG, ",", "\r") },
  "long, byte order mark": { text: `\ufeff${text(LONG)}` },
  "long, comments and empty lines": { text: `# measured in May\n\n${text(LONG, ",", "\n#, more\n  \n")}` },
  "long, no last line end": { text: text(LONG).trimEnd() },
  "long, quotes": {
    text: text(
      LONG.map((row) => row.map((field) => `"${field}"`)),
      "; ",
    ),
  },
  "long, columns in another order, and others": {
    text: text(LONG.map(([problem, ...rest], r) => [r === 0 ? "date" : "2026-05-01", ...rest, problem])),
  },
  "long, other names": { text: text(renamed), options: { columns: { problem: "name", platform: "arch", application: "language" } } },
  "long, without missing rows": { text: text(LONG.filter((row) => !row.includes("X"))) },
  "long, seconds": { text: text(inSeconds), lower: true },
};

describe("one table in several forms", () => {
  const figuresOf = async (name: string, better: "lower" | "higher") => {
    const { text: content, options, lower } = FORMS[name];
    const path = file(`${name}.csv`, content);
    const evidence = await published(path, undefined, { ...options, ...(!lower && { fom: better }) });
    const { metrics } = assess(evidence);
    assert.ok(metrics.every(({ problem }) => problem === (name === "q-wide" ? name : "q")));
    return Object.fromEntries(
      metrics.map((m) => [
        `${m.application} ${m.yardstick}`,
        `${(100 * m.value).toFixed(4)} (${(100 * m.supported!.value).toFixed(4)} on ${m.supported!.platforms})`,
      ]),
    );
  };
  const HIGHER = {
    "A any": "69.2308 (69.2308 on 3)",
    "B any": "47.3684 (47.3684 on 3)",
    "C any": "0.0000 (57.1429 on 2)",
    "A set": "75.0000 (75.0000 on 3)",
    "B set": "56.2500 (56.2500 on 3)",
    "C set": "0.0000 (57.1429 on 2)",
  };
  const LOWER = {
    "A any": "53.7313 (53.7313 on 3)",
    "B any": "66.6667 (66.6667 on 3)",
    "C any": "0.0000 (40.0000 on 2)",
    "A set": "56.2500 (56.2500 on 3)",
    "B set": "75.0000 (75.0000 on 3)",
    "C set": "0.0000 (40.0000 on 2)",
  };
  for (const name of Object.keys(FORMS))
    it(name, async () => {
      assert.deepEqual(await figuresOf(name, "lower"), LOWER);
      if (!FORMS[name].lower) assert.deepEqual(await figuresOf(name, "higher"), HIGHER);
    });
});

describe("rows of one cell", () => {
  it("are runs, numbered in order, in long and in wide tables", async () => {
    const long = file("runs.csv", "problem,platform,application,seconds\nq,X,a,1\nq,X,b,4\nq,X,a,3\n");
    const runsOf = async (path: string, options: ReadingOptions) =>
      (await readTimings(path, options)).runs.map(({ application, run, quantity }) => `${application} ${quantity} ${run}`);
    const expected = ["a iteration 1", "b iteration 1", "a iteration 2"];
    assert.deepEqual(await runsOf(long, {}), expected);
    const wide = file("runs-wide.csv", "platform,a,b\nX,1,4\nX,3,X\n");
    assert.deepEqual(await runsOf(wide, { fom: "lower" }), expected);
    const [mean] = assess(await published(wide, undefined, { fom: "higher", problem: "q" })).metrics;
    // a: mean 2 with sigma sqrt(2), b: 4 of one run.
    assert.deepEqual([mean.application, mean.value], ["a", 0.5]);
  });

  it("have the mean of rates, not of their reciprocals, and its spread", async () => {
    const path = file("rates.csv", "platform,a,b\nX,1,4\nX,3,6\n");
    const [a, b] = assess(await published(path, undefined, { fom: "higher" })).metrics;
    assert.equal(a.value, 2 / 5);
    const relative = [Math.SQRT2 / 2, Math.SQRT2 / 5];
    assert.ok(Math.abs(a.sigma! - a.value * Math.hypot(...relative)) < 1e-15);
    assert.deepEqual([b.value, b.sigma], [1, Math.hypot(relative[1], relative[1])]);
  });
});

describe("cells without a value", () => {
  it("are listed as missing with their place, and a platform on which nobody ran leaves the set with a note", async () => {
    const path = file("gaps.csv", "platform,a,b\nX,1,2\nY,X,3\nZ,X,-\n");
    const { missing, notes, metrics } = assess(await published(path, undefined, { fom: "lower" }));
    assert.deepEqual(
      missing!.map(({ application, platform, reason }) => `${application} ${platform} ${reason.replace(folder, "")}`),
      ["a Y not measured: /gaps.csv:3:3 says X", "a Z not measured: /gaps.csv:4:3 says X", "b Z not measured: /gaps.csv:4:5 says -"],
    );
    assert.deepEqual(notes, ["gaps, set all: nobody ran it on Z, left out of the set"]);
    assert.deepEqual(metrics[0].set, ["X", "Y"]);
    const asked = assess(await published(path, undefined, { fom: "lower" }), [{ name: "S", platforms: ["Y", "Z"] }]);
    assert.deepEqual(asked.metrics[0].set, ["Y"]);
    assert.deepEqual(asked.notes, ["gaps, set S: nobody ran it on Z, left out of the set"]);
  });

  it("of some runs only are left out of the mean", async () => {
    const path = file("run-gaps.csv", "problem,platform,application,run,seconds\nq,X,a,1,1\nq,X,a,2,NA\nq,X,a,3,3\n");
    const { runs, missing } = await readTimings(path);
    assert.deepEqual(
      runs.map(({ run }) => run),
      [1, 3],
    );
    assert.deepEqual(missing, []);
  });
});
