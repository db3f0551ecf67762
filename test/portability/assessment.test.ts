import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assess, type Evidence } from "../../src/portability/assessment.js";
import { merge } from "../../src/portability/merge.js";
import { report } from "../../src/portability/report.js";
import { assessmentJsonSchema, assessmentSchema } from "../../src/portability/schema.js";
import { portabilityTable, summaryTable } from "../../src/portability/summary.js";
import { errorText, secondsText, tablesOf, tableText } from "../../src/portability/tables.js";

function evidence(platform: string, seconds: number[]): Evidence {
  const place = { application: `iso<form> on ${platform}`, platform, problem: "gsr 1 GiB" };
  return {
    host: [
      {
        name: `host of ${platform}`,
        system: "Linux",
        processor: "P",
        threads: 2,
        memory: 2 ** 34,
        engine: "Node 20",
        isoform: "0.1.0",
        date: "2025-01-02T03:04:05.000Z",
      },
    ],
    devices: [
      {
        name: "wasm",
        platform,
        backend: "wasm",
        label: platform,
        parallelism: 2,
        peakBandwidth: 1e10,
        peakFlops: 1e10,
        source: "measured",
      },
    ],
    runs: seconds.flatMap((s, i) => [
      { ...place, run: i + 1, quantity: "iteration", seconds: s },
      { ...place, run: i + 1, quantity: "a1Att", seconds: s / 2, bytes: 1e9, flops: 2e8 },
    ]),
    validation: [{ ...place, ok: true, maxError: 1e-12, against: "x = 1" }],
  };
}

test("an assessment fits its own schema, unknown sigmas as null", () => {
  const assessment = assess(evidence("X", [0.5]));
  assert.deepEqual(assessmentSchema.parse(assessment), assessment);
  assert.equal(assessment.metrics[0].sigma, null);
  assert.deepEqual(
    assessment.metrics.map((m) => [m.metric, m.yardstick, m.setName, m.value]),
    [
      ["app", "any", "X", 1],
      ["app", "set", "X", 1],
      ["arch", undefined, "X", 0.4],
    ],
  );
});

test("files of former versions, which call bricks blocks, are read", () => {
  const settings = [{ application: "one", platform: "X", problem: "p", devices: "js", precision: "fast", grid: "blocks" }];
  const { settings: read } = assessmentSchema.parse({ ...assess(evidence("X", [0.5])), settings });
  assert.equal(read?.[0].grid, "bricks");
});

test("the published JSON Schema is the one that the code means", () => {
  const file = new URL("../../../docs/assessment.schema.json", import.meta.url);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(JSON.stringify(assessmentJsonSchema())));
});

test("backends that spell a platform in different ways mean the same one", () => {
  const of = (platform: string) => {
    const { runs, ...rest } = evidence(platform, [1]);
    return { ...rest, runs: runs.map((run) => ({ ...run, application: "isoform-webgpu" })) };
  };
  const both = merge([of("nvidia-h100-80gb-hbm3"), of("NVIDIA H100 80GB HBM3"), of("NVIDIA H200")]);
  assert.deepEqual([...new Set(both.runs.map((r) => r.platform))], ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]);
  assert.deepEqual(
    both.runs.filter((r) => r.quantity === "iteration" && r.platform !== "NVIDIA H200").map((r) => r.run),
    [1, 2],
  );
  assert.deepEqual([...new Set(both.devices.map((d) => d.platform))], ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]);
});

test("a set that names nothing that ran is refused, with what did", () => {
  assert.throws(() => assess(evidence("X", [1]), [{ name: "S", platforms: ["Y"] }]), /set S: nothing ran on Y; choose from X/);
});

test("a problem that is in seconds here and a figure of merit there is refused", () => {
  const scored: Evidence = {
    host: [],
    devices: [],
    validation: [],
    runs: [{ application: "b", platform: "X", problem: "gsr 1 GiB", run: 1, quantity: "iteration", fom: 3, better: "higher" }],
  };
  assert.throws(
    () => assess(merge([evidence("X", [1]), scored])),
    /gsr 1 GiB: iteration of iso<form> on X on X is seconds, and of b on X a figure of merit, the higher the better: give the problems different names/,
  );
});

