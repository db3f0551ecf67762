import assert from "node:assert/strict";
import { it } from "node:test";
import type { View } from "../../src/device/memory/view.js";
import { f32, f64, i32, u32 } from "../../src/kernel/declare/params.js";
import { argsort, reduceByKey, scan, unique } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

const TYPES = { f64, f32, i32, u32 };
type Type = keyof typeof TYPES;

const SPECIAL = [NaN, -0, 0, Infinity, -Infinity, 1e-310, -1e-310, 1e-40, -1e-40, 1 + 2 ** -40, 1 + 2 ** -41, -1 - 2 ** -40, 3e38, -3e38];

/** Keys of which many are equal. */
function keysOf(type: Type, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const noise = noiseValue(3 * k + 1);
    if (type === "i32") return Math.floor((noise - 0.5) * (k % 2 === 0 ? 20 : 2 ** 32));
    if (type === "u32") return Math.floor(noise * (k % 2 === 0 ? 20 : 2 ** 32));
    return k % 3 === 0 ? SPECIAL[Math.floor(noise * SPECIAL.length)] : k % 3 === 1 ? Math.floor(noise * 10) - 5 : noise - 0.5;
  });
}

const same = (a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** NaN last, and equal keys in their order, in both directions. */
function orderOf(keys: ArrayLike<number>, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return [...Array(keys.length).keys()].sort((i, j) => {
    const [a, b] = [keys[i], keys[j]];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || i - j;
    return a < b ? -sign : a > b ? sign : i - j;
  });
}

await eachDevice("keys", (device) => {
  const types = (["f64", "f32", "i32", "u32"] as const).filter((type) => type !== "f64" || device.capabilities.f64);
  const counts = ["js", "wasm"].includes(device.backend) ? [0, 1, 2, 959, 961, 8193, 20_000] : [0, 1, 961, 2000];
  const read = async (view: View): Promise<number[]> => [...((await device.queue.read(view)) as Float64Array)];
  /** The keys as a device of f32 has them: it may flush subnormal numbers in sums, and must not here. */
  const prepared = async (type: Type, count: number) => {
    const keys = device.from(TYPES[type], keysOf(type, count)) as View<Type, 1>;
    return { keys, own: await read(keys) };
  };

  for (const type of types) {
    it(`of ${type} are ordered, NaN last and equal keys in their order`, async () => {
      for (const count of counts) {
        const { keys, own } = await prepared(type, count);
        const order = device.array(i32, count);
        for (const descending of [false, true]) {
          const pattern = argsort(device, { keys, order, descending });
          for (let turn = 0; turn < 2; turn++) pattern.submit();
          assert.deepEqual(await read(order), orderOf(own, descending), `${count} ${descending}`);
          pattern.free();
        }
        for (const view of [keys, order]) view.free();
      }
    });

    it(`of ${type} are told apart, counted and found again`, async () => {
      for (const count of counts) {
        const { keys, own } = await prepared(type, count);
        const int = () => device.array(i32, count);
        const values = device.array(TYPES[type], count) as View<Type, 1>;
        const views = { values, counts: int(), index: int(), inverse: int(), count: device.array(i32, 1) };
        const pattern = unique(device, { keys, ...views });
        await pattern.run();
        const order = orderOf(own, false);
        const heads = order.filter((at, place) => place === 0 || !same(own[at], own[order[place - 1]]));
        assert.deepEqual(await read(views.count), [heads.length]);
        const firsts = async (view: View): Promise<number[]> => (await read(view)).slice(0, heads.length);
        assert.deepEqual(
          await firsts(values),
          heads.map((at) => own[at]),
        );
        assert.deepEqual(await firsts(views.index), heads);
        const inverse = own.map((key) => heads.findIndex((at) => same(own[at], key)));
        assert.deepEqual(await read(views.inverse), inverse);
        const times = heads.map(() => 0);
        for (const place of inverse) times[place] += 1;
        assert.deepEqual(await firsts(views.counts), times);
        pattern.free();
        for (const view of [keys, ...Object.values(views)]) view.free();
      }
    });

    it(`of ${type} that lie side by side have one fold`, async () => {
      const folded = device.capabilities.f64 && type !== "f32" ? "f64" : "f32";
      for (const count of counts) {
        const kinds = keysOf(type, 12);
        // Runs of all lengths, some longer than a tile
        const own = Array.from({ length: count }, (_, k) => kinds[Math.floor(Math.sqrt(k) / (k > 4000 ? 12 : 1)) % 12]);
        const keys = device.from(TYPES[type], own) as View<Type, 1>;
        const exact = await read(keys);
        const values = device.from(
          TYPES[folded],
          Array.from({ length: count }, (_, k) => noiseValue(k) - 0.3),
        );
        const out = { uniqueKeys: device.array(TYPES[type], count) as View<Type, 1>, sums: device.array(TYPES[folded], count) };
        const runs = device.array(i32, 1);
        const isHead = exact.map((key, k) => k === 0 || !same(key, exact[k - 1]));
        const heads = [...isHead.keys()].filter((k) => isHead[k]);
        const segments = { flags: device.from(u32, isHead.map(Number)) };
        for (const op of ["sum", "min"] as const) {
          const pattern = reduceByKey(device, { keys, values, op, ...out, count: runs } as never);
          await pattern.run();
          assert.deepEqual(await read(runs), [heads.length]);
          assert.deepEqual(
            (await read(out.uniqueKeys)).slice(0, heads.length),
            heads.map((k) => exact[k]),
          );
          // The documented order: a scan with segments
          const output = device.array(TYPES[folded], count);
          const scanned = scan(device, { input: values, output, op, segments } as never);
          await scanned.run();
          const prefixes = await read(output);
          assert.deepEqual(
            (await read(out.sums)).slice(0, heads.length),
            heads.map((_, n) => prefixes[(heads[n + 1] ?? count) - 1]),
          );
          for (const thing of [pattern, scanned, output]) thing.free();
        }
        for (const view of [keys, values, runs, segments.flags, ...Object.values(out)]) view.free();
      }
    });
  }

  it("may be strided", async () => {
    const rows = device.from(f32, [3, 9, 1, 8, 2, 7], [3, 2]);
    const order = device.array(i32, 3);
    await argsort(device, { keys: rows.at(1, 1), order }).run();
    assert.deepEqual(await read(order), [2, 1, 0]);
    await argsort(device, { keys: rows.at(1, 0), order }).run();
    assert.deepEqual(await read(order), [1, 2, 0]);
  });

  it("are refused with the thing named", () => {
    const [keys, order, count] = [device.array(f32, 4), device.array(i32, 4), device.array(i32, 1)];
    const refused = (run: () => unknown, message: RegExp): void => assert.throws(run, { name: "LaunchError", message });
    refused(() => argsort(device, { keys, order: device.array(i32, 3) }), /argsort of 4 keys with an order of 3 i32: give a view of 4 i32/);
    refused(() => argsort(device, { keys: device.array(f32, [2, 2]), order } as never), /argsort is given .*: give a view of rank 1/);
    refused(() => argsort(device, { keys, order, ascending: true } as never), /argsort has no option "ascending"/);
    refused(() => unique(device, { keys, values: device.array(f32, 3), count }), /unique: values is f32 \[3\]: give a view of 4 f32/);
    refused(() => unique(device, { keys, values: keys, count }), /unique: values and keys share memory/);
    const run = { keys, values: device.array(f32, 4), uniqueKeys: device.array(f32, 4), sums: device.array(f32, 4), count };
    refused(() => reduceByKey(device, { ...run, op: "mean" as never }), /reduceByKey has no operation "mean"/);
    refused(() => reduceByKey(device, { ...run, op: "sum", count: order }), /reduceByKey: count is i32 \[4\]: give a view of 1 i32/);
    refused(() => reduceByKey(device, { ...run, op: "sum", sums: run.values }), /reduceByKey: sums and values share memory/);
  });
});
