import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { f32, i32, kernel, open, range, scatter, sum, u8, view, View, type Device } from "../../src/index.js";
import { meetsItself } from "../../src/device/memory/overlap.js";
import { eachDevice } from "../patterns/devices.js";

/*
 * Views of one's own on every device: what is read, written, copied and computed through random ones is what an array on the host would have.
 */

const RUNS = Number(process.env.ISOFORM_RANDOM_VIEWS ?? 25);
const SIZE = 240;
const TOKENS = { f32, i32, u8 };
type Type = keyof typeof TOKENS;

interface Layout {
  readonly strides: readonly number[];
  readonly offset: number;
}

/** The places of the elements, in `right` order. */
function placesOf(shape: readonly number[], { strides, offset }: Layout): number[] {
  let places = [offset];
  shape.forEach((extent, axis) => {
    places = places.flatMap((place) => Array.from({ length: extent }, (_, n) => place + n * strides[axis]));
  });
  return places;
}

/** Strides of any sign, 0 among them, that stay inside of `SIZE` elements. */
const layoutOf = (shape: readonly number[]): fc.Arbitrary<Layout> =>
  fc
    .tuple(
      fc.array(fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom(1, -1, 5, 20)), {
        minLength: shape.length,
        maxLength: shape.length,
      }),
      fc.nat(SIZE - 1),
    )
    .map(([strides, at]) => {
      const reaches = shape.map((extent, axis) => (extent - 1) * strides[axis]);
      const below = reaches.reduce((total, reach) => total - Math.min(0, reach), 0);
      const above = reaches.reduce((total, reach) => total + Math.max(0, reach), 0);
      return { strides, offset: Math.min(Math.max(at, below), SIZE - 1 - above) };
    });

interface Scenario {
  readonly type: Type;
  readonly shape: number[];
  readonly from: Layout;
  readonly to: Layout;
}

const scenario: fc.Arbitrary<Scenario> = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }).chain((shape) =>
  fc.record({
    type: fc.constantFrom<Type>("f32", "i32", "u8"),
    shape: fc.constant(shape),
    from: layoutOf(shape),
    to: layoutOf(shape),
  }),
);

/** Stores a number of its own in each element, and takes the old one from elsewhere. */
function storing(type: Type, rank: number) {
  const array = view(TOKENS[type] as typeof i32, rank as 1);
  if (rank === 1)
    return kernel("store", { a: array, b: array }, ({ a, b }, i) => {
      a[i] = (b[i] + i) & 127;
    });
  const two = view(TOKENS[type] as typeof i32, 2);
  if (rank === 2)
    return kernel("store", { a: two, b: two }, ({ a, b }, i, j) => {
      a[i][j] = (b[i][j] + 5 * i + j) & 127;
    });
  const three = view(TOKENS[type] as typeof i32, 3);
  return kernel("store", { a: three, b: three }, ({ a, b }, i, j, k) => {
    a[i][j][k] = (b[i][j][k] + 25 * i + 5 * j + k) & 127;
  });
}

/** The same for f32, which has no bits to mask. */
function storingFloats(rank: number) {
  if (rank === 1)
    return kernel("store", { a: view(f32), b: view(f32) }, ({ a, b }, i) => {
      a[i] = b[i] + i;
    });
  if (rank === 2)
    return kernel("store", { a: view(f32, 2), b: view(f32, 2) }, ({ a, b }, i, j) => {
      a[i][j] = b[i][j] + 5 * i + j;
    });
  return kernel("store", { a: view(f32, 3), b: view(f32, 3) }, ({ a, b }, i, j, k) => {
    a[i][j][k] = b[i][j][k] + 25 * i + 5 * j + k;
  });
}

const KERNELS = new Map(
  (["f32", "i32", "u8"] as const).flatMap((type) =>
    [1, 2, 3].map((rank) => [`${type}${rank}`, type === "f32" ? storingFloats(rank) : storing(type, rank)] as const),
  ),
);

