import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { assessmentSchema } from "../../src/portability/schema.js";
import { isoform as run } from "./isoform.js";

const directory = mkdtempSync(join(tmpdir(), "isoform-cli-"));
after(() => rmSync(directory, { recursive: true }));

const isoform = (...words: string[]) => run(words, directory);

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return name;
}

/** Exit code 2, one line of message, no stack, and nothing new in the directory. */
function refuses(message: RegExp, ...words: string[]): void {
  const before = readdirSync(directory);
  const { status, stdout, stderr } = isoform(...words);
  assert.equal(status, 2, stderr);
  assert.match(stderr, message);
  assert.ok(!/\n\s+at /.test(stderr), stderr);
  assert.equal(stdout, "");
  assert.deepEqual(readdirSync(directory), before);
}

const HEADER = "application,platform,problem,run,quantity,seconds,bytes\n";
const GOOD = `${HEADER}a,X,p,1,iteration,2,\na,X,p,1,k,1,1e9\nb,X,p,1,iteration,4,\nb,X,p,1,k,2,1e9\na,Y,p,1,iteration,3,\na,Y,p,1,k,1,1e9\n`;

test("published timings become tables, JSON and a report", () => {
  const csv = file("good.csv", GOOD);
  const bandwidth = file("bandwidth.csv", "platform,bytes_per_second\nX,2e9\nY,2e9\n");
  const { status, stdout, stderr } = isoform(
    "assess",
    "--from",
    csv,
    "--bandwidth",
    bandwidth,
    "--set",
    "both=X,Y",
    "--set",
    "one=X",
    "--json",
    "out.json",
    "--report",
    "out.html",
  );
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /Phi: p, both \(X, Y\)\napplication  Phi_arch %  Phi_app any %  Phi_app set %  runs on .*  Phi_app any there %\n.*\na\s+50\.00 ± \?\s+100\.00 ± \?\s+100\.00 ± \?\s+2 of 2 .*\nb\s+0\.00 ± 0\s+0\.00 ± 0\s+0\.00 ± 0\s+1 of 2\s+25\.00 ± \?\s+50\.00 ± \?/,
  );
  const json = assessmentSchema.parse(JSON.parse(readFileSync(join(directory, "out.json"), "utf8")));
  assert.deepEqual(
    json.metrics.filter((m) => m.yardstick === "any").map((m) => [m.setName, m.application, m.value]),
    [
      ["both", "a", 1],
      ["both", "b", 0],
      ["one", "a", 1],
      ["one", "b", 0.5],
    ],
  );
  assert.match(readFileSync(join(directory, "out.html"), "utf8"), /^<!doctype html>/);
  rmSync(join(directory, "out.html"));

  const merged = isoform("assess", "--merge", "out.json", "out.json", "--json", "merged.json");
  assert.equal(merged.status, 0, merged.stderr);
  assert.equal(JSON.parse(readFileSync(join(directory, "merged.json"), "utf8")).runs.length, 2 * json.runs.length);
});

test("a file without the quantity that is compared, or with another spelling of it, is refused, and nothing is written", () => {
  const total = `application,platform,problem,run,quantity,seconds\na,X,p,1,total,2\nb,X,p,1,total,4\n`;
  file("tot.csv", total);
  refuses(
    /tot\.csv: no row has the quantity "iteration": it has total; name one with --quantity, such as --quantity total/,
    "assess",
    "--from",
    "tot.csv",
    "--report",
    "no.html",
  );
  file("mixed.csv", total.replace("total,2", "Total,2"));
  refuses(
    /mixed\.csv:2:\d+: quantity "Total" differs from "total" in its letters' case only/,
    "assess",
    "--from",
    "mixed.csv",
    "--quantity",
    "total",
  );
  refuses(/--quantity is for timings from --from: add that, or leave it out/, "assess", "--quantity", "total");
  const { status, stdout } = isoform("assess", "--from", "tot.csv", "--quantity", "total", "--yardstick", "set");
  assert.equal(status, 0);
  assert.match(stdout, /b\s+50\.00 ± \?\s+50\.00 ± \?/);
});

