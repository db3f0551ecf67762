import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64 } from "../../src/kernel/declare/params.js";
import { TreeSum, type DeviceSet } from "../../src/set/index.js";
import { eachSet } from "./sets.js";

/** Numbers whose sums depend on their order. */
const valueOf = (leaf: number, place: number): number => Math.sin(7 * leaf + place) * 10 ** ((leaf * 5 + place) % 9);

/** A sum over a binary tree by number, in plain JavaScript. */
function treeOf(values: readonly number[]): number {
  if (values.length === 1) return values[0];
  const above: number[] = [];
  for (let n = 0; n < values.length; n += 2) above.push(n + 1 < values.length ? values[n] + values[n + 1] : values[n]);
  return treeOf(above);
}

/** The sum of leaves that members share in this way, as each member has it. */
async function summed(set: DeviceSet, leaves: readonly number[], length: number): Promise<number[][]> {
  const results = set.members.map((_, m) => set.locals[m].device.array(f64, length));
  const sum = new TreeSum(set, f64, { name: "numbers", length, leaves, results });
  // A second time in the same memory.
  for (const factor of [3, 1]) {
    let leaf = 0;
    for (const [m, count] of leaves.entries())
      for (let n = 0; n < count; n++, leaf++) {
        const values = Float64Array.from({ length }, (_, place) => factor * valueOf(leaf, place));
        set.locals[m].queue(0).write(sum.leaf(m, n), values);
        sum.add(m, n);
      }
    sum.finish();
  }
  const all = await Promise.all(set.locals.map(async (member, m) => [...(await member.queue(0).read(results[m]))]));
  sum.free();
  return all;
}

await eachSet((name, open) =>
  describe(`sums over leaves on ${name}`, () => {
    it("have the bits of a binary tree by number, however members share the leaves", async () => {
      const set = await open();
      const members = set.members.length;
      for (const total of [1, 2, 5, 12, 13, 31])
        for (const length of [1, 4200]) {
          const expected = Array.from({ length }, (_, place) => treeOf(Array.from({ length: total }, (__, leaf) => valueOf(leaf, place))));
          const even = Array.from(
            { length: members },
            (_, m) => Math.floor(((m + 1) * total) / members) - Math.floor((m * total) / members),
          );
          const uneven = even.map((_, m) => (m === members - 1 ? total : 0));
          for (const leaves of [even, uneven])
            for (const found of await summed(set, leaves, length)) assert.deepEqual(found, expected, `[${leaves}]`);
        }
      await set.close();
    });

    it("need leaves for each member, and one at least", async () => {
      const set = await open();
      const members = set.members.length;
      const make = (leaves: readonly number[]) => new TreeSum(set, f64, { name: "none", length: 1, leaves, results: [] });
      assert.throws(
        () => make(Array<number>(members).fill(0)),
        /"none" is summed up over \[0.*\] leaves .*: give a number for each, one or more in all/,
      );
      assert.throws(() => make([]), { name: "LaunchError" });
      await set.close();
    });
  }),
);
