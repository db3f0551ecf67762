import assert from "node:assert/strict";
import { test } from "node:test";
import { dense } from "../../../src/domain/index.js";
import { f64, sum } from "../../../src/index.js";
import { devices } from "../../../src/set/index.js";
import { Executor } from "../../../src/skeleton/run/executor.js";

/** Operations, and waits among them, of a stencil and a sum over all cells on so many members. */
async function counted(members: number): Promise<{ ops: number; waits: number }> {
  const set = await devices(`js*${members}`);
  try {
    const grid = dense(set, [3, 3, 2 * members], { periodic: true });
    const [f, g] = ["f", "g"].map((name) => grid.field(name, f64));
    const total = grid.scalar("total", f64);
    const steps = [
      grid.container("spread", { f, g }, ({ f, g }, c) => {
        g[c] = f.at(c, 0, 0, 1) + f.at(c, 0, 0, -1);
      }),
      grid.container("total", { g, f, total: sum(total) }, ({ g, f, total }, c) => {
        f[c] = g[c];
        total.add(g[c]);
      }),
      grid.container("scale", { f, total }, ({ f, total }, c) => {
        f[c] /= total;
      }),
    ];
    f.fill(1);
    g.fill(1);
    const executor = new Executor(set, steps, { fuse: false, precision: "strict", temporary: [], sweepOrder: "forward" });
    f.coherent = false;
    const { ops } = executor.programFor(executor.stagesOf(1, 0), "standard");
    const counts = { ops: ops.length, waits: ops.reduce((sum, { waits }) => sum + waits.length, 0) };
    executor.free();
    return counts;
  } finally {
    await set.close();
  }
}

test("operations and waits grow with the members, not with their square", async () => {
  const [few, many] = [await counted(8), await counted(64)];
  assert.ok(few.waits > 0);
  assert.ok(many.ops <= 8 * few.ops, `${few.ops} operations on 8 members, ${many.ops} on 64`);
  assert.ok(many.waits <= 9 * few.waits, `${few.waits} waits on 8 members, ${many.waits} on 64`);
});
