import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { f64, sum } from "../../src/index.js";
import { addExplain } from "../../src/cli/explain.js";
import { APPLICATIONS } from "../../src/cli/commands.js";
import { dense } from "../../src/domain/index.js";
import type { Shell } from "../../src/portability/application.js";
import { skeleton, type SkeletonSettings } from "../../src/skeleton/index.js";

let settings: SkeletonSettings | undefined;

const MODULES: Parameters<typeof addExplain>[2] = {
  stream: APPLICATIONS.stream,
  gsr: APPLICATIONS.gsr,
  blur: {
    skeleton: async () => ({
      makeSkeleton: (set, given) => {
        settings = given;
        const grid = dense(set, [8, given.size ?? 12]);
        const [a, b] = [grid.field("a", f64), grid.field("b", f64)];
        const total = grid.scalar("total", f64);
        const blur = grid.container("blur", { a, b }, ({ a, b }, c) => {
          b[c] = 0.5 * (a.at(c, 0, 1) + a.at(c, 0, -1));
        });
        const back = grid.container("back", { a, b, total: sum(total) }, ({ a, b, total }, c) => {
          a[c] = 0.5 * b[c];
          total.add(a[c]);
        });
        a.fill(1);
        const { occ, precision, fuse, unroll } = given;
        return skeleton(set, "blur", [blur, back], { occ, precision, fuse, unroll });
      },
    }),
  },
};

/** What `isoform explain` prints and writes. */
async function run(...words: string[]): Promise<{ printed: string; written: Map<string, string> }> {
  const printed: string[] = [];
  const written = new Map<string, string>();
  const shell: Shell = {
    print: (text) => void printed.push(text),
    progress: () => ({ update: () => {}, done: () => {} }),
    endWith: () => assert.fail(),
    interruption: () => assert.fail(),
    checkOutputs: async () => {},
    writeFile: async (path, text) => void written.set(path, text),
  };
  const program = new Command("isoform").exitOverride().configureOutput({ writeErr: () => {} });
  addExplain(program, shell, MODULES);
  await program.parseAsync(["explain", ...words], { from: "user" });
  return { printed: printed.join("\n"), written };
}

test("explains an application's plan, with its timeline", async () => {
  const { printed } = await run("blur", "--devices", "js*3", "--occ", "two-way", "--no-fuse", "--precision", "strict");
  assert.match(printed, /^skeleton "blur" on js\*3: OCC two-way, strict, one iteration per plan\n/);
  for (const line of ["blur.internal -> back.internal  read after write of b", "blur reads neighbours of a, whose halos are stale"])
    assert.ok(printed.includes(line), line);
  assert.match(printed, /\nplanned: .*\n(.*\n)+measured: /);
  const { grid, layout, occ, fuse, unroll, precision } = settings!;
  assert.deepEqual([grid, layout, occ, fuse, unroll, precision], ["dense", "soa", "two-way", false, 1, "strict"]);
});

test("writes pictures and traces to files", async () => {
  for (const [format, start] of [
    ["dot", /^digraph "blur"/],
    ["svg", /^<svg /],
    ["timeline", /^<svg /],
    ["trace", /^\{"traceEvents":\[/],
  ] as const) {
    const { printed, written } = await run("blur", "--devices", "js*2", "--format", format, "--output", "out", "--iterations", "1");
    assert.equal(printed, "");
    assert.match(written.get("out")!, start);
  }
});

test("refuses what it does not know", async () => {
  await assert.rejects(run("rest"), /"rest" has nothing to explain; these applications have: stream, gsr, blur/);
  await assert.rejects(run("blur", "--occ", "full"), /Allowed choices are none, standard, extended, two-way, in-kernel, auto/);
  await assert.rejects(run("blur", "--unroll", "0"), /whole number from 1/);
  await assert.rejects(run("blur", "--devices", "js*13", "--size", "4"), /13 members.*4 planes|4 planes/);
});

test("explains the launches of an iteration: what they read and write, their work, and how the device runs them", async () => {
  const { printed } = await run("stream", "--devices", "js", "--gib", "0.001", "--iterations", "2", "--precision", "strict");
  const elements = Math.round((0.001 * 2 ** 30) / 24);
  assert.match(printed, /^stream 0\.001 GiB on js \(.*\), strict\nan iteration is 5 launches: [\d.]+ MB, [\d.]+ kFLOP\n/);
  const [n] = /range of (\d+)/.exec(printed)!.slice(1).map(Number);
  assert.ok(Math.abs(n - elements) < 0.01 * elements, `${n}`);
  const triad = printed.split("\n\n").find((text) => text.startsWith("4. triad"))!;
  assert.match(
    triad,
    new RegExp(`range of ${n}, strict, ${Number(((24 * n) / 1e6).toPrecision(4))} MB, ${Number(((2 * n) / 1e3).toPrecision(4))} kFLOP\n`),
  );
  assert.match(triad, new RegExp(`\n   reads    b f64\\[${n}\\], c f64\\[${n}\\]\n   writes   a f64\\[${n}\\]`));
  assert.match(printed, /5\. dot: .*\n.*reads .*\n   sums up  result/);
  assert.match(printed, /measured, means of 2 iterations\n {2}iteration +[\d.]+ ms +[\d.]+ GB\/s\n {2}copy /);
});

test("a form has its own launches; each use of an array is told", async () => {
  const [paper, gathered] = [
    await run("gsr", "--devices", "js", "--gib", "0.001", "--iterations", "0"),
    await run("gsr", "--devices", "js", "--gib", "0.001", "--iterations", "0", "--form", "gathered"),
  ].map(({ printed }) => printed);
  assert.doesNotMatch(paper, /a1Glob/);
  assert.match(paper, /^gsr 0\.001 GiB, form paper on js /);
  const { printed: global } = await run("gsr", "--devices", "js", "--gib", "0.001", "--iterations", "0", "--global", "1");
  assert.match(global, /^gsr 0\.001 GiB, global section, form paper on js /);
  for (const name of ["a1Glob", "a2Glob"]) assert.match(global, new RegExp(`^\\d+\\. ${name}: range of \\d+, `, "m"));
  await assert.rejects(run("stream", "--global", "1"), /--global: stream has no global section; leave the option out/);
  assert.match(gathered, /^gsr 0\.001 GiB, form gathered on js /);
  const a2Att = paper.split("\n\n").find((text) => /^\d+\. aprod2 Kernel att|a2Att/.test(text))!;
  assert.match(a2Att, /\n   adds to +v f64\[/);
  assert.ok(!gathered.includes("a2Att") && !gathered.includes("measured"));
  assert.match(gathered, /\n   gathers +/);
});

test("launches and containers have options of their own", async () => {
  await assert.rejects(run("gsr", "--occ", "none"), /--occ is for a sequence of containers: gsr has launches, leave it out/);
  await assert.rejects(run("gsr", "--no-fuse"), /--no-fuse is for a sequence of containers/);
  await assert.rejects(run("gsr", "--format", "dot"), /--format dot shows containers: gsr has launches, take text/);
  await assert.rejects(run("gsr", "--form", "folded"), /--form folded: gsr has the forms paper, fused, .*, fastest/);
  await assert.rejects(run("stream", "--form", "fused"), /--form: stream has one form/);
  await assert.rejects(run("blur", "--form", "fused"), /--form is for applications of launches: leave it out for blur/);
});
