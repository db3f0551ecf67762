import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { main } from "../../cli/isoform.js";
import { digestsIn } from "./digests.js";
import { eachLauncher, launch, program, type Launcher } from "./launchers.js";

/** Devices, levels of overlap and cases that are tried; `heat` is on a dense grid, `heat/sparse` on another kind. */
const TRIED = [
  { count: 3, spec: "mpi:js", occ: "standard", cases: ["heat", "ring", "life", "poisson", "multigrid", "lbm", "gsr"] },
  { count: 2, spec: "mpi:wasm*2", occ: "two-way", cases: ["heat", "poisson", "heat/sparse", "ring/bricks", "gsr"] },
  { count: 4, spec: "mpi:js", occ: "in-kernel", cases: ["poisson/sparse", "lbm/bricks", "life/sparse", "ring"] },
] as const;

function alone(words: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program("applications"), ...words], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return digestsIn(stdout);
}

function together(launcher: Launcher, count: number, words: readonly string[]): string[] {
  const { status, stdout, stderr } = launch(launcher, count, [program("applications"), ...words], { OMP_NUM_THREADS: "1" });
  assert.equal(status, 0, stderr);
  return digestsIn(stdout);
}

eachLauncher((launcher) => {
  for (const { count, spec, occ, cases } of TRIED)
    it(`applications have the bits of one process on ${count} ranks of ${spec}, occ ${occ}`, () => {
      const expected = alone(["js", "standard", ...cases]);
      assert.equal(expected.length, cases.length);
      assert.deepEqual(together(launcher, count, [spec, occ, ...cases]), expected);
    });

  it("isoform heat prints once, and what one process prints but for times", () => {
    const words = [main, "heat", "--size", "24", "--steps", "30", "--precision", "strict", "--devices"];
    const told = (text: string): string[] =>
      text
        .split(/\r?\n/)
        .filter((line) => /^deviation|steps to t/.test(line))
        .map((line) => line.replace(/ in .*/, ""));
    const one = spawnSync(process.execPath, [...words, "wasm"], { encoding: "utf8" });
    const many = launch(launcher, 3, [...words, "mpi:wasm"]);
    assert.equal(many.status, 0, many.stderr);
    assert.equal(told(many.stdout).length, 2);
    assert.deepEqual(told(many.stdout), told(one.stdout));
  });
});
