import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { extraIterations, reverseSchedule } from "../../src/gradient/snapshots.js";

/** The same by dynamic programming over all places of the next snapshot. */
function leastExtra(most: number, snapshots: number): number[][] {
  const least = [[], Array.from({ length: most + 1 }, (_, n) => (n * Math.max(0, n - 1)) / 2)];
  for (let s = 2; s <= snapshots; s++) {
    least[s] = [0, 0];
    for (let n = 2; n <= most; n++) {
      let best = Infinity;
      for (let m = 1; m < n; m++) best = Math.min(best, m + least[s - 1][n - m] + least[s][m]);
      least[s][n] = best;
    }
  }
  return least;
}

/** Runs a schedule on numbers in place of states; gives the iterations that it advanced and the snapshots that it had at most. */
function follow(iterations: number, snapshots: number): { advanced: number; most: number } {
  let held: number | undefined = 0;
  let [advanced, most, next] = [0, 0, iterations - 1];
  const saved = new Set<number>();
  for (const action of reverseSchedule(iterations, snapshots))
    switch (action.kind) {
      case "save":
        assert.equal(held, action.at);
        saved.add(action.at);
        most = Math.max(most, saved.size);
        break;
      case "restore":
        assert.ok(saved.has(action.at));
        held = action.at;
        break;
      case "drop":
        assert.ok(saved.delete(action.at));
        break;
      case "advance":
        assert.equal(held, action.from);
        held = action.to;
        advanced += action.to - action.from;
        break;
      case "reverse":
        assert.equal(held, action.at);
        assert.equal(action.at, next--);
        held = undefined;
    }
  assert.equal(next, -1);
  assert.equal(saved.size, 0);
  return { advanced, most };
}

describe("snapshots", () => {
  it("the counts of the literature", () => {
    for (const [n, s, extra] of [
      [100, 5, 316],
      [100, 10, 222],
      [100, 20, 178],
      [100, 100, 99],
      [1000, 20, 2747],
    ])
      assert.equal(extraIterations(n, s), extra);
  });

  it("no schedule is better, by dynamic programming", () => {
    const least = leastExtra(150, 30);
    for (let s = 1; s <= 30; s++) for (let n = 0; n <= 150; n++) assert.equal(extraIterations(n, s), least[s][n], `${n} with ${s}`);
  });

  it("schedules reverse all iterations with these counts", () => {
    for (const [n, s] of [
      [0, 1],
      [1, 1],
      [2, 1],
      [2, 2],
      [10, 3],
      [57, 4],
      [100, 5],
      [100, 100],
      [100, 200],
      [300, 17],
      [1000, 20],
    ]) {
      const { advanced, most } = follow(n, s);
      assert.equal(advanced, extraIterations(n, s), `${n} with ${s}`);
      assert.ok(most <= s);
    }
  });
});
