import assert from "node:assert/strict";
import test from "node:test";
import { dense } from "../../../src/domain/index.js";
import { f32 } from "../../../src/index.js";
import { jsSets } from "../sets.js";

for (const set of jsSets)
  test(`windows of a field are its cells, member by member, on ${set.name}`, async () => {
    const grid = dense(set, [5, 4, 12]);
    const field = grid.field("field", f32, { cardinality: 2 });
    const sum = grid.field("sum", f32);
    // So that there are halos around the windows.
    grid.container("add", { field, sum }, ({ field, sum }, c) => {
      sum[c] = field.at(c, 1, 0, 0)[1] + field.at(c, 0, 0, -1)[1];
    });
    field.fill((x, y, z, k) => x + 10 * y + 100 * z + 0.5 * k);
    const pieces = await Promise.all(set.locals.map(({ device }, m) => device.queue.read(grid.window(field, m))));
    assert.deepEqual(
      pieces.flatMap((piece) => [...piece]),
      [...(await field.download())],
    );
    set.members.forEach((_, m) => assert.deepEqual(grid.window(field, m).shape, [grid.partitions[m].planes, 4, 5, 2]));
    grid.free();
  });
