import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { deviceNames } from "../../../src/device/open.js";
import { OCC_LEVELS } from "../../../src/skeleton/plan/occ.js";
import { digests, eachLauncher, launch, program } from "./launchers.js";

/*
 * Totals of reductions in fast mode, which GPUs of one node exchange by writing to each other's memory.
 */

const gpus = await deviceNames("cuda").then(
  ({ length }) => length,
  () => 0,
);
const without = gpus < 2 && `there are ${gpus} GPUs of cuda, not 2`;
const expected = (occ: string): unknown =>
  digests(spawnSync(process.execPath, [program("totals"), "js", occ, "5"], { encoding: "utf8" })).all;

eachLauncher((launcher) => {
  it("nothing of a process is beside its fold that waits for others", () => {
    const { status, stdout, stderr } = launch(launcher, 3, [program("fold-order"), "mpi:js"]);
    assert.equal(status, 0, stderr);
    const counts = stdout
      .split("\n")
      .filter((line) => line.startsWith("folds of rank"))
      .map((line) => Number(line.split(": ")[1]));
    assert.deepEqual(counts, Array<number>(3).fill(2 * 3 * OCC_LEVELS.length));
  });

  it("totals of integers are those of one process", () => {
    const found = digests(launch(launcher, 3, [program("totals"), "mpi:wasm", "two-way", "5"]));
    assert.equal(found.all, expected("two-way"));
  });

  for (const occ of OCC_LEVELS)
    it(`totals that GPUs exchange are those of one process, with occ ${occ}`, { skip: without }, () => {
      for (const [by, env] of [
        ["IPC", {}],
        ["NCCL", { ISOFORM_IPC: "off" }],
      ] as const)
        assert.deepEqual(digests(launch(launcher, 2, [program("totals"), "mpi:cuda", occ, "5"], env)), {
          all: expected(occ),
          totals: by,
        });
    });
});
