import assert from "node:assert/strict";
import { it } from "node:test";
import { eachLauncher, launch, program, type Launcher } from "./launchers.js";

/** All cells of the rod, in the order of the ranks. */
function rod(launcher: Launcher, count: number): string {
  const { status, stdout, stderr } = launch(launcher, count, [program("heat")]);
  assert.equal(status, 0, stderr);
  const pieces = [...stdout.matchAll(/^piece (\d+): (.*?)\r?$/gm)].map(([, rank, cells]) => ({ rank: Number(rank), cells }));
  assert.equal(pieces.length, count, stdout);
  return pieces
    .sort((a, b) => a.rank - b.rank)
    .map(({ cells }) => cells)
    .join();
}

eachLauncher((launcher) => {
  it("a program that sends halos of its own has the same bits on 1, 2 and 4 ranks", () => {
    const alone = rod(launcher, 1);
    assert.equal(alone.split(",").length, 64);
    for (const count of [2, 4]) assert.equal(rod(launcher, count), alone, `${count} ranks`);
  });
});