const refusal = { name: "LaunchError", message: /several elements (of .*)?share one place/ };

async function play(device: Device, { type, shape, from, to }: Scenario): Promise<void> {
  const { queue } = device;
  const host = Array.from({ length: SIZE }, (_, n) => (n * 37) % 127);
  const whole = device.from(TOKENS[type] as typeof i32, host);
  const made = ({ strides, offset }: Layout, buffer = whole.buffer) => new View(buffer, TOKENS[type] as typeof i32, shape, strides, offset);
  const [source, target] = [made(from), made(to)];
  const [sources, targets] = [placesOf(shape, from), placesOf(shape, to)];
  const agree = async (what: string) => assert.deepEqual([...(await queue.read(whole))], host, what);
  assert.deepEqual(
    [...(await queue.read(source))],
    sources.map((at) => host[at]),
    "read",
  );
  const other = device.from(TOKENS[type] as typeof i32, host);
  const args = { a: target, b: made(from, other.buffer) };
  const code = KERNELS.get(`${type}${shape.length}`)!;
  const run = () => device.run(code as never, args as never, (range as (...extents: number[]) => never)(...shape));
  if (meetsItself(target)) {
    assert.throws(() => queue.copy(source, target), refusal);
    assert.throws(
      () =>
        queue.write(
          target,
          sources.map(() => 1),
        ),
      refusal,
    );
    assert.throws(() => queue.clear(target), refusal);
    await assert.rejects(run(), refusal);
    return agree("what was refused");
  }
  const given = targets.map((_, n) => (n * 11) % 127);
  queue.write(target, given);
  targets.forEach((at, n) => (host[at] = given[n]));
  await agree("write");
  queue.copy(source, target);
  const old = sources.map((at) => host[at]);
  targets.forEach((at, n) => (host[at] = old[n]));
  await agree("copy, of what may overlap");
  await run();
  const before = await queue.read(other);
  placesOf(shape, {
    strides: shape.map((_, axis) => 5 ** (shape.length - 1 - axis)),
    offset: 0,
  }).forEach((index, n) => {
    const value = before[sources[n]] + index;
    host[targets[n]] = type === "f32" ? value : value & 127;
  });
  await agree("kernel");
  queue.clear(target);
  for (const at of targets) host[at] = 0;
  await agree("clear");
  for (const array of [whole, other]) array.free();
}