test("tables of others are read by their names of columns, with figures of merit, coverage and a goal", () => {
  const trace = (lines: number[]) =>
    `"${JSON.stringify([{ file: "f", id: "1", used_lines: lines, unused_lines: [] }]).replaceAll('"', '""')}"`;
  file("theirs.tsv", "name\tarch\tlanguage\tfom\tcoverage_key\nq\tX\ta\t8\tk1\nq\tY\ta\t5\tk2\nq\tX\tb\t6\tk1\nq\tY\tb\tX\tk1\n");
  file("coverage.csv", `coverage_key,coverage\nk1,${trace([1, 2, 3])}\nk2,${trace([2, 3, 4])}\n`);
  const columns = "problem=name,platform=arch,application=language";
  const words = ["--from", "theirs.tsv", "--columns", columns, "--fom", "higher", "--coverage", "coverage.csv", "--goal", "0.4,0.9"];
  const { status, stdout, stderr } = isoform("assess", ...words, "--report", "theirs.html", "--json", "theirs.json");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /a\s+100\.00 ± \?\s+100\.00 ± \?\s+2 of 2/);
  assert.match(stdout, /Code divergence: q, all\n.*\n.*\na\s+coverage\s+2\s+50\.00\s+50\.00\n/);
  assert.match(stdout, /Missing\n.*\n.*\nb\s+Y\s+q\s+Y\s+not measured: theirs\.tsv:5:7 says X/);
  assert.ok(!stdout.includes("Figures of merit: q"), stdout);
  assert.ok(readFileSync(join(directory, "theirs.html"), "utf8").includes(">goal 0.4, 0.9<"));
  const json = assessmentSchema.parse(JSON.parse(readFileSync(join(directory, "theirs.json"), "utf8")));
  assert.deepEqual(json.coverage![0].files, [{ file: "f", id: "1", lines: "1-3" }]);
  const merged = isoform("assess", "--merge", "theirs.json", "out.json");
  assert.equal(merged.status, 0, merged.stderr);
  assert.match(merged.stdout, /Figures of merit: q\n/);
  assert.match(merged.stdout, /Code divergence: q, all/);
});

test("a wide table needs a direction, and names its problem", () => {
  const wide = file("wide.csv", "Device, A, B\n\n# the first\nP1, 100, 80\nP2, 50, 200\nP3, X, X\n");
  refuses(/wide\.csv has figures of merit: say --fom lower or --fom higher/, "assess", "--from", wide, "--json", "no.json");
  const { status, stdout } = isoform("assess", "--from", wide, "--fom", "higher", "--problem", "triad");
  assert.equal(status, 0);
  assert.match(stdout, /^Phi: triad, all \(P1, P2\)/);
  assert.match(stdout, /A\s+40\.00 ± \?\s+40\.00 ± \?[^]*B\s+88\.89 ± \?\s+88\.89 ± \?/);
  assert.match(stdout, /Note: triad, set all: nobody ran it on P3, left out of the set\n$/);
});

