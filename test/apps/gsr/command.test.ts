import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const isoform = (...words: string[]) => run(process.execPath, [main, ...words]);
const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-"));
after(() => rm(folder, { recursive: true }));

test("isoform gsr solves the system and writes JSON", async () => {
  const file = join(folder, "gsr.json");
  const { stdout } = await isoform(
    "gsr",
    "--generator",
    "parallel",
    "--gib",
    "0.002",
    "--devices",
    "js",
    "--iterations",
    "40",
    "--precision",
    "strict",
    "--form",
    "paper",
    "--json",
    file,
  );
  assert.match(stdout, /stopped after 40 iterations: the iteration limit was reached \(istop 7\)/);
  assert.match(stdout, /x\[0\] = (1\.0|0\.9)/);
  for (const name of ["a1Astro", "a1Att", "a1Instr", "a2Astro", "a2Att", "a2Instr"]) assert.match(stdout, new RegExp(`^${name} +\\d`, "m"));
  const result = JSON.parse(await readFile(file, "utf8"));
  assert.equal(result.solution.istop, 7);
  assert.ok(result.deviation.rms < 0.1);
  assert.equal(result.kernels.find((k: { name: string }) => k.name === "a1Att").flops, 25 * result.shape.observations);
});

test("isoform gsr --global 1 has the global section's kernels and unknown, in a checkpoint too", async () => {
  const [file, state] = ["global.json", "global.state"].map((name) => join(folder, name));
  const words = ["--generator", "parallel", "--gib", "0.002", "--devices", "js", "--form", "paper"];
  const { stdout } = await isoform(
    "gsr",
    ...words,
    "--global",
    "1",
    "--iterations",
    "8",
    "--json",
    file,
    "--checkpoint",
    state,
    "--every",
    "4",
  );
  for (const name of ["a1Glob", "a2Glob", "addGlobal"]) assert.match(stdout, new RegExp(`^${name} +\\d`, "m"));
  const { shape, kernels, options } = JSON.parse(await readFile(file, "utf8"));
  assert.deepEqual([shape.globals, options.globals], [1, 1]);
  assert.equal(kernels.find((k: { name: string }) => k.name === "a1Glob").bytes, 24 * shape.observations + 8);
  const resumed = await isoform("gsr", "--restart", state, "--devices", "js", "--iterations", "12");
  assert.match(resumed.stdout, /^a1Glob +\d/m);
  await assert.rejects(
    isoform("gsr", "--restart", state, "--devices", "js", "--global", "0"),
    /the checkpoint was made with --global 1: leave --global out, or start anew/,
  );
});

test("isoform gsr takes the fastest form where none is asked for", async () => {
  const { stdout } = await isoform("gsr", "--generator", "parallel", "--gib", "0.002", "--devices", "js", "--iterations", "2");
  assert.match(stdout, /parallel generator, fused form/);
});

test("isoform gsr solves a scanning system by default, and probes give its errors", async () => {
  const file = join(folder, "scanning.json");
  const words = ["--stars", "20", "--years", "1", "--known", "truth", "--devices", "wasm", "--errors", "probes", "6", "--seed", "3"];
  const page = join(folder, "sky.html");
  const { stdout } = await isoform("gsr", ...words, "--no-kernels", "--json", file, "--report", page);
  const html = await readFile(page, "utf8");
  assert.equal(html.match(/<svg /g)!.length, 5);
  // 20 stars in maps of errors and of deviations, and the report in words.
  assert.equal(html.match(/>20 points; /g)!.length, 4);
  assert.ok(html.includes("standard errors are good to 29 %") && html.includes(">attitude<"));
  assert.match(stdout, /scanning generator, fused form, fast: 20 stars, \d+ observations/);
  assert.match(stdout, /\d+ transits \(\d+ left out\); attitude: \d+ splines an axis, knots of \d+ s/);
  assert.match(stdout, /blocks of the instrument have left the system: large scale, along scan, \d+ CCDs/);
  assert.match(stdout, /the least-squares solution is reached within atol \(istop 2\)/);
  assert.match(stdout, /standard error, 6 probes, \d/);
  assert.match(stdout, /standard errors are good to 29 %/);
  assert.match(stdout, /stars +\d+ .*as the errors say/);
  const { scanning, verdicts, errors, shape } = JSON.parse(await readFile(file, "utf8"));
  assert.equal(errors.label, "standard error, 6 probes,");
  assert.deepEqual(
    verdicts.map(({ section }: { section: string }) => section),
    ["stars", "attitude", "instrument", "gamma"],
  );
  assert.equal(verdicts[0].unknowns + verdicts[0].undetermined, 5 * shape.stars);
  assert.ok(scanning.leftBlocks.length > 0);
});

