import assert from "node:assert/strict";
import { it } from "node:test";
import { f64 } from "isoform";
import { dense } from "../../../src/domain/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { jsSet } from "../../domain/sets.js";

it("where there is one stream, a traced run asks for no other queue, whose marks would not be ordered with it", async () => {
  const set = jsSet(1);
  const asked = new Set<number>();
  for (const member of set.locals) {
    const own = member.queue.bind(member);
    member.queue = (n) => {
      asked.add(n);
      return own(n);
    };
  }
  const grid = dense(set, [4, 9]);
  const a = grid.field("a", f64);
  a.fill(1);
  const step = grid.container("step", { a }, ({ a }, c) => {
    a[c] = a[c] + 1;
  });
  const steps = skeleton(set, "steps", [step]);
  await steps.run(2, { trace: true });
  assert.match(await steps.timeline(), /\nmeasured: /);
  assert.deepEqual([...asked], [0]);
});
