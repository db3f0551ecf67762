import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open } from "../../src/device/open.js";
import { f32, f64, i32, u32 } from "../../src/kernel/declare/params.js";
import { scan, type ScanOp } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

/** Around blocks and tiles, those of a device's own as well, and enough for tiles of tiles. */
const COUNTS = [0, 1, 15, 16, 959, 960, 961, 6143, 6144, 6145, 20_000, 960 * 960 + 1];
const TYPES = { f64, f32, i32, u32 };
const COMBINE: Record<ScanOp, (a: number, b: number) => number> = { sum: (a, b) => a + b, min: Math.min, max: Math.max };

/** One after the other, each sum rounded by `round`. */
function expected(
  data: ArrayLike<number>,
  op: ScanOp,
  identity: number,
  exclusive: boolean,
  begins: (i: number) => boolean,
  round: (x: number) => number,
): number[] {
  const result = Array<number>(data.length);
  for (let i = 0, before = identity; i < data.length; i++) {
    if (begins(i)) before = identity;
    const through = round(COMBINE[op](before, data[i]));
    result[i] = exclusive ? before : through;
    before = through;
  }
  return result;
}

await eachDevice("scans", (device) => {
  it("sum integers up, of any count", async () => {
    for (const count of device.backend === "js-debug" ? COUNTS.slice(0, -1) : COUNTS) {
      const data = Int32Array.from({ length: count }, (_, k) => Math.floor(noiseValue(k) * 1000) - 500);
      const [input, output] = [device.from(i32, data), device.array(i32, count)];
      for (const exclusive of [false, true]) {
        const sums = scan(device, { input, output, op: "sum", exclusive });
        sums.submit();
        const found = await device.queue.read(output);
        const wanted = expected(
          data,
          "sum",
          0,
          exclusive,
          () => false,
          (x) => x | 0,
        );
        // deepEqual of a million takes seconds.
        const wrong = wanted.findIndex((value, k) => found[k] !== value);
        assert.equal(wrong, -1, `element ${wrong} of ${count} is ${found[wrong]}, not ${wanted[wrong]}`);
        assert.equal(found.length, count);
        sums.free();
      }
      input.free();
      output.free();
    }
  });

  it("give the total, with the bits that an inclusive scan has last", async () => {
    for (const type of ["f64", "f32", "i32"] as const) {
      if (type === "f64" && !device.capabilities.f64) continue;
      for (const count of [0, 1, 14, 15, 16, 959, 960, 961, 3000]) {
        const input = device.from(
          TYPES[type],
          Float64Array.from({ length: count }, (_, k) => Math.round(noiseValue(k) * 1e6) / (type === "i32" ? 1 : 3)),
        );
        const [output, total] = [device.array(TYPES[type], count), device.from(TYPES[type], [-7])];
        for (const [op, none] of [
          ["sum", 0],
          ["max", type === "i32" ? -(2 ** 31) : -Infinity],
        ] as const) {
          await scan(device, { input, output, op } as never).run();
          const last = count > 0 ? (await device.queue.read(output))[count - 1] : none;
          for (const exclusive of [false, true]) {
            const pattern = scan(device, { input, output, op, exclusive, total } as never);
            await pattern.run();
            assert.equal((await device.queue.read(total))[0], last, `${op} of ${count} ${type}`);
            pattern.free();
          }
        }
      }
    }
  });

  it("scan whole numbers that begin anywhere in memory", async () => {
    const count = 13_000;
    const data = Float64Array.from({ length: count + 3 }, (_, k) => Math.floor(noiseValue(k) * 1e6) + (k % 1000 === 7 ? 2e9 : 0));
    for (const type of ["i32", "u32"] as const)
      for (const [from, to] of [
        [1, 1],
        [0, 3],
        [2, 0],
      ])
        for (const [op, none] of [
          ["sum", 0],
          ["min", type === "i32" ? 2 ** 31 - 1 : 2 ** 32 - 1],
          ["max", type === "i32" ? -(2 ** 31) : 0],
        ] as const) {
          const [whole, target] = [device.from(TYPES[type], data), device.array(TYPES[type], count + 3)];
          const [input, output] = [whole.slice([from, from + count]), target.slice([to, to + count])];
          const total = device.array(TYPES[type], 1);
          const pattern = scan(device, { input, output, op, exclusive: from === 1, total } as never);
          await pattern.run();
          const round = (x: number): number => (type === "i32" ? x | 0 : x >>> 0);
          const wanted = expected(data.subarray(from, from + count), op, none, from === 1, () => false, round);
          const found = await device.queue.read(target);
          assert.equal(
            wanted.findIndex((value, k) => found[to + k] !== value),
            -1,
            `${op} of ${type} from ${from} to ${to}`,
          );
          assert.deepEqual([...found.subarray(0, to), ...found.subarray(to + count)], [0, 0, 0], "nothing beside the output is written");
          const last = round(COMBINE[op](from === 1 ? wanted[count - 1] : none, from === 1 ? data[from + count - 1] : wanted[count - 1]));
          assert.equal((await device.queue.read(total))[0], last);
          pattern.free();
        }
  });

  it("find the least and greatest values so far", async () => {
    const count = 900;
    for (const type of ["f64", "f32", "i32", "u32"] as const) {
      if (type === "f64" && !device.capabilities.f64) continue;
      const input = device.from(
        TYPES[type],
        Float64Array.from({ length: count }, (_, k) => Math.round(noiseValue(k) * 1e6)),
      );
      const data = await device.queue.read(input);
      const output = device.array(TYPES[type], count);
      const limit = { f64: Infinity, f32: Infinity, i32: 2 ** 31, u32: 2 ** 32 }[type];
      for (const [op, identity] of [
        ["min", limit === Infinity ? limit : limit - 1],
        ["max", type === "u32" ? 0 : -limit],
      ] as const) {
        scan(device, { input, output, op, exclusive: true }).submit();
        assert.deepEqual(
          [...(await device.queue.read(output))],
          expected(
            data,
            op,
            identity,
            true,
            () => false,
            (x) => x,
          ),
        );
      }
    }
  });

  it("wrap around as integers do", async () => {
    const [input, output] = [device.from(u32, Array<number>(2000).fill(0xfffffff0)), device.array(u32, 2000)];
    scan(device, { input, output, op: "sum" }).submit();
    assert.deepEqual(
      [...(await device.queue.read(output))],
      expected(
        Array(2000).fill(-16),
        "sum",
        0,
        false,
        () => false,
        (x) => x >>> 0,
      ),
    );
  });

  it("begin anew at flags and at offsets, with empty segments and none", async () => {
    for (const [count, each] of [
      [5000, 7],
      [5000, 1300],
      [5000, 100_000],
      [0, 3],
    ]) {
      const data = Int32Array.from({ length: count }, (_, k) => Math.floor(noiseValue(k) * 1000));
      const starts = [...Array(count).keys()].filter((k) => noiseValue(k + 7) < 1 / each);
      const flags = new Uint32Array(count);
      for (const k of starts) flags[k] = 1;
      const [input, output] = [device.from(i32, data), device.array(i32, count)];
      const segmentations = [
        { flags: device.from(u32, flags) },
        { offsets: device.from(i32, [...starts, ...starts.slice(0, 3), count, count]) },
      ];
      for (const segments of segmentations)
        for (const [op, identity, exclusive] of [
          ["sum", 0, false],
          ["max", -(2 ** 31), true],
        ] as const) {
          const pattern = scan(device, { input, output, op, exclusive, segments });
          for (let turn = 0; turn < 2; turn++) pattern.submit();
          const wanted = expected(
            data,
            op,
            identity,
            exclusive,
            (i) => flags[i] !== 0,
            (x) => x | 0,
          );
          assert.deepEqual([...(await device.queue.read(output))], wanted, `${op} of ${count} by ${each}`);
          pattern.free();
        }
    }
  });

  it("follow their input from run to run, in a graph", async () => {
    const [input, output] = [device.array(i32, 3000), device.array(i32, 3000)];
    const sums = scan(device, { input, output, op: "sum" });
    const graph = device.queue.capture(() => sums.submit());
    for (const value of [1, -2]) {
      device.queue.write(input, Array<number>(3000).fill(value));
      device.queue.submit(graph);
      assert.equal((await device.queue.read(output))[2999], 3000 * value);
    }
    graph.free();
  });

  it("do not run when they were freed", () => {
    const sums = scan(device, { input: device.array(i32, 10), output: device.array(i32, 10), op: "sum" });
    sums.free();
    assert.throws(() => sums.submit(), { name: "LaunchError", message: /freed/ });
  });

  it("refuse lengths and types that do not fit", () => {
    const [x, y] = [device.array(i32, 10), device.array(i32, 9)];
    assert.throws(() => scan(device, { input: x, output: y, op: "sum" }), { name: "LaunchError", message: /scan of 10 i32 into 9 i32/ });
    assert.throws(() => scan(device, { input: x, output: x, op: "sum" }), { name: "LaunchError", message: /share memory/ });
    const shared = device.array(i32, 14);
    const [output, offsets] = [shared.slice([0, 10]), shared.slice([9, 14])];
    assert.throws(() => scan(device, { input: x, output, op: "sum", segments: { offsets } }), /scan: output and offsets share memory/);
    const total = device.array(i32, 1);
    const separate = { input: x, output: device.array(i32, 10), op: "sum" } as const;
    assert.throws(() => scan(device, { ...separate, total: y }), /scan of i32 with 9 i32 for its total: give a view of one i32/);
    assert.throws(
      () => scan(device, { ...separate, total, segments: { flags: device.array(u32, 10) } }),
      /scan with segments has no total/,
    );
    assert.throws(() => scan(device, { ...separate, total: x.slice([9, 10]) }), /scan: total and input share memory/);
    assert.throws(
      () => scan(device, { input: x, output: device.array(i32, 10), op: "sum", segments: {} as never }),
      /scan is given segments with neither flags nor offsets: give one of them/,
    );
    const segments = { flags: device.array(u32, 9) };
    assert.throws(() => scan(device, { input: x, output: device.array(i32, 10), op: "sum", segments }), /10 elements with 9 flags/);
  });
});

describe("a scan", () => {
  it("goes in order, a tile a thread, where the order does not matter", async () => {
    for (const threads of [1, 2]) {
      const device = await open("wasm", { threads });
      const launches = (type: typeof f64 | typeof i32, op: "sum" | "max") => {
        const [input, output] = [device.array(type, 5000), device.array(type, 5000)];
        return scan(device, { input, output, op } as never).launches.map(({ policy }) => (policy.kind === "range" ? policy.extents[0] : 0));
      };
      const long = threads === 1 ? [1] : [2, 1, 2];
      assert.deepEqual([launches(i32, "sum"), launches(f64, "max"), launches(f64, "sum")], [long, long, [6, 1, 6]]);
      await device.close();
    }
  });

  it("gives its memory back where it cannot be prepared", async () => {
    const device = await open("js");
    const [input, output] = [device.array(i32, 5000), device.array(i32, 5000)];
    output.free();
    assert.throws(() => scan(device, { input, output, op: "sum" }), { name: "LaunchError" });
    await device.close();
  });
});
