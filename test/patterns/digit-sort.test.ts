import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { Device, DigitSort } from "../../src/device/device.js";
import { fixed, bool, i32, kernel, open, range, u32, view, type View } from "../../src/index.js";
import { sortByKey } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";

/* Sorts on a device that has passes of its own: here by one thread of `js`. */

const js = await open("js");
after(() => js.close());

const onePass = kernel(
  "onePass",
  {
    keys: view(u32),
    order: view(i32),
    sortedKeys: view(u32, 1, { disjoint: true }),
    sortedOrder: view(i32, 1, { disjoint: true }),
    shift: i32,
    first: fixed(bool),
    keep: fixed(bool),
  },
  ({ keys, order, sortedKeys, sortedOrder, shift, first, keep }, _i) => {
    const places = new Int32Array(257);
    for (let k = 0; k < keys.length; k++) {
      const digit = ((keys[k] >>> shift) & 255) | 0;
      places[digit + 1] = places[digit + 1] + 1;
    }
    for (let d = 0; d < 256; d++) places[d + 1] = places[d + 1] + places[d];
    for (let k = 0; k < keys.length; k++) {
      const digit = ((keys[k] >>> shift) & 255) | 0;
      const place = places[digit];
      places[digit] = place + 1;
      sortedOrder[place] = first ? k : order[k];
      if (keep) sortedKeys[place] = keys[k];
    }
  },
);

const passes: DigitSort[] = [];
const device: Device = Object.assign(js, {
  digitSort: (sort: DigitSort) => {
    passes.push(sort);
    const { keys, order = js.array(i32, 1), sortedKeys = js.array(u32, 1), sortedOrder, shift } = sort;
    const how = { shift, first: sort.order === undefined, keep: sort.sortedKeys !== undefined };
    return js.prepare(onePass, { keys, order, sortedKeys, sortedOrder, ...how }, range(1));
  },
});

const stableOrder = (keys: ArrayLike<number>): number[] => [...Array(keys.length).keys()].sort((a, b) => keys[a] - keys[b]);

for (const type of ["i32", "u32"] as const)
  for (const bits of [1, 8, 9, 20, 32])
    for (const stride of [1, 3])
      it(`${type} keys of ${bits} bits, ${stride} apart, are sorted by passes of the device`, async () => {
        const count = 500;
        const least = type === "i32" && bits === 32 ? -(2 ** 31) : 0;
        const data = Float64Array.from(
          { length: count },
          (_, k) => least + Math.floor(noiseValue(k % 300) * 2 ** (bits - (type === "i32" && bits < 32 ? 1 : 0))),
        );
        const token = (type === "i32" ? i32 : u32) as typeof u32;
        const wide = js.array(token, [count, stride]);
        const keys = wide.at(1, 0) as View<"u32", 1>;
        js.queue.write(keys, data);
        const [permutation, sorted] = [js.array(i32, count), js.array(token, count)];
        const offsets = bits === 9 ? js.array(i32, 2 ** 9) : undefined;
        for (const wanted of [undefined, sorted]) {
          passes.length = 0;
          const sort = sortByKey(device, { keys, permutation, bits, offsets, ...(wanted && { sorted: wanted }) });
          sort.submit();
          assert.equal(passes.length, Math.ceil(bits / 8));
          assert.deepEqual([...(await js.queue.read(permutation))], stableOrder(data));
          if (wanted)
            assert.deepEqual(
              [...(await js.queue.read(sorted))],
              [...data].sort((a, b) => a - b),
            );
          if (offsets)
            assert.deepEqual(
              [...(await js.queue.read(offsets))].slice(0, 200),
              Array.from({ length: 200 }, (_, k) => data.filter((key) => key < k).length),
            );
          // The last pass of a sort of which nobody wants the keys does not store them.
          if (!wanted && !offsets) assert.equal(passes.at(-1)!.sortedKeys, undefined);
          sort.free();
        }
      });

it("a permutation with a stride, which passes cannot write, is made by kernels", async () => {
  passes.length = 0;
  const permutation = js.array(i32, [4, 2]).at(1, 1) as View<"i32", 1>;
  const sort = sortByKey(device, { keys: js.from(u32, [3, 1, 2, 0]), permutation });
  await sort.run();
  assert.deepEqual([...(await js.queue.read(permutation))], [3, 1, 2, 0]);
  assert.equal(passes.length, 0);
  sort.free();
});
