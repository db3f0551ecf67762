import { createHash } from "node:crypto";
import { f64 } from "../../../../src/index.js";
import { dense } from "../../../../src/domain/index.js";
import { devices } from "../../../../src/set/index.js";
import { skeleton, swap } from "../../../../src/skeleton/index.js";

/* What would lead ranks apart: calls that take turns by the clock, and values at random. Rank 0 prints a digest of the first, and whether halos have the owners' values in the second. */

const set = await devices(process.argv[2]);

function waves(phase: number) {
  const grid = dense(set, [32, 32, 16]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  u.fill((x, y, z) => Math.fround(Math.sin(phase + x + 2 * y + 3 * z)));
  const step = grid.container("step", { u, v }, ({ u, v }, c) => {
    v[c] = u[c] + 0.1 * (u.at(c, 0, 0, 1) - u.at(c, 0, 0, -1));
  });
  return { u, grid, step, steps: skeleton(set, `waves ${phase}`, [step, swap(u, v)], { precision: "strict" }) };
}

// Each holds the event loop for some time, and as long as the machine takes: no two processes give it back at one iteration.
const both = [waves(0), waves(1)];
await Promise.all(both.map(({ steps }) => steps.run(400)));
// A container beside a run of a skeleton comes after it; else it would come between two iterations, on each rank others. One process has no order of such calls.
const beside = both[0].steps.run(400);
if (!set.ranks) await beside;
await both[0].grid.run(both[0].step, { precision: "strict" });
await beside;
await both[0].steps.run(1);
const digest = createHash("sha256");
for (const { u } of both) digest.update(await u.download());

const grid = dense(set, [4, 4, 12], { periodic: true });
const [random, above] = ["random", "above"].map((name) => grid.field(name, f64));
random.fill(() => Math.random());
const look = grid.container("look", { random, above }, ({ random, above }, c) => {
  above[c] = random.at(c, 0, 0, 1);
});
await grid.run(look);
const [values, seen] = [await random.download(), await above.download()];
const isWhole = seen.every((value, n) => value === values[(n + 16) % values.length]);

if (!set.ranks || set.ranks.rank === 0) console.log(JSON.stringify({ digest: digest.digest("hex").slice(0, 16), isWhole }));
await set.close();