test("isoform gsr --robust, --out and compare", async () => {
  const words = [
    "--stars",
    "20",
    "--years",
    "1",
    "--known",
    "truth",
    "--outliers",
    "0.01",
    "--robust",
    "--devices",
    "wasm",
    "--no-kernels",
  ];
  const [a, b] = ["a.json", "b.json"].map((name) => join(folder, name));
  const { stdout } = await isoform("gsr", ...words, "--out", a);
  assert.match(stdout, /weights, turn 1: residuals deviate by \d\.\d+, weights change by /);
  await isoform("gsr", ...words, "--form", "gathered", "--out", b);
  const compared = await isoform("gsr", "compare", a, b, "--report", join(folder, "pairs.svg"));
  assert.match(compared.stdout, /the solutions agree/);
  assert.match(await readFile(join(folder, "pairs.svg"), "utf8"), /^<svg/);
  await isoform("gsr", "compare", a, b, "--report", join(folder, "pairs.html"));
  assert.match(await readFile(join(folder, "pairs.html"), "utf8"), /^<!doctype html>[^]*the solutions agree[^]*<figure><svg /);
});

const WRITTEN = new Set([
  "gsr.json",
  "global.json",
  "global.state",
  "global.state.previous",
  "scanning.json",
  "a.json",
  "b.json",
  "pairs.svg",
  "pairs.html",
  "sky.html",
]);

const BAD: [words: string[], message: RegExp][] = [
  [["--devices", "abacus"], /"abacus"/],
  [["--gib", "-1"], /greater than 0/],
  [["--gib", "nothing"], /number/],
  [["--gib", "1e-6"], /too few observations/],
  [["--gib", "0.001", "--devices", "js"], /\d stars leave unknowns undetermined: ask for 20 or more/],
  [["--generator", "parallel", "--gib", "100000", "--devices", "js"], /needs 90000 GiB of memory, and js has/],
  [
    ["--generator", "parallel", "--gib", "5", "--devices", "wasm"],
    /needs \d\.\d+ GiB of memory, and wasm has \d(\.\d+)? GiB: choose a smaller --gib/,
  ],
  [["--gib", "5", "--devices", "wasm"], /40,000 stars in .* years needs \d\.\d+ GiB of memory.*choose fewer --stars or --years/],
  [["--gib", "5", "--stars", "400"], /'--gib <size>' cannot be used with option '--stars <n>'/],
  [["--stars", "3", "--devices", "js"], /3 stars leave unknowns undetermined: ask for 20 or more/],
  [["--years", "0.5", "--devices", "js"], /0\.5 years: parallaxes and motions need from 1 to 20 years/],
  [["--pixels", "3", "--devices", "js"], /3 pixel columns: a CCD has from 4 to 1966/],
  [["--pixels", "many"], /whole number/],
  [["--outliers", "0.01", "--devices", "js"], /outliers need known terms with noise: take --known truth/],
  [["--outliers", "1"], /from 0 to below 1/],
  [
    ["--stars", "40", "--years", "1", "--knot", "685", "--devices", "js"],
    /knots of 685 s see 0\.0\d transits each: 40 stars in 1 years need \d+0,000 s or more/,
  ],
  [["--stars", "40", "--years", "1", "--axes", "satellite", "--devices", "js"], /axes need knots of 1000 s or less/],
  [["--no-frame", "--errors", "probes", "--devices", "js"], /the frame is free: errors of six directions are infinite; leave --frame on/],
  [["--errors", "probes", "1", "--devices", "js"], /1 probes give no errors: probes need 2 or more/],
  [["--errors", "guess"], /It needs lsqr, probes, or probes and their number/],
  [["--generator", "parallel", "--known", "truth"], /--known is for --generator scanning, and this is --generator parallel: leave it out/],
  [
    ["--global", "1"],
    /--global is for systems of random coefficients, and scanning has PPN gamma always: leave it out, or add --generator/,
  ],
  [["--generator", "parallel", "--global", "2"], /It needs 0 or 1/],
  [["--system", "missing.h5", "--global", "1"], /--global is not for --system, whose file has the rows of the system: leave it out/],
  [["--generator", "published", "--global", "1", "--gib", "0.56", "--devices", "js"], /no size of 0\.56 GiB: ask for --gib 0\.574 or more/],
  [["--generator", "parallel", "--robust"], /--robust is for --generator scanning/],
  [["compare", "a.json"], /gsr compare needs the files of two solutions, and got 1/],
  [["compare", "a.json", "b.json"], /cannot read a\.json/],
  [["guess"], /compare/],
  [["--report", join(folder, "r.svg"), "--devices", "js"], /--report .*r\.svg: it is a page, so end its name in \.html/],
  [["--generator", "published", "--no-frame"], /--no-frame is for --generator scanning/],
  [["--generator", "dice"], /scanning, parallel, published/],
  [["--generator", "published", "--devices", "js"], /no size of 0\.25 GiB: ask for --gib 0\.556 or more, or for --generator parallel/],
  [["--iterations", "1.5"], /whole number/],
  [["--json", join(folder, "missing", "gsr.json"), "--devices", "abacus"], /cannot write .*missing.gsr\.json: there is no directory/],
];

for (const [words, message] of BAD)
  test(`isoform gsr ${words.join(" ").replace(folder, "")} says what is wrong and exits with 2`, async () => {
    await assert.rejects(isoform("gsr", ...words), (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, message);
      assert.equal(error.code, 2);
      return true;
    });
    assert.ok((await readdir(folder)).every((name) => WRITTEN.has(name)));
  });
