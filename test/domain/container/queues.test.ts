import assert from "node:assert/strict";
import { it } from "node:test";
import { f64 } from "isoform";
import { Runs } from "../../../src/domain/container/runs.js";
import { dense } from "../../../src/domain/index.js";
import { jsSet } from "../sets.js";

it("containers run, and halos are copied, in the first queue of each member, in which the caller's work is ordered", async () => {
  const set = jsSet(3);
  const asked: number[] = [];
  for (const member of set.locals) {
    const own = member.queue.bind(member);
    member.queue = (n = 0) => {
      asked.push(n);
      return own(n);
    };
  }
  const grid = dense(set, [4, 9]);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
  a.fill((_x, y) => y);
  const smooth = grid.container("smooth", { a, b }, ({ a, b }, c) => {
    b[c] = a.at(c, 0, 1) + a.at(c, 0, -1);
  });
  const runs = new Runs();
  await runs.run(smooth);
  runs.free();
  assert.ok(asked.length > 12 && asked.every((n) => n === 0), asked.join());
});

it("containers of a single device run in its precision", async () => {
  const set = jsSet(1);
  const grid = dense(set, [4, 9]);
  const a = grid.field("a", f64);
  const runs = new Runs();
  await runs.run(grid.container("ones", { a }, ({ a }, c) => void (a[c] = 1)));
  runs.free();
  assert.equal(await a.get([3, 8]), 1);
});
