import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { withGroupLimit } from "../../src/device/gpu/group-limit.js";
import type { View } from "../../src/device/memory/view.js";
import { f32, f64, i32, u32 } from "../../src/kernel/declare/params.js";
import { permute, sortByKey } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

/** The stable order of the keys. */
const stableOrder = (keys: ArrayLike<number>): number[] => [...Array(keys.length).keys()].sort((a, b) => keys[a] - keys[b]);

/** Where each of the keys 0 .. cells, and what comes behind them, begins. */
function beginnings(keys: ArrayLike<number>, cells: number): number[] {
  const before = Array<number>(cells + 2).fill(0);
  for (const key of Array.from(keys)) before[key + 1]++;
  for (let k = 0; k <= cells; k++) before[k + 1] += before[k];
  return before.slice(0, cells + 1);
}

await eachDevice("sorts", (device) => {
  it("order keys of 32 bits, signed and unsigned, and keep the order of equal ones", async () => {
    for (const count of [0, 1, 961, 20_000])
      for (const type of ["i32", "u32"] as const) {
        const least = type === "i32" ? -(2 ** 31) : 0;
        const data = Float64Array.from({ length: count }, (_, k) => least + Math.floor(noiseValue(k % 700) * 2 ** 32));
        const keys = type === "i32" ? device.from(i32, data) : device.from(u32, data);
        const permutation = device.array(i32, count);
        const sort = sortByKey(device, { keys, permutation });
        for (let turn = 0; turn < 2; turn++) sort.submit();
        assert.deepEqual([...(await device.queue.read(permutation))], stableOrder(data), `${count} ${type}`);
        sort.free();
      }
  });

  it("give the keys in their order", async () => {
    for (const type of ["i32", "u32"] as const)
      for (const bits of [10, 32]) {
        const data = Float64Array.from({ length: 7000 }, (_, k) => {
          const number = Math.floor(noiseValue(k) * 2 ** bits);
          return type === "i32" && bits === 32 ? number - 2 ** 31 : number;
        });
        const token = (type === "i32" ? i32 : u32) as typeof u32;
        const [keys, sorted, permutation] = [device.from(token, data), device.array(token, 7000), device.array(i32, 7000)];
        const sort = sortByKey(device, { keys, permutation, bits, sorted });
        sort.submit();
        assert.deepEqual(
          [...(await device.queue.read(sorted))],
          [...data].sort((a, b) => a - b),
          `${type} of ${bits} bits`,
        );
        assert.deepEqual([...(await device.queue.read(permutation))], stableOrder(data));
        sort.free();
      }
    const [keys, permutation] = [device.array(u32, 5), device.array(i32, 5)];
    assert.throws(
      () => sortByKey(device, { keys, permutation, sorted: device.array(u32, 4) }),
      /sort of 5 u32 into 4 u32: give a view of 5 u32 for the sorted keys/,
    );
    assert.throws(() => sortByKey(device, { keys, permutation, sorted: keys }), /sorted and keys share memory/);
  });

  it("sort more keys than a grid has threads", () =>
    withGroupLimit(2, async () => {
      const count = 9000;
      const data = Float64Array.from({ length: count }, (_, k) => Math.floor(noiseValue(k % 700) * 2 ** 32));
      const permutation = device.array(i32, count);
      const sort = sortByKey(device, { keys: device.from(u32, data), permutation });
      sort.submit();
      assert.deepEqual([...(await device.queue.read(permutation))], stableOrder(data));
      sort.free();
    }));

  it("tell where each key begins", async () => {
    for (const [count, cells] of [
      [0, 1],
      [5000, 1],
      [3000, 300],
      [100, 5000],
    ]) {
      const data = Int32Array.from({ length: count }, (_, k) => Math.floor(noiseValue(k) * (cells + 1)));
      const [permutation, offsets] = [device.array(i32, count), device.array(i32, cells + 1)];
      const sort = sortByKey(device, { keys: device.from(i32, data), permutation, offsets });
      sort.submit();
      assert.deepEqual([...(await device.queue.read(permutation))], stableOrder(data));
      assert.deepEqual([...(await device.queue.read(offsets))], beginnings(data, cells), `${count} in ${cells} cells`);
      sort.free();
    }
  });

  it("refuse a key of more bits where launches are checked", async () => {
    const permutation = device.array(i32, 3);
    const run = (type: typeof i32 | typeof u32, data: number[], bits: number, offsets = false) =>
      sortByKey(device, {
        keys: device.from(type as typeof u32, data),
        permutation,
        bits,
        ...(offsets && { offsets: device.array(i32, 4) }),
      }).run();
    const beyond = { name: "KernelError", message: /keysOfBits/ };
    await assert.rejects(run(u32, [1, 256, 3], 8), beyond);
    await assert.rejects(run(i32, [1, -1, 3], 8), beyond);
    await assert.rejects(run(u32, [1, 2 ** 31, 3], 30), beyond);
    await assert.rejects(run(i32, [1, -1, 3], 32, true), beyond);
    await run(u32, [1, 255, 3], 8);
    await run(u32, [1, 2 ** 30 - 1, 3], 30);
    await run(i32, [1, -1, 3], 32);
    assert.deepEqual([...(await device.queue.read(permutation))], [1, 0, 2]);
    const [precision, checked] = [device.precision, device.checked];
    Object.assign(device, { precision: "fast", checked: false });
    // Then it is the caller's to know.
    if (device.backend !== "js-debug") await run(u32, [1, 256, 3], 8);
    Object.assign(device, { precision, checked });
  });

  it("tell it of signed keys of all bits, too", async () => {
    const [permutation, offsets] = [device.array(i32, 4), device.array(i32, 4)];
    sortByKey(device, { keys: device.from(i32, [2, 0, 7, 2]), permutation, offsets, bits: 32 }).submit();
    assert.deepEqual([...(await device.queue.read(permutation))], [1, 0, 3, 2]);
    assert.deepEqual([...(await device.queue.read(offsets))], [0, 1, 1, 3]);
  });

  it("give the stable order of any keys", async () => {
    const keys = fc
      .integer({ min: 1, max: 12 })
      .chain((bits) => fc.tuple(fc.constant(bits), fc.array(fc.integer({ min: 0, max: 2 ** bits - 1 }), { maxLength: 2000 })));
    await fc.assert(
      fc.asyncProperty(keys, async ([bits, data]) => {
        const [permutation, offsets] = [device.array(i32, data.length), device.array(i32, 2 ** bits)];
        const sort = sortByKey(device, { keys: device.from(u32, data), permutation, bits, offsets });
        sort.submit();
        assert.deepEqual([...(await device.queue.read(permutation))], stableOrder(data));
        assert.deepEqual([...(await device.queue.read(offsets))], beginnings(data, 2 ** bits - 1));
        sort.free();
      }),
      { numRuns: 10, seed: 1 },
    );
  });

  it("bring all components of particles into their order, without the host", async () => {
    const count = 2500;
    const cell = device.from(
      i32,
      Int32Array.from({ length: count }, (_, k) => Math.floor(noiseValue(k) * 64)),
    );
    const mass = device.from(
      f32,
      Float32Array.from({ length: count }, (_, k) => noiseValue(k + 5)),
    );
    const name = device.from(
      u32,
      Uint32Array.from({ length: count }, (_, k) => k),
    );
    const real = device.capabilities.f64 ? f64 : f32;
    const place = device.from(
      real,
      Float32Array.from({ length: 3 * count }, (_, k) => noiseValue(k)),
      [count, 3],
      { layout: "left" },
    );
    const before = await Promise.all([cell, mass, name, place].map((view: View) => device.queue.read(view)));
    const permutation = device.array(i32, count);
    const graph = device.queue.capture(
      (
        (patterns) => () =>
          patterns.forEach((pattern) => pattern.submit())
      )([sortByKey(device, { keys: cell, permutation, bits: 6 }), permute(device, { permutation, input: [cell, mass, name, place] })]),
    );
    device.queue.submit(graph);
    const after = await Promise.all([cell, mass, name, place].map((view: View) => device.queue.read(view)));
    const order = stableOrder(before[0]);
    for (const n of [0, 1, 2])
      assert.deepEqual(
        [...after[n]],
        order.map((from) => before[n][from]),
        `view ${n}`,
      );
    assert.deepEqual(
      [...after[3]],
      order.flatMap((from) => [0, 1, 2].map((axis) => before[3][3 * from + axis])),
    );
    graph.free();
  });

  it("leave the input of a permutation alone where there is an output", async () => {
    const [input, output] = [device.from(i32, [10, 20, 30]), device.array(i32, 3)];
    const permutation = device.from(i32, [2, 0, 1]);
    permute(device, { permutation, input: [input], output: [output] }).submit();
    assert.deepEqual([...(await device.queue.read(input))], [10, 20, 30]);
    assert.deepEqual([...(await device.queue.read(output))], [30, 10, 20]);
  });

  it("refuse what does not fit", () => {
    const keys = device.array(u32, 10);
    const [ten, nine] = [device.array(i32, 10), device.array(i32, 9)];
    const refused = (message: RegExp) => ({ name: "LaunchError", message });
    assert.throws(() => sortByKey(device, { keys, permutation: nine }), refused(/10 keys with a permutation of 9/));
    assert.throws(() => sortByKey(device, { keys, permutation: ten, bits: 33 }), refused(/sort by 33 bits/));
    assert.throws(() => sortByKey(device, { keys, permutation: ten, bits: 3, offsets: nine }), refused(/3 bits .* 9 offsets/));
    assert.throws(() => permute(device, { permutation: ten, input: [nine] }), refused(/view 0 has shape \[9\]/));
    assert.throws(() => permute(device, { permutation: ten, input: [ten], output: [] }), refused(/1 views into 0/));
    assert.throws(() => permute(device, { permutation: ten, input: [keys], output: [ten] }), refused(/view 0, u32 \[10\], into i32/));
    const both = device.array(i32, 15);
    const [low, high] = [both.slice([0, 10]), both.slice([9, 15])];
    const shared = (name: string, other: string) =>
      refused(new RegExp(`: ${name} and ${other} share memory, and ${name} is written: give it memory of its own`));
    assert.throws(() => sortByKey(device, { keys, permutation: low, offsets: high }), shared("offsets", "permutation"));
    assert.throws(() => sortByKey(device, { keys: low, permutation: ten, offsets: high }), shared("offsets", "keys"));
    assert.throws(() => sortByKey(device, { keys: low, permutation: both.slice([5, 15]) }), shared("permutation", "keys"));
    assert.throws(() => permute(device, { permutation: ten, input: [low, both.slice([5, 15])] }), shared("input 1", "input 0"));
    assert.throws(() => permute(device, { permutation: ten, input: [keys, keys] }), shared("input 1", "input 0"));
    assert.throws(() => permute(device, { permutation: ten, input: [keys, ten] }), shared("input 1", "permutation"));
    const outputs = [device.array(i32, 10), both.slice([5, 15])];
    assert.throws(() => permute(device, { permutation: ten, input: [ten, low], output: outputs }), shared("output 1", "input 1"));
    assert.throws(() => permute(device, { permutation: ten, input: [ten, ten], output: [low, low] }), shared("output 1", "output 0"));
  });
});
