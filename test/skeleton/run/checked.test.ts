import assert from "node:assert/strict";
import { it } from "node:test";
import { dense } from "../../../src/domain/index.js";
import { f64, i32, KernelError } from "../../../src/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { onEachBackend } from "../../domain/sets.js";

const EXTENTS = [4, 5, 12] as const;

await onEachBackend("a component that data name", ({ of }) => {
  for (const count of [1, 2, 3])
    it(`ends a skeleton on ${count} where it is outside, which runs on once it is inside`, async () => {
      const grid = dense(of(count), EXTENTS);
      const [u, which, y] = [grid.field("u", f64, { cardinality: 3 }), grid.field("which", i32), grid.field("y", f64)];
      u.fill((a, b, c, k) => a + 10 * b + 100 * c + 1000 * k);
      y.fill(() => 0);
      const pick = grid.container("pick", { u, which, y }, ({ u, which, y }, c) => void (y[c] += u[c][which[c]]));
      const next = grid.container("next", { y }, ({ y }, c) => void (y[c] += 0.5));
      const plan = skeleton(grid.set, "picking", [pick, next], { precision: "strict" });
      const inside = (a: number, b: number, c: number) => (a + b + c) % 3;
      // In the part of the last member alone.
      for (const wrong of [3, -1, 2e9]) {
        which.fill((a, b, c) => (a === 1 && b === 2 && c === 11 ? wrong : inside(a, b, c)));
        await assert.rejects(
          () => plan.run(2),
          (error: Error) => {
            assert.ok(error instanceof KernelError, String(error));
            assert.match(error.message, new RegExp(`"pick.*index ${wrong} is outside axis \\d of "u.*which has extent 3`));
            return true;
          },
        );
      }
      which.fill(inside);
      y.fill(() => 0);
      await plan.run(2);
      const [found, values] = [await y.download(), await u.download()];
      assert.equal(found.length, values.length / 3);
      let sum = 0;
      for (let a = 0; a < EXTENTS[0]; a++)
        for (let b = 0; b < EXTENTS[1]; b++)
          for (let c = 0; c < EXTENTS[2]; c++) sum += 2 * (a + 10 * b + 100 * c + 1000 * inside(a, b, c) + 0.5);
      assert.equal(
        found.reduce((all, value) => all + value, 0),
        sum,
      );
      plan.free();
      grid.free();
    });
});
