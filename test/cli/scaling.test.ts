import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { isoform } from "./isoform.js";

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-scaling-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};
const STUDY = ["scaling", "heat", "--strong", "24", "--ranks", "1,2", "--devices", "js*{n}", "--extrapolate", "4", "--repeats", "1"];

describe("isoform scaling", () => {
  it("writes its prediction and prints its hash before it measures, and goes on from there", (t) => {
    const folder = folderOf(t);
    const first = isoform([...STUDY, "--output", "out"], folder);
    assert.equal(first.status, 0, first.stderr);
    const text = readFileSync(join(folder, "out", "prediction.json"));
    const hash = createHash("sha256").update(text).digest("hex");
    assert.equal(first.stdout.split("\n")[0], `predicted ${join("out", "prediction.json")}, SHA-256 ${hash}`);
    const { points, extrapolated } = JSON.parse(text.toString());
    assert.deepEqual(
      [...points, ...extrapolated].map(({ mode, ranks }: { mode: string; ranks: number }) => `${mode} ${ranks}`),
      ["strong 1", "strong 2", "strong 4"],
    );
    const results = () => JSON.parse(readFileSync(join(folder, "out", "results.json"), "utf8"));
    const { prediction, samples } = results();
    assert.equal(prediction, hash);
    assert.deepEqual(
      Object.values(samples as number[][]).map((list) => list.length),
      [1, 1],
    );
    assert.match(readFileSync(join(folder, "out", "scaling.svg"), "utf8"), /^<svg /);
    // One more run of each point; the prediction stays, and so do the runs.
    const second = isoform([...STUDY.slice(0, -1), "2", "--output", "out"], folder);
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stdout, new RegExp(`^goes on with the prediction in .*${hash}\n`));
    assert.deepEqual(readFileSync(join(folder, "out", "prediction.json")), text);
    const more = results().samples as Record<string, number[]>;
    for (const [name, [run]] of Object.entries(samples as Record<string, number[]>)) {
      assert.equal(more[name].length, 2);
      assert.equal(more[name][0], run);
    }
    const other = isoform([...STUDY, "--strong", "32", "--output", "out"], folder);
    assert.equal(other.status, 2);
    assert.match(other.stderr, /belongs to a study with other options: name another --output/);
    writeFileSync(join(folder, "out", "results.json"), `{ "prediction": "${hash}", "samples": { "strong 1": [null] } }`);
    const damaged = isoform([...STUDY, "--output", "out"], folder);
    assert.equal(damaged.status, 2);
    assert.match(damaged.stderr, /results\.json is damaged: remove it, to measure again, or name another --output/);
  });

  it("predicts and measures boxes that are cut along y", (t) => {
    const folder = folderOf(t);
    const study = ["scaling", "poisson", "--strong", "16", "--ranks", "1,2", "--split", "y", "--devices", "js*{n}", "--extrapolate", "3", "--repeats", "1"]; // prettier-ignore
    const { status, stderr } = isoform([...study, "--output", "out"], folder);
    assert.equal(status, 0, stderr);
    const { request, points, inputs, leftOut } = JSON.parse(readFileSync(join(folder, "out", "prediction.json"), "utf8"));
    assert.equal(request.settings.split, "y");
    assert.deepEqual(
      points.map(({ ranks, extents }: { ranks: number; extents: number[] }) => [ranks, extents.join()]),
      [
        [1, "16,16,16"],
        [2, "16,16,16"],
      ],
    );
    // Half of the rows of 16 planes are as many cells as 8 planes.
    assert.ok("16 x 8" in inputs.kernels);
    assert.match(leftOut["strong 3"], /16 rows for 3 members, which begin at multiples of 8 rows/);
  });

  it("predicts and measures an application that divides its work without a grid", (t) => {
    const folder = folderOf(t);
    const study = ["scaling", "gsr", "--weak", "0.002", "--ranks", "1,2", "--devices", "js*{n}", "--extrapolate", "4,1000000", "--repeats", "1"]; // prettier-ignore
    const { status, stdout, stderr } = isoform([...study, "--output", "out"], folder);
    assert.equal(status, 0, stderr);
    const { points, counted, inputs, leftOut } = JSON.parse(readFileSync(join(folder, "out", "prediction.json"), "utf8"));
    assert.deepEqual(
      points.map(({ ranks, planes }: { ranks: number; planes: number }) => [ranks, planes]),
      [
        [1, 0.002],
        [2, 0.004],
      ],
    );
    assert.ok(points[1].extents[0] > 1.9 * points[0].extents[0]);
    assert.deepEqual([counted, Object.keys(inputs.kernels)], ["rows", ["1 of 1, 0.002 GiB", "1 of 2, 0.004 GiB", "1 of 4, 0.008 GiB"]]);
    assert.match(leftOut["weak 1000000"], /2000 GiB/);
    assert.match(stdout, /scaling +rows +ranks/);
    assert.match(stdout, /weak +\d+ +2 .*\n/);
    assert.equal(Object.keys(JSON.parse(readFileSync(join(folder, "out", "results.json"), "utf8")).samples).length, 2);
  });

  it("refuses bad input with status 2", (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "links.json"), '{ "node": {} }');
    for (const [words, message] of [
      [["scaling", "stream", "--strong", "24"], /stream runs on one device: there is nothing to predict for more/],
      [["scaling", "none", "--strong", "24"], /"none" is not an application that scales; these are: elasticity, gsr, /],
      [["scaling", "heat", "--strong", "2.5"], /--strong 2\.5: a box has a whole number of cells along each axis/],
      [["scaling", "heat", "--strong", "24", "--form", "fused"], /--form: heat has one form; leave the option out/],
      [["scaling", "gsr", "--strong", "1", "--layout", "aos"], /--layout: gsr has no grid; leave the option out/],
      [["scaling", "gsr", "--strong", "1", "--form", "round"], /--form round: gsr has the forms paper, .*, fastest\n/],
      [["scaling", "gsr", "--strong", "1", "--form", "paper"], /--form paper: gsr has it on one device alone; choose another/],
      [["scaling", "heat"], /give --strong or --weak/],
      [["scaling", "heat", "--strong", "24", "--ranks", "1,x"], /whole numbers from 1, separated by commas/],
      [["scaling", "heat", "--strong", "24", "--launch", "mpirun -n 2"], /write \{n\}/],
      [["scaling", "heat", "--strong", "24", "--links", "hdr"], /give --ranks-per-node as well/],
      [["scaling", "heat", "--strong", "24", "--links", "links.json", "--ranks-per-node", "4"], /links\.json: "node" has no bandwidth/],
      [["scaling", "heat", "--strong", "24", "--grid", "sparse"], /--grid sparse: plans for many ranks are made of dense grids only/],
      [
        ["scaling", "poisson", "--strong", "4", "--ranks", "64,128", "--output", "none"],
        /no point of the study can run \(strong 64: 4 planes leave fewer than 5 to a rank; strong 128: .*\): give a larger problem, or smaller --ranks/,
      ],
      [
        ["scaling", "gsr", "--weak", "0.001", "--ranks", "1000000", "--devices", "js*{n}", "--output", "none"],
        /no point of the study can run \(weak 1000000: .*\): give/,
      ],
      [["scaling-part", "{}"], /takes what isoform scaling gives it/],
    ] as const) {
      const { status, stderr } = isoform(words, folder);
      assert.equal(status, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, message);
    }
    assert.ok(!existsSync(join(folder, "none")));
  });

  it("says which part failed, and what it said", (t) => {
    const folder = folderOf(t);
    const { status, stderr } = isoform(
      ["scaling", "heat", "--strong", "24", "--launch", "no-such-launcher {n}", "--devices", "mpi:js", "--repeats", "1"],
      folder,
    );
    assert.equal(status, 2);
    assert.match(stderr, /cannot start no-such-launcher: .*is it installed/);
  });
});