test("options for tables are refused where they have no meaning", () => {
  for (const [option, value] of Object.entries({ columns: "problem=name", problem: "q", fom: "lower", coverage: "coverage.csv" }))
    refuses(new RegExp(`--${option} is for timings from --from: add that, or leave it out`), "assess", `--${option}`, value);
  const wide = file("wide2.csv", "Device,A\nP1,1\n");
  refuses(/--goal is for the report's navigation charts: add --report/, "assess", "--from", wide, "--fom", "lower", "--goal", "0.9,0.8");
  for (const goal of ["0.9", "0.9,x", "1.2,0.5", "0.1,0.2,0.3", ",0.5"])
    refuses(/It needs two shares from 0 to 1, such as 0\.9,0\.8/, "assess", "--from", wide, "--goal", goal);
  refuses(/Allowed choices are lower, higher/, "assess", "--from", wide, "--fom", "better");
  for (const columns of ["problem", "problem=", "=name"]) refuses(/It needs COLUMN=NAME/, "assess", "--from", wide, "--columns", columns);
  refuses(/A column is named twice/, "assess", "--from", wide, "--columns", "problem=a,problem=b");
  refuses(/set S: nothing ran on P2; choose from P1/, "assess", "--from", wide, "--fom", "lower", "--set", "S=P1,P2");
});

test("bad timings are refused with file, line and column", () => {
  refuses(/missing\.csv: there is no such file/, "assess", "--from", "missing.csv", "--json", "no.json");
  refuses(
    /no column "seconds"/,
    "assess",
    "--from",
    file("column.csv", "application,platform,problem,run,quantity\na,X,p,1,k\n"),
    "--json",
    "no.json",
  );
  refuses(
    /negative\.csv:2:19: seconds is -1: it must be greater than 0/,
    "assess",
    "--from",
    file("negative.csv", `${HEADER}a,X,p,1,iteration,-1,\n`),
    "--report",
    "no.html",
  );
  refuses(
    /nan\.csv:2:19: no row has a value of "iteration": this is the first of 1/,
    "assess",
    "--from",
    file("nan.csv", `${HEADER}a,X,p,1,iteration,NaN,\n`),
  );
  refuses(
    /twice\.csv:3:7: run 1 of iteration \(a, X, p\) is already in line 2/,
    "assess",
    "--from",
    file("twice.csv", `${HEADER}a,X,p,1,iteration,1,\na,X,p,1,iteration,1,\n`),
  );
  refuses(
    /uncounted\.csv:3:\d+: kernel k2 has no bytes/,
    "assess",
    "--from",
    file("uncounted.csv", `${HEADER}a,X,p,1,k,1,5\na,X,p,1,k2,1,\n`),
  );
  refuses(/the file has no timings/, "assess", "--from", file("empty.csv", HEADER));
});

test("bandwidths must be there for every platform with kernels", () => {
  const csv = file("good2.csv", GOOD);
  refuses(/the bandwidth of Y is missing/, "assess", "--from", csv, "--bandwidth", file("short.csv", "platform,bytes_per_second\nX,2e9\n"));
  refuses(/no column "bytes_per_second"/, "assess", "--from", csv, "--bandwidth", file("wrong.csv", "platform,speed\nX,2e9\n"));
});

test("options that make no sense are refused", () => {
  const csv = file("good3.csv", GOOD);
  refuses(/unknown application "heat": choose from .*gsr, .*stream/, "assess", "heat");
  refuses(/unknown option '--speed'/, "assess", "--speed", "3");
  refuses(/'--repeats <n>' argument '0' is invalid/, "assess", "--repeats", "0");
  refuses(/'--gib <size>' argument '-1' is invalid/, "assess", "--gib", "-1");
  refuses(/'--set <name=platforms>' argument 'X,Y' is invalid/, "assess", "--from", csv, "--set", "X,Y");
  refuses(/set S: nothing ran on Z; choose from X, Y/, "assess", "--from", csv, "--set", "S=Z");
  refuses(/set S: nothing ran on NOPE; choose from X, Y/, "assess", "--from", csv, "--set", "S=X,NOPE");
  const measuring = [
    "--devices js",
    "--gib 1",
    "--repeats 3",
    "--iterations 3",
    "--precision strict",
    "--grid sparse",
    "--layout aos",
    "--occ none",
    "--global 1",
    "--counters",
    "--quick",
  ];
  for (const source of ["--from", "--merge"])
    for (const option of measuring) refuses(/cannot be used with option/, "assess", source, csv, ...option.split(" "));
  refuses(/--bandwidth needs --from/, "assess", "--bandwidth", csv);
  process.env.ISOFORM_NCU = "/nowhere";
  refuses(
    /none was found in \/nowhere, which ISOFORM_NCU names: .* or leave --counters out/,
    "assess",
    "stream",
    "--devices",
    "js",
    "--counters",
  );
  refuses(/assess-counters takes what isoform assess gives it/, "assess-counters", "{}");
  refuses(/--global: stream has no global section; leave the option out/, "assess", "stream", "--devices", "js", "--global", "1");
  refuses(/--grid: gsr has no grid; leave the option out/, "assess", "gsr", "--devices", "js", "--grid", "sparse");
  refuses(/--form: stream has one form; leave the option out/, "assess", "stream", "--devices", "js", "--form", "fused");
  refuses(
    /--form quick: gsr has the forms paper, fused, sorted, gathered, ordered, fastest, all/,
    "assess",
    "gsr",
    "--devices",
    "js",
    "--form",
    "quick",
  );
  refuses(/stream runs on one device, and js\*2 has 2 members/, "assess", "stream", "--devices", "js*2");
  refuses(/Allowed choices are dense, sparse, bricks, auto/, "assess", "poisson", "--grid", "round");
  refuses(/unknown command 'asses'/, "asses");
  refuses(/unknown command 'lbmm'[^]*Did you mean lbm\?/, "lbmm");
});

test("merging refuses what is no assessment", () => {
  refuses(/text\.json: this is not JSON/, "assess", "--merge", file("text.json", "hello"));
  refuses(/other\.json: schema: /, "assess", "--merge", file("other.json", "{}"));
});

test("an output that cannot be written is refused before the work", () => {
  const csv = file("good4.csv", GOOD);
  mkdirSync(join(directory, "taken"));
  refuses(/cannot write nowhere\/out\.json/, "assess", "--from", csv, "--json", "nowhere/out.json");
  // A device that does not exist would be found out first if it were opened first.
  for (const application of ["gsr", "stream"])
    refuses(/cannot write nowhere\/out\.json: there is no/, application, "--devices", "abacus", "--json", "nowhere/out.json");
  refuses(/cannot write taken: it is a directory/, "assess", "--from", csv, "--report", "taken");
});

test("help and version", () => {
  assert.match(isoform("assess", "--help").stdout, /--devices <names>/);
  assert.match(isoform("--version").stdout, /^\d+\.\d+\.\d+\n$/);
});
