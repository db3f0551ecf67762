import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bf16,
  bool,
  complexf,
  f16,
  f32,
  f64,
  i16,
  i32,
  i8,
  kernel,
  LaunchError,
  list,
  open,
  range,
  scatter,
  stored,
  struct,
  sum,
  u16,
  u32,
  u8,
  vec3,
  vec3f,
  view,
  type Device,
  type ScalarToken,
  type Vec3,
} from "isoform";
import { ofType } from "../../src/testing/real.js";
import { ELSEWHERE } from "../devices.js";
import { eachDevice } from "../patterns/devices.js";

type Real = ScalarToken<"f64" | "f32">;

const below = ofType((real) =>
  kernel("below", { x: view(real), bound: real, places: list(i32), values: list(real) }, ({ x, bound, places, values }, i) => {
    if (x[i] < bound) {
      places.push(i);
      values.push(x[i]);
    }
  }),
);
/** One list alone, whose value needs no branch. */
const single = ofType((real) =>
  kernel("single", { x: view(real), bound: real, places: list(i32) }, ({ x, bound, places }, i) => {
    if (x[i] < bound) places.push(3 * i + 1);
  }),
);
const several = ofType((real) =>
  kernel(
    "several",
    { x: view(real, 2), found: list(vec3f, 4) },
    ({ x, found }, i, j) => {
      for (let k = 0; k < (i + j) % 4; k++) if (x[i][j] * (k + 1) < 1) found.push(vec3f(i, j, k));
      if (x[i][j] > 0.75) found.push(vec3f(i, j, 9));
    },
    () => [vec3f],
  ),
);
const cubes = kernel("cubes", { found: list(u32) }, ({ found }, i, j, k) => {
  if ((i * 7 + j * 5 + k * 3) % 4 === 1) found.push(((i * 100 + j) * 100 + k) >>> 0);
});
/** Stores, sums and scatters beside a list, which is told by values from before. */
const beside = ofType((real) =>
  kernel("beside", { x: view(real), h: scatter(i32), total: sum(real), found: list(real) }, ({ x, h, total, found }, i) => {
    const was = x[i];
    x[i] = was * 2;
    h.add(i % 5, 1);
    total.add(x[i]);
    if (x[i] > 1) found.push(was);
  }),
);
const without = ofType((real) =>
  kernel("without", { x: view(real), total: sum(real) }, ({ x, total }, i) => {
    x[i] = x[i] * 2;
    total.add(x[i]);
  }),
);
const loops = kernel("loops", { n: view(i32), found: list(i32, 2) }, ({ n, found }, i) => {
  for (let k = 0; k < n[i]; k++) found.push(10 * i + k);
});
const goOver = kernel("goOver", { found: view(i32), count: view(i32), out: view(i32) }, ({ found, count, out }, i) => {
  let total = 0;
  for (let k = 0; k < count[0]; k++) total += found[k];
  out[i] = total;
});

/** Numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const MODES = ["strict", "fast"] as const;

await eachDevice("lists", (device) => {
  const real: Real = device.capabilities.f64 ? f64 : f32;
  const single64 = (value: number): number => (real === f64 ? value : Math.fround(value));
  const numbers = (length: number, seed: number): number[] => {
    const next = random(seed);
    return Array.from({ length }, () => single64(next()));
  };

  it("have elements in the order of the range, whatever is kept of it", async () => {
    for (const n of [0, 1, 255, 256, 257, 5000])
      for (const bound of [0, 0.01, 0.5, 1])
        for (const precision of MODES) {
          const data = numbers(n, n + 1);
          const x = device.from(real, data.length > 0 ? data : [0]);
          const [places, values] = [device.list(i32, n + 1), device.list(real, n + 1)];
          const results = await device.run(below(real), { x, bound, places, values }, range(n), { precision });
          const kept = data.flatMap((value, i) => (value < single64(bound) ? [i] : []));
          assert.deepEqual(results, { places: kept.length, values: kept.length }, `${n} elements, ${bound}, ${precision}`);
          assert.equal(await places.length(), kept.length);
          assert.deepEqual([...(await device.queue.read(places.view))].slice(0, kept.length), kept);
          assert.deepEqual(
            [...(await device.queue.read(values.view))].slice(0, kept.length),
            kept.map((i) => data[i]),
          );
          for (const each of [x, places, values]) each.free();
        }
  });

  it("begin where the range does, and are empty before each launch", async () => {
    const data = numbers(3000, 5);
    const x = device.from(real, data);
    const places = device.list(i32, 3000);
    for (const [from, to, bound] of [
      [0, 3000, 0.3],
      [17, 2500, 0.6],
      [300, 301, 1],
      [2999, 3000, 0],
    ] as const)
      for (const precision of MODES) {
        const found = await device.run(single(real), { x, bound, places }, range([from, to]), { precision });
        const kept = data.flatMap((value, i) => (i >= from && i < to && value < single64(bound) ? [3 * i + 1] : []));
        assert.equal(found.places, kept.length);
        assert.deepEqual([...(await device.queue.read(places.view))].slice(0, kept.length), kept);
      }
  });

  it("take several of an element, in the order of the calls, over ranges of two and three axes", async () => {
    const [rows, columns] = [7, 301];
    const data = numbers(rows * columns, 3);
    const x = device.from(real, data, [rows, columns]);
    const found = device.list(vec3f, 4 * rows * columns);
    const expected: number[] = [];
    for (let i = 1; i < rows; i++)
      for (let j = 2; j < columns; j++) {
        for (let k = 0; k < (i + j) % 4; k++) if (data[i * columns + j] * (k + 1) < 1) expected.push(i, j, k);
        if (data[i * columns + j] > 0.75) expected.push(i, j, 9);
      }
    for (const precision of MODES) {
      const results = await device.run(several(real), { x, found }, range([1, rows], [2, columns]), { precision });
      assert.equal(results.found, expected.length / 3);
      assert.deepEqual([...(await device.queue.read(found.view))].slice(0, expected.length), expected);
    }
    const cells = device.list(u32, 4 * 5 * 600);
    const list3: number[] = [];
    for (let i = -1; i < 3; i++)
      for (let j = 0; j < 5; j++)
        for (let k = 2; k < 602; k++) if ((i * 7 + j * 5 + k * 3) % 4 === 1) list3.push(((i * 100 + j) * 100 + k) >>> 0);
    const { found: length } = await device.run(cubes, { found: cells }, range([-1, 3], 5, [2, 602]));
    assert.equal(length, list3.length);
    assert.deepEqual([...(await device.queue.read(cells.view))].slice(0, length), list3);
  });

  it("leave what is beside them as it is without them", async () => {
    const data = numbers(2000, 11);
    for (const precision of MODES) {
      const [x, y] = [device.from(real, data), device.from(real, data)];
      const h = device.array(i32, 5);
      const found = device.list(real, 2000);
      const results = await device.run(beside(real), { x, h, found }, range(2000), { precision });
      const { total } = await device.run(without(real), { x: y }, range(2000), { precision });
      const kept = data.filter((value) => single64(value * 2) > 1);
      if (precision === "strict") assert.ok(Object.is(results.total, total));
      assert.ok(Math.abs(results.total - total) < 1e-2);
      assert.equal(results.found, kept.length);
      assert.deepEqual([...(await device.queue.read(found.view))].slice(0, kept.length), kept);
      assert.deepEqual(await device.queue.read(x), await device.queue.read(y));
      assert.deepEqual([...(await device.queue.read(h))], [400, 400, 400, 400, 400]);
    }
  });

  it("tell where there was no room, and store nothing beyond", async () => {
    const x = device.from(real, numbers(1000, 2));
    const places = device.list(i32, 10);
    for (const precision of MODES) {
      const launch = device.prepare(single(real), { x, bound: 1, places }, range(1000), { precision });
      launch.submit();
      const message = /places has room for 10 elements and 1000 were appended: give device\.list\(i32, 1000\)$/;
      await assert.rejects(places.length(), (error: Error) => error instanceof LaunchError && message.test(error.message));
      await assert.rejects(device.queue.results(launch), message);
      await assert.rejects(device.run(single(real), { x, bound: 1, places }, range(1000), { precision }), message);
      assert.deepEqual([...(await device.queue.read(places.view))], [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]);
      assert.deepEqual([...(await device.queue.read(places.count))], [10]);
      launch.submit({ bound: 0 });
      assert.deepEqual(await device.queue.results(launch), { places: 0 });
      launch.free();
    }
  });

  it("tell where an element appends too often", async () => {
    const n = device.from(i32, [0, 1, 2, 0, 2]);
    const found = device.list(i32, 40);
    for (const precision of MODES) {
      await device.queue.write(n, [0, 1, 2, 0, 2]);
      const results = await device.run(loops, { n, found }, range(5), { precision });
      assert.equal(results.found, 5);
      assert.deepEqual([...(await device.queue.read(found.view))].slice(0, 5), [10, 20, 21, 40, 41]);
      device.queue.write(n, [0, 1, 5, 0, 2]);
      await assert.rejects(
        device.run(loops, { n, found }, range(5), { precision }),
        device.backend === "js-debug"
          ? /appends to found more than 2 times/
          : /an element has appended to found 5 times, and the list takes 2 of each: declare list\(i32, 5\)/,
      );
    }
  });

  it("keep the results of each launch where several fill one, in graphs, too", async () => {
    const turns = kernel("turns", { n: i32, near: list(i32, 2) }, ({ n, near }, i) => {
      for (let k = 0; k < n; k++) near.push(i);
    });
    const others = kernel("others", { n: i32, near: list(i32, 10) }, ({ n, near }, i) => {
      for (let k = 0; k < n; k++) near.push(i);
    });
    const near = device.list(i32, 100);
    const [a, b] = [3, 7].map((n) => device.prepare(turns, { n: 1, near }, range(n)));
    device.queue.submit(a);
    device.queue.submit(b);
    assert.deepEqual([await device.queue.results(a), await device.queue.results(b)], [{ near: 3 }, { near: 7 }]);
    assert.equal(await near.length(), 7);
    // js-debug tells it at the call.
    if (device.backend === "js-debug") return near.free();
    const [many, few] = [device.prepare(others, { n: 5, near }, range(4)), device.prepare(turns, { n: 2, near }, range(4))];
    const graph = device.queue.capture(() => device.queue.submit(many));
    device.queue.submit(few);
    device.queue.submit(graph);
    assert.equal(await near.length(), 20);
    const surplus = device.prepare(turns, { n: 3, near }, range(4));
    const captured = device.queue.capture(() => device.queue.submit(surplus));
    device.queue.submit(many);
    device.queue.submit(captured);
    await assert.rejects(
      near.length(),
      /^LaunchError: kernel "turns": an element has appended to near 3 times, and the list takes 2 of each/,
    );
    device.queue.submit(few);
    assert.equal(await near.length(), 8);
    await assert.rejects(device.queue.results(surplus), /an element has appended to near 3 times/);
    near.free();
  });

  it("are gone over by other kernels, in graphs, too", async () => {
    const n = device.from(i32, [2, 1, 0, 2]);
    const found = device.list(i32, 8);
    const out = device.array(i32, 1);
    const launches = [
      device.prepare(loops, { n, found }, range(4)),
      device.prepare(goOver, { found: found.view, count: found.count, out }, range(1)),
    ];
    const run = async (): Promise<number[]> => [...(await device.queue.read(out)), (await device.queue.results(launches[0])).found];
    for (const launch of launches) device.queue.submit(launch);
    assert.deepEqual(await run(), [0 + 1 + 10 + 30 + 31, 5]);
    device.queue.write(n, [0, 0, 1, 1]);
    const graph = device.queue.capture(() => launches.forEach((launch) => device.queue.submit(launch)));
    device.queue.submit(graph);
    assert.deepEqual(await run(), [20 + 30, 2]);
    device.queue.write(n, [0, 2, 1, 1]);
    device.queue.submit(graph);
    assert.deepEqual(await run(), [10 + 11 + 20 + 30, 4]);
    graph.free();
    launches.forEach((launch) => launch.free());
  });

  it("hold numbers of all types", async () => {
    const n = 600;
    const x = device.from(
      i32,
      Array.from({ length: n }, (_, i) => (i * 37) % 101),
    );
    const values = Array.from({ length: n }, (_, i) => (i * 37) % 101).filter((value) => value % 3 === 0);
    for (const type of [i32, u32, f32, u8, i8, u16, i16, f16, bf16] as const) {
      const k = kernel("numbers", { x: view(i32), out: list(type as typeof f32) }, ({ x, out }, i) => {
        if (x[i] % 3 === 0) out.push(Math.fround(x[i]));
      });
      const whole = kernel("numbers", { x: view(i32), out: list(type as typeof i32) }, ({ x, out }, i) => {
        if (x[i] % 3 === 0) out.push(x[i]);
      });
      const unsigned = kernel("numbers", { x: view(i32), out: list(u32) }, ({ x, out }, i) => {
        if (x[i] % 3 === 0) out.push(x[i] >>> 0);
      });
      const out = device.list(type as typeof f32, n);
      const used = type === u32 ? unsigned : ["f32", "f16", "bf16"].includes(type.type) ? k : whole;
      for (const precision of MODES) {
        const results = await device.run(used as typeof k, { x, out }, range(n), { precision });
        assert.equal(results.out, values.length, type.type);
        assert.deepEqual(
          [...(await device.queue.read(out.view))].slice(0, values.length),
          [...(await device.queue.read(device.from(type, values)))],
          type.type,
        );
      }
    }
  });

  it("hold truth values, numbers with a scale, vectors and records", async () => {
    const n = 700;
    const x = device.from(
      i32,
      Array.from({ length: n }, (_, i) => (i * 37) % 101),
    );
    const kept = Array.from({ length: n }, (_, i) => (i * 37) % 101).filter((value) => value > 60);
    const Hit = struct("Hit", { at: vec3f, z: complexf, n: i32 });
    const Pair = struct("Pair", { hit: Hit, w: f32 });
    const half = stored(i16, { scale: 0.5 });
    const many = kernel(
      "many",
      { x: view(i32), odd: list(bool), halves: list(half), pairs: list(Pair) },
      ({ x, odd, halves, pairs }, i) => {
        if (x[i] > 60) {
          const v = Math.fround(x[i]);
          odd.push(x[i] % 2 === 1);
          halves.push(v * Math.fround(0.5));
          pairs.push(Pair({ hit: Hit({ at: vec3f(v, 1, 2), z: complexf(v, -1), n: i }), w: v * 2 }));
        }
      },
      () => [Pair, Hit, vec3f, complexf],
    );
    const [odd, halves, pairs] = [device.list(bool, n), device.list(i16, n), device.list(Pair, n)];
    for (const precision of MODES) {
      const results = await device.run(many, { x, odd, halves: halves as never, pairs }, range(n), { precision });
      const count = kept.length;
      assert.deepEqual(results, { odd: count, halves: count, pairs: count });
      const read = async (array: Parameters<typeof device.queue.read>[0], length = 1) =>
        [...(await device.queue.read(array))].slice(0, length * count);
      assert.deepEqual(
        await read(odd.view),
        kept.map((value) => value % 2),
      );
      assert.deepEqual(await read(halves.view), kept);
      assert.deepEqual(
        await read(pairs.view.hit.at, 3),
        kept.flatMap((value) => [value, 1, 2]),
      );
      assert.deepEqual(
        await read(pairs.view.hit.z, 2),
        kept.flatMap((value) => [value, -1]),
      );
      assert.deepEqual(
        await read(pairs.view.w),
        kept.map((value) => 2 * value),
      );
    }
  });

  it("are refused where they do not fit", async () => {
    const x = device.array(real, 4);
    const places = device.list(i32, 4);
    const args = { x, bound: 1, places, values: device.list(real, 4) };
    const launch =
      (given: object, policy: unknown = range(4)) =>
      () =>
        device.prepare(below(real), { ...args, ...given } as never, policy as never);
    assert.throws(launch({ places: undefined }), /places is a list of i32, and is given nothing; give device\.list\(i32, capacity\)/);
    assert.throws(launch({ places: device.array(i32, 4) }), /places is a list of i32, and is given/);
    assert.throws(launch({ places: device.list(u32, 4) }), /places is a list of i32, and is given one of u32/);
    assert.throws(launch({ x: args.values.view }), /x and values share memory/);
    assert.throws(launch({ extra: 1 }), /there is no parameter "extra"; it takes x, bound, places, values/);
    assert.throws(launch({ x: undefined }), /x/);
    assert.throws(launch({}, range(2, 2)), /a range of 2 axes/);
    assert.throws(launch({}, range(5)), /reads x\[i\].* with index 4/);
    assert.throws(() => device.list(i32, -1), /device\.list\(i32, \.\.\.\) is given -1 for its capacity/);
    assert.throws(() => device.list({} as never, 1), /is given .* for a type/);
    const gone = device.list(i32, 4);
    gone.free();
    assert.throws(launch({ places: gone }), /whose memory was freed/);
    if (device.name !== "js") {
      const other = await open("js");
      if (other.memory !== device.memory) assert.throws(launch({ places: other.list(i32, 4) }), /in the memory of js/);
      await other.close();
    }
  });

  it("name the element whose index is outside", async () => {
    const at = device.from(
      i32,
      Array.from({ length: 700 }, (_, i) => (i === 611 ? 9999 : i)),
    );
    const x = device.from(
      i32,
      Array.from({ length: 700 }, (_, i) => i % 7),
    );
    const found = device.list(i32, 700);
    const gather = kernel("gather", { at: view(i32), x: view(i32), found: list(i32) }, ({ at, x, found }, i) => {
      if (x[at[i]] === 3) found.push(i);
    });
    await assert.rejects(device.run(gather, { at, x, found }, range(700), { checked: true }), /x\[at\[i\]\].*9999|index 9999/);
    if (device.backend !== "js-debug")
      await assert.rejects(device.run(gather, { at, x, found }, range(700), { checked: true }), /element \[611\]/);
  });
});

describe("lists", { skip: ELSEWHERE }, () => {
  it("are the same with any number of workers", async () => {
    const n = 100_003;
    const next = random(3);
    const data = Float64Array.from({ length: n }, next);
    const kept = [...data.keys()].filter((i) => data[i] < 0.37).map((i) => 3 * i + 1);
    for (const name of ["js", "wasm"])
      for (const threads of [1, 2, 3, 8]) {
        const device: Device = await open(name, { threads });
        const places = device.list(i32, n);
        const results = await device.run(single(f64), { x: device.from(f64, data), bound: 0.37, places }, range(n));
        assert.equal(results.places, kept.length);
        assert.deepEqual([...(await device.queue.read(places.view))].slice(0, kept.length), kept);
        await device.close();
      }
  });

  it("have types", async () => {
    const device = await open("js");
    const points = kernel("points", { x: view(f64), out: list(vec3), n: list(i32) }, ({ x, out, n }, i) => {
      const v: Vec3 = vec3(x[i], 0, 0);
      out.push(v);
      n.push(i);
      // @ts-expect-error a list of vectors takes no numbers
      if (i < 0) out.push(1 as number);
    });
    const args = { x: device.array(f64, 1), out: device.list(vec3, 1), n: device.list(i32, 1) };
    // @ts-expect-error a list of other elements
    await assert.rejects(device.run(points, { ...args, n: device.list(vec3, 1) }, range(1)));
    // @ts-expect-error a list is missing
    await assert.rejects(device.run(points, { x: args.x, n: args.n }, range(1)));
    await device.close();
  });
});
