import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { f64, kernel, range, view } from "../../../../src/index.js";
import { devices } from "../../../../src/set/index.js";

/* A program on the public API: each rank computes with its own members, and ranks agree. */

const file = process.argv[2];
const set = await devices("mpi:js*2");
const ranks = set.ranks!;
assert.equal(set.name, "mpi:js*2");
const members = Array.from({ length: 2 * ranks.count }, (_, index) => ({ index, rank: Math.floor(index / 2), name: `js*2[${index % 2}]` }));
assert.deepEqual(
  set.members.map(({ index, rank, name }) => ({ index, rank, name })),
  members,
);
assert.deepEqual([...set.locals], set.members.slice(2 * ranks.rank, 2 * ranks.rank + 2));

const fillRank = kernel("fillRank", { x: view(f64), value: f64 }, ({ x, value }, i) => {
  x[i] = value + i;
});
const [{ device }] = set.locals;
const x = device.array(f64, 4);
await device.run(fillRank, { x, value: 10 * ranks.rank }, range(4));
const own = new Float64Array(await device.queue.read(x));

const made = await ranks.first(() => {
  if (!existsSync(file)) writeFileSync(file, `${ranks.rank}`);
  return ranks.rank;
});
assert.equal(made, ranks.rank);
assert.deepEqual(await ranks.agree(own), Float64Array.of(0, 1, 2, 3));
// In the order of the calls, however long the values take.
const slow = new Promise<number>((resolve) => setTimeout(() => resolve(ranks.rank), ranks.rank === 0 ? 50 : 0));
assert.deepEqual(await Promise.all([ranks.gather(slow), ranks.gather(`rank ${ranks.rank}`)]), [
  Array.from({ length: ranks.count }, (_, rank) => rank),
  Array.from({ length: ranks.count }, (_, rank) => `rank ${rank}`),
]);
ranks.requireAlike("a text", "the same");
await ranks.barrier();
console.log(`rank ${ranks.rank} of ${ranks.count}: ${[...own].join()}`);
await set.close();
