import { range, teams } from "../../device/launch/policy.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { atomic, i32, u32, view } from "../../kernel/declare/params.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { noiseValue } from "../values.js";

const PLACES = 13;

/** Each array takes one operation, and no old value is used: results do not depend on the order of elements. */
const commuting = kernel(
  "commuting",
  { a: view(i32), sums: atomic(i32), least: atomic(i32), most: atomic(u32), all: atomic(u32), any: atomic(i32), odd: atomic(i32, 2) },
  ({ a, sums, least, most, all, any, odd }, i) => {
    const place = i % 13;
    sums.sub(place, a[i]);
    least.min(place, a[i]);
    most.max(place, a[i] >>> 0);
    all.and(place, (a[i] | 0xff) >>> 0);
    any.or(place, a[i] & 0xf0f0);
    odd.xor(i % 2, place, a[i]);
  },
);
const tickets = kernel("tickets", { next: atomic(u32), taken: view(u32) }, ({ next, taken }, i) => {
  taken[i] = i % 3 > 0 ? next.add(0, 1) : next.load(1);
});
/** Gives each key a slot, where two keys may want the same. */
const insert = kernel("insert", { keys: view(i32), slots: atomic(i32), place: view(i32) }, ({ keys, slots, place }, i) => {
  let at = keys[i] % 64;
  let old = slots.compareExchange(at, -1, keys[i]);
  while (old !== -1 && old !== keys[i]) {
    at = (at + 1) % 64;
    old = slots.compareExchange(at, -1, keys[i]);
  }
  place[i] = at;
});
const counted = teamKernel("counted", { counts: atomic(i32), order: view(i32, 2) }, ({ counts, order }, team) => {
  team.range(40, (k) => {
    order[team.index][k] = counts.add(team.index, 1);
  });
  team.single(() => {
    counts.store(team.index, counts.exchange(team.index, 0) + 1000);
  });
});

const list = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));
const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

export const atomicCases: ConformanceCase[] = [
  conformanceCase(179, "atomic arrays: one result in any order where no old value is used, in strict mode as well", async (device) => {
    const n = 3000;
    const input = list(n, (k) => Math.floor(4294967296 * noiseValue(k)) | 0);
    const a = device.from(i32, input);
    const fold = (start: number, f: (old: number, value: number) => number): number[] => {
      const results = list(PLACES, () => start);
      input.forEach((value, i) => (results[i % PLACES] = f(results[i % PLACES], value)));
      return results;
    };
    const odd = new Int32Array(2 * PLACES);
    input.forEach((value, i) => (odd[(i % 2) * PLACES + (i % PLACES)] ^= value));
    for (const precision of ["strict", "fast"] as const) {
      const made = {
        sums: device.array(i32, PLACES),
        least: device.from(
          i32,
          list(PLACES, () => 0x7fffffff),
        ),
        most: device.array(u32, PLACES),
        all: device.from(
          u32,
          list(PLACES, () => 0xffffffff),
        ),
        any: device.array(i32, PLACES),
        odd: device.array(i32, [2, PLACES]),
      };
      await device.run(commuting, { a, ...made }, range(n), { precision });
      const expected = {
        sums: fold(0, (old, value) => (old - value) | 0),
        least: fold(0x7fffffff, Math.min),
        most: fold(0, (old, value) => Math.max(old, value >>> 0)),
        all: fold(0xffffffff, (old, value) => (old & (value | 0xff)) >>> 0),
        any: fold(0, (old, value) => old | (value & 0xf0f0)),
        odd: [...odd],
      };
      for (const [name, values] of Object.entries(expected))
        expectSame(await device.queue.read(made[name as keyof typeof made]), values, `${name}, ${precision}`);
    }
  }),
  conformanceCase(180, "atomic arrays: old values in fast mode, by elements and by members of teams", async (device) => {
    const fast = { precision: "fast" } as const;
    const n = 3000;
    const [next, taken] = [device.from(u32, [0, 7]), device.array(u32, n)];
    await device.run(tickets, { next, taken }, range(n), fast);
    const given = [...(await device.queue.read(taken))];
    expectSame(
      sorted(given.filter((_, i) => i % 3 > 0)),
      list(2000, (k) => k),
      "tickets",
    );
    expectSame(
      given.filter((_, i) => i % 3 === 0),
      list(1000, () => 7),
      "loads",
    );
    const keys = list(500, (k) => Math.floor(1000 * noiseValue(k % 50)));
    const [slots, place] = [
      device.from(
        i32,
        list(64, () => -1),
      ),
      device.array(i32, 500),
    ];
    await device.run(insert, { keys: device.from(i32, keys), slots, place }, range(500), fast);
    const table = await device.queue.read(slots);
    expectSame(
      [...(await device.queue.read(place))].map((at) => table[at]),
      keys,
      "keys at their places",
    );
    expectSame(sorted(table.filter((key) => key >= 0)), sorted(new Set(keys)), "keys, once each");
    const [counts, order] = [device.array(i32, 9), device.array(i32, [9, 40])];
    await device.run(counted, { counts, order }, teams(9), fast);
    expectSame(
      await device.queue.read(counts),
      list(9, () => 1040),
      "counts of teams",
    );
    const rows = [...(await device.queue.read(order))];
    expectSame(
      list(9, (t) => sorted(rows.slice(40 * t, 40 * t + 40))).flat(),
      list(360, (k) => k % 40),
      "tickets of members",
    );
  }),
];