test("figures of merit stand in JSON, tables and report without a unit", () => {
  const of = (application: string, platform: string, fom: number) =>
    [1, 2].map((run) => ({ application, platform, problem: "p", run, quantity: "iteration", fom: fom + run, better: "higher" as const }));
  const runs = [...of("a", "X", 100), ...of("b", "X", 2e8), ...of("a", "Y", 5)];
  const assessment = assess({ host: [], devices: [], validation: [], runs });
  assert.deepEqual(assessmentSchema.parse(assessment), assessment);
  const [table] = tablesOf(assessment);
  assert.equal(table.title, "Figures of merit: p");
  assert.deepEqual(table.columns, ["platform", "application", "quantity", "runs", "figure, higher is better", "of the best %"]);
  assert.deepEqual(table.rows[0], ["X", "a", "iteration", "2", "101.5 ± 0.71", "0.00"]);
  assert.deepEqual(table.rows[1].slice(4), ["2.0000e+8 ± 0.71", "100.00"]);
  const { title, columns, rows } = summaryTable(assessment);
  assert.equal(title, "Summary: the best path on each platform");
  assert.deepEqual([columns[3], rows[0][2], rows[1][2]], ["iteration or figure of merit", "b", "a"]);
  const html = report(assessment);
  assert.ok(html.includes("figure of merit, higher is better"));
  assert.ok(!/seconds|time of an iteration|NaN|undefined|Infinity| (ms|µs|s)[ <]/.test(html.slice(html.indexOf("<main>"))), html);
});

test("merging numbers the runs of one cell on and keeps everything else", () => {
  const both = merge([evidence("X", [1, 2]), evidence("X", [3]), evidence("Y", [4])]);
  assert.deepEqual(
    both.runs.filter((r) => r.quantity === "iteration").map((r) => [r.platform, r.run]),
    [
      ["X", 1],
      ["X", 2],
      ["X", 3],
      ["Y", 1],
    ],
  );
  assert.equal(
    assess(both)
      .metrics.filter((m) => m.metric === "app")[0]
      .set.join(),
    "X,Y",
  );
});

test("the report stands alone, escapes names and draws cascade and roofline", () => {
  const html = report(assess(merge([evidence("X", [0.5, 0.6]), evidence("Y", [0.4, 0.5])])));
  assert.ok(!/<script|https?:|src=/.test(html));
  assert.ok(!html.includes("iso<form>"));
  assert.ok(html.includes("Application efficiency cascade of gsr 1 GiB on all"));
  assert.ok(html.includes("Roofline of X, gsr 1 GiB"));
  assert.ok(!/NaN|undefined|Infinity/.test(html));
});

test("the report begins with a summary, and each application has a chapter in which platforms keep their letters", () => {
  const other = (platform: string, problem: string): Evidence => {
    const { runs, validation, ...rest } = evidence(platform, [0.5, 0.6]);
    const named = <T extends object>(list: T[]) => list.map((each) => ({ ...each, application: "isoform-js", problem }));
    return { ...rest, runs: named(runs), validation: named(validation) };
  };
  // The first problem runs on X and Y, the second on Y and Z: Y is B in both.
  const parts = [other("X", "gsr 1 GiB"), other("Y", "gsr 1 GiB"), other("Y", "lbm 1 GiB"), other("Z", "lbm 1 GiB")];
  const html = report(assess(merge(parts)));
  const [summary, ...chapters] = html.split('<details class="chapter"');
  assert.ok(summary.includes("Summary: the fastest path on each platform"));
  assert.ok(!summary.includes("Times: "));
  assert.deepEqual(
    chapters.map((text) => /<summary>(\w+)</.exec(text)![1]),
    ["gsr", "lbm"],
  );
  const letters = (text: string) => [...text.matchAll(/under the roofs of ([A-Z]), ([XYZ])</g)].map(([, letter, name]) => letter + name);
  assert.deepEqual(chapters.map(letters), [
    ["AX", "BY"],
    ["BY", "CZ"],
  ]);
  const tile = (text: string, letter: string) => new RegExp(`class="tile (s\\d)"/><text[^>]*>${letter}<`).exec(text)![1];
  assert.deepEqual(
    chapters.map((text) => tile(text, "B")),
    ["s1", "s1"],
  );
});

