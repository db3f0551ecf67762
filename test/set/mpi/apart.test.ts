import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { eachLauncher, launch, program, type Ended } from "./launchers.js";

/** The line of rank 0. */
function line({ status, stdout, stderr }: Ended): unknown {
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.split("\n").find((text) => text.startsWith("{"))!);
}

eachLauncher((launcher) => {
  it("skeletons that run at once have one order on all ranks, and halos of random values are their owners'", () => {
    const alone = line(spawnSync(process.execPath, [program("apart"), "js"], { encoding: "utf8" }));
    assert.deepEqual(line(launch(launcher, 2, [program("apart"), "mpi:js"])), alone);
  });
});
