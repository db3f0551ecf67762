import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { argmax, argmin, f32, f64, i32, kernel, LaunchError, open, range, reducer, struct, view, type Placed } from "isoform";
import { ELSEWHERE, NODE_DEVICES } from "../devices.js";
import { eachDevice } from "../patterns/devices.js";
import { share } from "../random/share.js";

const places = kernel("places", { x: view(f64), least: argmin(f64), greatest: argmax(f64) }, ({ x, least, greatest }, i) => {
  least.min(x[i], i);
  greatest.max(x[i], i);
});

const narrowPlaces = kernel("places", { x: view(f32), least: argmin(f32), greatest: argmax(f32) }, ({ x, least, greatest }, i) => {
  least.min(x[i], i);
  greatest.max(x[i], i);
});

/** Place of the value that NumPy's argmin finds, or argmax where `sign` is -1: the first NaN, else the first extremum. */
function numpy(values: Float64Array, sign: 1 | -1): number {
  const nan = values.findIndex(Number.isNaN);
  if (nan >= 0) return nan;
  let best = 0;
  for (let n = 1; n < values.length; n++) if (sign * values[n] < sign * values[best]) best = n;
  return best;
}

/** Numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Arrays with NaN, zeros of both signs, infinities and many ties. */
function arrays(count: number): Float64Array[] {
  const next = random(7);
  const few = [NaN, -0, 0, 1, -1, Infinity, -Infinity, 5e-324];
  return Array.from({ length: count }, (_, n) => {
    const length = 1 + Math.floor(next() ** 3 * 600);
    const choices = few.slice(n % 3 === 0 ? 0 : 1, 2 + (n % few.length));
    return Float64Array.from({ length }, () => (n % 4 === 3 && next() < 0.9 ? next() - 0.5 : choices[Math.floor(next() * choices.length)]));
  });
}

await eachDevice("least and greatest values with their places", (device) => {
  const { kernel, real, round } = device.capabilities.f64
    ? { kernel: places, real: f64, round: (value: number) => value }
    : { kernel: narrowPlaces as unknown as typeof places, real: f32 as unknown as typeof f64, round: Math.fround };
  // Drivers of GPUs take their time for each launch.
  const count = share(NODE_DEVICES.includes(device.backend) || device.backend === "native" ? 1000 : 120);

  it(`are NumPy's of ${count} arrays in both modes`, async () => {
    const x = device.array(real, 700);
    for (const precision of ["strict", "fast"] as const)
      for (const [n, exact] of arrays(count).entries()) {
        const values = exact.map(round);
        const part = x.slice([0, values.length]);
        await device.queue.write(part, values);
        const found: Readonly<Record<"least" | "greatest", Placed>> = await device.run(kernel, { x: part }, range(values.length), {
          precision,
        });
        for (const [key, sign] of [
          ["least", 1],
          ["greatest", -1],
        ] as const) {
          const index = numpy(values, sign);
          assert.equal(found[key].index, index, `${key} of array ${n}, ${precision}`);
          assert.ok(Object.is(found[key].value, values[index]), `value of array ${n}, ${precision}`);
        }
      }
  });
});

describe("least and greatest values with their places", { skip: ELSEWHERE }, () => {
  it("do not depend on the number of workers", async () => {
    const values = Float64Array.from({ length: 300_000 }, (_, n) => (n * 7919) % 1009);
    for (const name of ["js", "wasm"])
      for (const threads of [1, 2, 5]) {
        const device = await open(name, { threads });
        const { least, greatest } = await device.run(places, { x: device.from(f64, values) }, range(values.length));
        assert.deepEqual(
          [least, greatest],
          [
            { value: 0, index: 0 },
            { value: 1008, index: values.indexOf(1008) },
          ],
        );
        device.close();
      }
  });

  it("have places that are counted anyhow, negative ones too", async () => {
    const shifted = kernel("shifted", { x: view(f64), least: argmin(f64) }, ({ x, least }, i) => least.min(x[i], 3 - i));
    const device = await open("js");
    const run = async (values: number[]): Promise<unknown> =>
      (await device.run(shifted, { x: device.from(f64, values) }, range(values.length))).least;
    assert.deepEqual(await run([2, 2, 2, 2, 2, 2]), { value: 2, index: -2 });
    assert.deepEqual(await run([Infinity, Infinity, Infinity]), { value: Infinity, index: 1 });
    assert.deepEqual(await run([5, 5, 5, 5, 5]), { value: 5, index: -1 });
    device.close();
  });

  it("refuse arguments of other kinds", async () => {
    const device = await open("js");
    const x = device.array(f64, 4);
    const run = (least: unknown): Promise<unknown> => device.run(places, { x, least } as never, range(4));
    await assert.rejects(
      run(3),
      new LaunchError(
        'kernel "places": least is a value and its place, and is given 3; give { value, index }, numbers to start from or views of one element, or nothing',
      ),
    );
    await assert.rejects(run({ value: 3 }), /is a value and its place/);
    await assert.rejects(run({ value: 3, index: device.array(i32, 1) }), /is a value and its place/);
    await assert.rejects(run({ value: device.array(f64, 1), index: device.array(f64, 1) }), /least_index/);
    assert.deepEqual((await device.run(places, { x, least: { value: -1, index: 9 } }, range(4))).least, { value: -1, index: 9 });
    device.close();
  });

  it("stay on the device in views, also in a graph", async () => {
    for (const name of ["js", "wasm"]) {
      const device = await open(name);
      const x = device.from(f64, [3, 1, 1, 2]);
      const least = { value: device.array(f64, 1), index: device.array(i32, 1) };
      const launch = device.prepare(places, { x, least }, range(4));
      device.queue.submit(launch);
      assert.deepEqual([...(await device.queue.read(least.value)), ...(await device.queue.read(least.index))], [1, 1]);
      assert.deepEqual((await device.queue.results(launch)).greatest, { value: 3, index: 0 });
      device.close();
    }
  });
});

describe("folds of records", () => {
  const Sum = struct("Sum", { high: f64, low: f32, count: i32 });

  it("refuse a start of other fields", async () => {
    const fold = kernel(
      "fold",
      {
        x: view(f64),
        s: reducer(Sum, { high: 0, low: 0, count: 0 }, (a, b) => ({ ...a, high: a.high + b.high, count: a.count + b.count })),
      },
      ({ x, s }, i) => s.merge({ high: x[i], low: 0, count: 1 }),
    );
    const device = await open("wasm");
    const x = device.from(f64, [1, 2, 3]);
    assert.deepEqual(await device.run(fold, { x }, range(3)), { s: { high: 6, low: 0, count: 3 } });
    assert.deepEqual(await device.run(fold, { x, s: { high: 10, low: 0.5, count: 1 } }, range(3)), { s: { high: 16, low: 0.5, count: 4 } });
    await assert.rejects(device.run(fold, { x, s: { high: 1 } } as never, range(3)), /a Sum has the fields high, low, count/);
    device.close();
  });

  it("refuse an identity of other fields", () => {
    assert.throws(() => reducer(Sum, { high: 0 } as never, (a) => a), /a Sum has the fields high, low, count, and is given high/);
  });
});