test("the summary holds the fastest path of each platform against the hand-written program", () => {
  const timed = (application: string, seconds: number): Evidence => {
    const { runs, ...rest } = evidence("X", [seconds, seconds]);
    return { ...rest, validation: [], runs: runs.map((run) => ({ ...run, application })) };
  };
  const { columns, rows } = summaryTable(assess(merge([timed("isoform-js", 1), timed("isoform-wasm", 0.5), timed("handwritten", 0.4)])));
  assert.deepEqual(columns.slice(2), ["path", "iteration", "e_arch %", "hand-written %", "of its speed"]);
  assert.deepEqual(rows, [["gsr 1 GiB", "X", "isoform-wasm", "500.0 ± 0.0 ms", "40.0", "50.0", "0.80"]]);
  assert.deepEqual(summaryTable(assess(timed("isoform-js", 1))).columns, ["problem", "platform", "path", "iteration", "e_arch %"]);
});

test("where one application alone runs on all platforms its application efficiency is left out", () => {
  const of = (platform: string, application: string): Evidence => {
    const { runs, ...rest } = evidence(platform, [1]);
    return { ...rest, validation: [], runs: runs.map((run) => ({ ...run, application })) };
  };
  const alone = [of("X", "isoform-js"), of("Y", "isoform-cuda")];
  assert.deepEqual(portabilityTable(assess(merge(alone))).rows, [["gsr 1 GiB", "all", "2", "isoform", "20.00 ± ?", ""]]);
  const beside = [...alone, of("X", "handwritten"), of("Y", "handwritten")];
  assert.equal(portabilityTable(assess(merge(beside))).rows[0][5].slice(0, 6), "100.00");
});

test("tables line up and say what they mean", () => {
  const times = tablesOf(assess(evidence("X", [0.5, 0.6]))).find((t) => t.title.startsWith("Times"))!;
  assert.deepEqual(times.rows[1].slice(2), ["a1Att", "2", "275.0 ± 35.4 ms", "3.64", "0.727", "", "36.36 ± 4.7"]);
  const lines = tableText(times).split("\n");
  assert.ok(lines.every((l) => l.length <= Math.max(lines[1].length, lines[2].length)));
});

test("the vendor's figures stand beside the measured ones where one is known", () => {
  const gpu = evidence("GPU", [1]);
  gpu.devices[0].theoretical = { bandwidth: 2e10 };
  const devices = (parts: Evidence[]) => tablesOf(assess(merge(parts)))[0];
  assert.deepEqual(devices([evidence("CPU", [1])]).columns, ["device", "platform", "bandwidth GB/s", "GFLOP/s", "source"]);
  const { columns, rows } = devices([evidence("CPU", [1]), gpu]);
  assert.deepEqual(columns, ["device", "platform", "bandwidth GB/s", "vendor's GB/s", "GFLOP/s", "source"]);
  assert.deepEqual(
    rows.map((row) => row.slice(1)),
    [
      ["CPU", "10.0", "", "10.0", "measured"],
      ["GPU", "10.0", "20.0", "10.0", "measured"],
    ],
  );
});

test("errors have two digits", () => {
  assert.deepEqual([0, 0.00123, 0.00999, 0.0759, 0.994, 0.999, 4.68, 46.2, 537].map(errorText), [
    "0",
    "1.2e-3",
    "0.010",
    "0.076",
    "0.99",
    "1.0",
    "4.7",
    "46",
    "537",
  ]);
  assert.equal(errorText(null), "?");
});

test("times take the unit that suits", () => {
  assert.equal(secondsText(0.02051, 0.00012), "20.51 ± 0.12 ms");
  assert.equal(secondsText(2, NaN), "2.000 s");
  assert.equal(secondsText(3.2e-6, 1e-8), "3.200 ± 0.010 µs");
});