describe("isoform explain --as-ranks", () => {
  it("plans 4096 ranks of lbm, with work for each rank and not for each pair", () => {
    const { status, stdout, stderr } = isoform(["explain", "lbm", "--as-ranks", "4096", "--bandwidth", "20", "--format", "json"]);
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout);
    assert.equal(report.ranks, 4096);
    // Three populations go each way between 4095 pairs.
    assert.equal(report.together.messages, 2 * 3 * 4095);
    assert.ok(report.efficiency > 0.5 && report.efficiency <= 1, `${report.efficiency}`);
  });

  it("shows messages of a first, an inner and a last rank", () => {
    const { stdout } = isoform(["explain", "heat", "--as-ranks", "4", "--size", "64", "--format", "messages", "--bandwidth", "20"]);
    assert.equal(stdout, "from to bytes task\n0 1 512 halo u\n1 0 512 halo u\n1 2 512 halo u\n3 2 512 halo u\n");
  });

  it("shows messages of reductions: partials of divided groups, then log2(ranks) rounds of values", () => {
    const words = ["explain", "poisson", "--as-ranks", "3", "--strong", "--size", "20", "--bandwidth", "20", "--precision", "strict"];
    const { stdout } = isoform([...words, "--format", "messages"]);
    const lines = stdout.split("\n").filter((line) => line.endsWith("collect ps"));
    // 400 partials in two groups: of planes 0 to 6, 7 to 12 and 13 to 19.
    assert.deepEqual(lines, [
      "1 0 928 collect ps",
      "2 1 1120 collect ps",
      "0 1 8 collect ps",
      "1 2 8 collect ps",
      "0 2 8 collect ps",
      "1 0 8 collect ps",
    ]);
  });

  it("plans ranks that are cut along y, or y and z, with messages along both axes", () => {
    const words = ["explain", "poisson", "--as-ranks", "6", "--size", "64", "--bandwidth", "20", "--links", "hdr"];
    const { stdout } = isoform([...words, "--split", "yz", "--format", "messages"]);
    const lines = stdout.split("\n").filter((line) => line.endsWith("halo r"));
    // Two ranks along y by three along z: 64 planes of a row of 64 cells, and planes of 64 rows.
    const rows = ["0 1", "1 0", "2 3", "3 2", "4 5", "5 4"].map((pair) => `${pair} 32768 halo r`);
    const planes = ["0 2", "1 3", "2 0", "2 4", "3 1", "3 5", "4 2", "5 3"];
    assert.deepEqual(lines.filter((line) => line.includes("32768")).sort(), rows);
    const others = lines.filter((line) => !line.includes("32768"));
    assert.deepEqual(others.map((line) => line.split(" ").slice(0, 2).join(" ")).sort(), planes);
    const text = isoform([...words, "--split", "y"]).stdout;
    assert.match(text, /64 x 384 x 64 cells, 6 ranks along y by 1 along z, up to 64 rows of 64 planes a rank/);
    const strong = isoform([...words, "--split", "y", "--strong", "--size", "32"]);
    assert.equal(strong.status, 2);
    assert.match(strong.stderr, /32 rows for 6 members, which begin at multiples of 8 rows/);
  });

  it("refuses what it cannot plan", () => {
    for (const [words, message] of [
      [["explain", "heat", "--links", "hdr"], /--links is for plans of many ranks: give --as-ranks/],
      [["explain", "heat", "--format", "json"], /give --as-ranks/],
      [["explain", "heat", "--as-ranks", "4", "--format", "svg"], /choose text, json, messages/],
      [["explain", "heat", "--as-ranks", "4", "--devices", "wasm,js"], /--devices wasm,js: plans for many ranks are made on one device/],
      [["explain", "heat", "--as-ranks", "4", "--occ", "auto"], /--occ auto: plans for many ranks need a level of overlap/],
      [["explain", "heat", "--as-ranks", "4", "--links", "nvlink-h100", "--bandwidth", "20"], /the links have no "network"/],
      [["explain", "heat", "--as-ranks", "64", "--strong", "--size", "64", "--bandwidth", "20"], /64 ranks on 64 planes: a rank needs 5/],
      [["explain", "heat", "--as-ranks", "0"], /whole number from 1/],
      [["explain", "elasticity", "--planes", "9", "--size", "8"], /elasticity has cubes only/],
      [["explain", "heat", "--dimension", "3"], /boxes of 2 dimensions only/],
    ] as const) {
      const { status, stderr } = isoform(words);
      assert.equal(status, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, message);
    }
  });
});