await eachDevice("views of one's own", (device) => {
  it("of any shape, strides and offset are read, written, copied and computed with", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, (one) => play(device, one)),
      { numRuns: RUNS, seed: 7 },
    );
  });

  it("shift, turn and transpose an array in place", async () => {
    const { queue } = device;
    const n = 30;
    const values = Float32Array.from({ length: n * n }, (_, at) => at);
    const a = device.from(f32, values, [n, n]);
    const expect = async (of: (i: number, j: number) => number) => {
      assert.deepEqual(
        await queue.read(a),
        Float32Array.from({ length: n * n }, (_, at) => of(Math.floor(at / n), at % n)),
      );
      queue.write(a, values);
    };
    queue.copy(a.slice([0, n - 1], [0, n - 1]), a.slice([1, n], [1, n]));
    await expect((i, j) => (i > 0 && j > 0 ? n * (i - 1) + j - 1 : n * i + j));
    queue.copy(a.slice(undefined, [1, n]), a.slice(undefined, [0, n - 1]));
    await expect((i, j) => n * i + Math.min(j + 1, n - 1));
    queue.copy(a.slice([0, n - 1]), a.slice([1, n]));
    await expect((i, j) => n * Math.max(0, i - 1) + j);
    queue.copy(new View(a.buffer, f32, [n, n], [1, n]), a);
    await expect((i, j) => n * j + i);
    queue.copy(new View(a.buffer, f32, [n * n], [-1], n * n - 1), a.reshape(n * n));
    await expect((i, j) => n * n - 1 - n * i - j);
    assert.throws(() => queue.capture(() => queue.copy(a.slice([0, n - 1]), a.slice([1, n]))), {
      name: "LaunchError",
      message: /share memory cannot be captured/,
    });
  });

  it("that go backwards take scattered values and results", async () => {
    const { queue } = device;
    const a = device.array(i32, 8);
    const backwards = new View(a.buffer, i32, [8], [-1], 7);
    const into = kernel("into", { a: scatter(i32), total: sum(i32) }, ({ a, total }, i) => {
      a.add(i % 8, i);
      total.add(i);
    });
    const sums = Array.from({ length: 8 }, (_, n) => 8 * n + 8 * 28);
    for (const scatter of [undefined, "atomic", "sorted", "duplicated", "cached"] as const)
      for (const precision of ["strict", "fast"] as const) {
        if (scatter !== undefined && scatter !== "sorted" && precision === "strict") continue;
        queue.clear(a);
        const ran = await device
          .run(into, { a: backwards }, range(64), { precision, ...(scatter && { scatter }) })
          .catch((error: Error) => {
            assert.match(error.message, /cannot be (cached|duplicated)/, `${scatter}`);
            return undefined;
          });
        if (ran) assert.deepEqual([...(await queue.read(backwards))], sums, `${scatter}, ${precision}`);
      }
    const result = new View(a.buffer, i32, [2], [-3], 5);
    queue.clear(a);
    const total = kernel("total", { total: sum(i32) }, ({ total }, i) => total.add(i));
    await device.run(total, { total: result }, range(5));
    assert.deepEqual([...(await queue.read(a))], [0, 0, 0, 0, 0, 10, 0, 0]);
  });

  it("whose memory was freed are refused in the same words", async () => {
    const { queue } = device;
    const [a, b] = [device.array(f32, [2, 3]), device.array(f32, [2, 3])];
    a.free();
    const used = (what: string) => ({
      name: "DeviceError",
      message: new RegExp(`a ${what} uses a view of shape \\[2,3\\] after its memory was freed`),
    });
    await assert.rejects(queue.read(a), used("read"));
    await assert.rejects(queue.read(a.at(0, 1)), /a read uses a view of shape \[3\] after/);
    assert.throws(() => queue.write(a, new Float32Array(6)), used("write"));
    assert.throws(() => queue.copy(a, b), used("copy"));
    assert.throws(() => queue.copy(b, a), used("copy"));
    assert.throws(() => queue.clear(a), used("clear"));
    await queue.finish();
  });
});

await eachDevice("runs side by side", (device) => {
  it("fail by themselves alone", async () => {
    const y = device.from(f32, new Float32Array(10).fill(1));
    const reach = kernel("reach", { n: i32, y: view(f32), s: sum(f32) }, ({ n, y, s }, i) => {
      s.add(y[n * (i % 3)]);
    });
    const runs = Array.from({ length: 40 }, (_, n) => device.run(reach, { n: n === 17 ? 100 : 1, y }, range(20)));
    const ended = await Promise.allSettled(runs);
    ended.forEach((one, n) => {
      if (n === 17) assert.match(String(one.status === "rejected" && one.reason), /index 100 is outside axis 0 of "y"/);
      else assert.deepEqual(one, { status: "fulfilled", value: { s: 20 } });
    });
    await device.queue.finish();
  });

  it("come to their end where the device is closed", async () => {
    // Code that nobody has had before may still be in the making then.
    for (const value of [1, 2 + (Date.now() % 1_000_000)]) {
      const other = await open(device.name);
      const y = other.array(f32, 100);
      const fill = kernel(
        "fill",
        { y: view(f32), s: sum(f32) },
        ({ y, s }, i) => {
          y[i] = value;
          s.add(1);
        },
        () => [value],
      );
      const run = other.run(fill, { y }, range(100));
      const closed = other.close();
      assert.throws(() => other.array(f32, 3), /it is closed/);
      await assert.rejects(other.queue.read(y), /it is closed/);
      assert.deepEqual(await run, { s: 100 });
      await closed;
    }
  });
});
