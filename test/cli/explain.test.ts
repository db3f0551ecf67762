import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { f64, sum } from "../../src/index.js";
import { addExplain, type SkeletonModules } from "../../src/cli/explain.js";
import { dense } from "../../src/domain/index.js";
import type { Shell } from "../../src/portability/application.js";
import { skeleton, type SkeletonSettings } from "../../src/skeleton/index.js";

let settings: SkeletonSettings | undefined;

const MODULES: SkeletonModules = {
  blur: async () => ({
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
  await assert.rejects(run("stream"), /"stream" has no sequence of containers to explain; these have: blur/);
  await assert.rejects(run("blur", "--occ", "full"), /Allowed choices are none, standard, extended, two-way, in-kernel, auto/);
  await assert.rejects(run("blur", "--unroll", "0"), /whole number from 1/);
  await assert.rejects(run("blur", "--devices", "js*13", "--size", "4"), /13 members.*4 planes|4 planes/);
});
