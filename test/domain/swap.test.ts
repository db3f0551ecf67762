import assert from "node:assert/strict";
import { it } from "node:test";
import { f64 } from "../../src/kernel/declare/params.js";
import { HostField } from "./host-field.js";
import { KINDS } from "./kinds.js";
import { jsSets, noise } from "./sets.js";

it("fields that are read at different neighbours can be swapped between containers", async () => {
  const extents = [9, 29];
  for (const set of jsSets)
    for (const make of Object.values(KINDS)) {
      const grid = make(set, extents, undefined);
      const [a, b, c] = ["a", "b", "c"].map((name) => grid.field(name, f64));
      const up = grid.container("up", { a, c }, ({ a, c }, cell) => {
        c[cell] += a.at(cell, 0, 1);
      });
      const down = grid.container("down", { b, c }, ({ b, c }, cell) => {
        c[cell] -= b.at(cell, 1, -1);
      });
      const set3 = grid.container("triple", { a, b }, ({ a, b }, cell) => {
        a[cell] *= 3;
        b[cell] *= 5;
      });
      a.fill((x, y) => noise(x, y));
      b.fill((x, y) => noise(y, x));
      await grid.run(set3);
      await grid.run(up);
      await grid.run(down);
      a.swap(b);
      await grid.run(up);
      await grid.run(down);
      const ofA = new HostField(extents, (x, y) => 3 * noise(x, y));
      const ofB = new HostField(extents, (x, y) => 5 * noise(y, x));
      const expected = new HostField(
        extents,
        (x, y) => ofA.at(x, y + 1, 0) - ofB.at(x + 1, y - 1, 0) + ofB.at(x, y + 1, 0) - ofA.at(x + 1, y - 1, 0),
      );
      assert.deepEqual([...(await c.download())], expected.data, `${set.name}, ${grid.kind}`);
      grid.free();
    }
});
