import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atomic, f32, fixed, i32, kernel, open, range, scatter, teamKernel, teams, u32, view, type Device } from "../../src/index.js";
import { eachDevice } from "../patterns/devices.js";

const N = 20_000;
const PLACES = 37;
/** Multiplicative hash, a whole number below 2^31. */
const hashed = (i: number): number => (Math.imul(i + 1, 0x9e3779b1) >>> 1) | 0;
const INPUT = Int32Array.from({ length: N }, (_, i) => hashed(i) - (i % 3 === 0 ? 0x40000000 : 0));

const commuting = kernel(
  "commuting",
  {
    a: view(i32),
    sums: atomic(i32),
    least: atomic(i32),
    most: atomic(u32),
    all: atomic(u32),
    any: atomic(i32),
    odd: atomic(i32),
    table: atomic(i32, 2),
  },
  ({ a, sums, least, most, all, any, odd, table }, i) => {
    const place = i % 37;
    sums.add(place, a[i]);
    least.min(place, a[i]);
    most.max(place, a[i] >>> 0);
    all.and(place, (a[i] | 0xff) >>> 0);
    any.or(place, a[i] & 0xf0f0);
    odd.xor(place, a[i]);
    table.sub(i % 3, place, i);
  },
);

function folded(fold: (old: number, value: number) => number, start: number): number[] {
  const results = Array<number>(PLACES).fill(start);
  INPUT.forEach((value, i) => (results[i % PLACES] = fold(results[i % PLACES], value)));
  return results;
}

const tickets = kernel("tickets", { next: atomic(u32), taken: view(u32), back: view(i32) }, ({ next, taken, back }, i) => {
  const ticket = next.add(0, 1);
  taken[i] = ticket;
  back[i] = (next.load(0) >= ticket ? 1 : 0) | 0;
});

/** Each key gets a slot of its own in a table with open addressing. */
const insert = kernel("insert", { keys: view(i32), slots: atomic(i32), place: view(i32) }, ({ keys, slots, place }, i) => {
  let at = keys[i] & 1023;
  let old = slots.compareExchange(at, -1, keys[i]);
  while (old !== -1 && old !== keys[i]) {
    at = (at + 1) & 1023;
    old = slots.compareExchange(at, -1, keys[i]);
  }
  place[i] = at;
});

const rooted = kernel("rooted", { p: view(i32), q: view(i32), parent: atomic(i32) }, ({ p, q, parent }, i) => {
  let a = p[i];
  let b = q[i];
  while (a !== b) {
    const high = Math.max(a, b);
    const low = Math.min(a, b);
    const old = parent.min(high, low);
    a = old === high ? low : old;
    b = low;
  }
});

const root = (parent: ArrayLike<number>, node: number): number => (parent[node] === node ? node : root(parent, parent[node]));

const guarded = kernel(
  "guarded",
  { lock: atomic(i32), most: fixed(i32), entered: view(i32), left: atomic(i32) },
  ({ lock, most, entered, left }, i) => {
    // Short circuits leave the operation out; both sides of a choice are not evaluated.
    const first = i % 2 === 0 && lock.exchange(0, 1) === 0;
    entered[i] = first ? left.add(0, 2) + 1 : left.load(0) - left.load(0) + most;
  },
);

const byTeams = teamKernel("byTeams", { counts: atomic(i32), order: view(i32, 2) }, ({ counts, order }, team) => {
  team.range(64, (k) => {
    order[team.index][k] = counts.add(team.index, 1);
  });
  team.single(() => {
    counts.add(team.index, 1000);
  });
});

const filled = (length: number, value: number): number[] => Array<number>(length).fill(value);
const read = async (device: Device, view: Parameters<Device["queue"]["read"]>[0]): Promise<number[]> => [
  ...(await device.queue.read(view)),
];
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

await eachDevice("atomic arrays", (device) => {
  const fast = { precision: "fast" } as const;

  it("give one result in any order, in strict mode as well, where no old value is used", async () => {
    const a = device.from(i32, INPUT);
    for (const precision of ["strict", "fast"] as const) {
      const [sums, least, any, odd] = [0, 0x7fffffff, 1, 5].map((value) => device.from(i32, filled(PLACES, value)));
      const [most, all] = [0, 0xffffffff].map((value) => device.from(u32, filled(PLACES, value)));
      const table = device.array(i32, [3, PLACES]);
      await device.run(commuting, { a, sums, least, most, all, any, odd, table }, range(N), { precision });
      assert.deepEqual(
        await read(device, sums),
        folded((x, y) => (x + y) | 0, 0),
      );
      assert.deepEqual(
        await read(device, least),
        folded((x, y) => Math.min(x, y), 0x7fffffff),
      );
      assert.deepEqual(
        await read(device, most),
        folded((x, y) => Math.max(x, y >>> 0), 0),
      );
      assert.deepEqual(
        await read(device, all),
        folded((x, y) => (x & (y | 0xff)) >>> 0, 0xffffffff),
      );
      assert.deepEqual(
        await read(device, any),
        folded((x, y) => x | (y & 0xf0f0), 1),
      );
      assert.deepEqual(
        await read(device, odd),
        folded((x, y) => x ^ y, 5),
      );
      const expected = new Int32Array(3 * PLACES);
      INPUT.forEach((_, i) => (expected[(i % 3) * PLACES + (i % PLACES)] -= i));
      assert.deepEqual(await read(device, table), [...expected]);
    }
  });

  it("give every element a ticket of its own", async () => {
    const [next, taken, back] = [device.array(u32, 1), device.array(u32, N), device.array(i32, N)];
    await device.run(tickets, { next, taken, back }, range(N), fast);
    assert.deepEqual(
      sorted(await read(device, taken)),
      Array.from({ length: N }, (_, i) => i),
    );
    assert.deepEqual(await read(device, next), [N]);
    assert.ok((await read(device, back)).every((seen) => seen === 1));
  });

  it("make a table by compare and exchange", async () => {
    const list = Int32Array.from({ length: 3000 }, (_, i) => hashed(i % 700) & 0xffff);
    const keys = device.from(i32, list);
    const slots = device.from(i32, filled(1024, -1));
    const place = device.array(i32, list.length);
    await device.run(insert, { keys, slots, place }, range(list.length), fast);
    const [table, places] = [await read(device, slots), await read(device, place)];
    places.forEach((at, i) => assert.equal(table[at], list[i]));
    assert.deepEqual(sorted(table.filter((key) => key >= 0)), sorted([...new Set(list)]));
  });

  it("join trees", async () => {
    const nodes = 2000;
    const edges = Array.from({ length: 1500 }, (_, i) => [hashed(2 * i) % nodes, hashed(2 * i + 1) % nodes]);
    const [p, q] = [0, 1].map((end) =>
      device.from(
        i32,
        Int32Array.from(edges, (edge) => edge[end]),
      ),
    );
    const parent = device.from(
      i32,
      Int32Array.from({ length: nodes }, (_, i) => i),
    );
    await device.run(rooted, { p, q, parent }, range(edges.length), fast);
    const found = await read(device, parent);
    const expected = Int32Array.from({ length: nodes }, (_, i) => i);
    for (const [a, b] of edges) {
      const [ra, rb] = [root(expected, a), root(expected, b)];
      expected[Math.max(ra, rb)] = Math.min(ra, rb);
    }
    for (let node = 0; node < nodes; node++) assert.equal(root(found, node), root(expected, node));
  });

  it("are asked only where control comes", async () => {
    const [lock, entered, left] = [device.array(i32, 1), device.array(i32, 1000), device.array(i32, 1)];
    await device.run(guarded, { lock, most: 7, entered, left }, range(1000), fast);
    const values = await read(device, entered);
    assert.equal(values.filter((value) => value === 1).length, 1);
    assert.equal(values.filter((value) => value === 7).length, 999);
    assert.deepEqual([await read(device, left), await read(device, lock)], [[2], [1]]);
  });

  it("count in shared loops of teams, and once for a team", async () => {
    const [counts, order] = [device.array(i32, 50), device.array(i32, [50, 64])];
    await device.run(byTeams, { counts, order }, teams(50), fast);
    assert.deepEqual(await read(device, counts), Array<number>(50).fill(1064));
    const seen = await read(device, order);
    for (let team = 0; team < 50; team++)
      assert.deepEqual(
        sorted(seen.slice(64 * team, 64 * team + 64)),
        Array.from({ length: 64 }, (_, k) => k),
      );
  });

  it("are changed once for each element beside sums that keep their order", async () => {
    const beside = kernel("beside", { n: atomic(i32), u: atomic(u32), h: scatter(f32, 2), x: view(f32, 2) }, ({ n, u, h, x }, i, j) => {
      n.add(0, 1);
      u.sub(j % 4, (i + 1) >>> 0);
      let s = x[i][j];
      for (let q = 0; q < 20; q++) s = s * 0.5 + x[i][j];
      h.add(i, j, s);
      h.add(i + 1, j, s);
    });
    const [rows, columns] = [200, 300];
    for (const precision of ["strict", "fast"] as const) {
      const [n, u] = [device.array(i32, 1), device.array(u32, 4)];
      const args = { n, u, h: device.array(f32, [rows + 1, columns]), x: device.array(f32, [rows, columns]) };
      await device.run(beside, args, range(rows, columns), { precision });
      assert.deepEqual(await read(device, n), [rows * columns], precision);
      const each = (rows * (rows + 1) * columns) / 8;
      assert.deepEqual(await read(device, u), Array<number>(4).fill(-each >>> 0), precision);
    }
  });

  it("are refused where another argument has the same memory", async () => {
    const two = kernel("two", { n: atomic(i32), m: atomic(i32), x: view(i32), y: view(i32) }, ({ n, m, x, y }, i) => {
      n.add(0, 1);
      m.max(0, 3);
      y[i] = x[0];
    });
    const [n, m, x, y] = [4, 4, 4, 6].map((length) => device.array(i32, length));
    const shares = /share memory, and \w+ is written/;
    await assert.rejects(device.run(two, { n, m: n, x, y }, range(6), fast), shares);
    await assert.rejects(device.run(two, { n, m, x: n, y }, range(6), fast), shares);
    await assert.rejects(
      device.run(two, { n: y.slice([0, 4]) as never, m, x: device.array(f32, 4) as never, y }, range(6), fast),
      /declare view\(f32\)/,
    );
    await assert.rejects(device.run(two, { n: device.array(u32, 4) as never, m, x, y }, range(6), fast), /declare atomic\(u32\)/);
    await device.run(two, { n, m, x, y }, range(6), fast);
    assert.deepEqual([(await read(device, n))[0], (await read(device, m))[0]], [6, 3]);
  });

  it("report an index outside, and change nothing there", async () => {
    const beyond = kernel("beyond", { at: view(i32), n: atomic(i32), old: view(i32) }, ({ at, n, old }, i) => {
      old[i] = n.add(at[i], 1) + 5;
    });
    const [at, n, old] = [device.from(i32, [0, 3, 1]), device.from(i32, [7, 8, 9]), device.array(i32, 3)];
    await assert.rejects(
      device.run(beyond, { at, n, old }, range(3), { ...fast, checked: true }),
      /changes n\[at\[i\]\]: index 3 is outside axis 0 of "n"|index 3 is outside axis 0 of "n"/,
    );
    const wide = kernel("wide", { n: atomic(i32) }, ({ n }, i) => {
      n.add(i, 1);
    });
    await assert.rejects(device.run(wide, { n }, range(4), fast), /changes n\[i\] .* with index 3|index 3 is outside/);
  });
});

describe("an atomic array", () => {
  it("is refused in strict mode where the order shows", async () => {
    const device = await open("js");
    device.precision = "strict";
    const parent = device.array(i32, 4);
    const swapped = kernel("swapped", { parent: atomic(i32), out: view(i32) }, ({ parent, out }, i) => {
      out[i] = parent.compareExchange(0, 0, i);
    });
    const mixed = kernel("mixed", { parent: atomic(i32) }, ({ parent }, i) => {
      parent.add(0, i);
      parent.max(0, 3);
    });
    const out = device.array(i32, 4);
    await assert.rejects(
      device.run(swapped, { parent, out }, range(4)),
      /parent is atomic, and what compareExchange gives depends on the order of elements: use fast mode, or a scatter and a second kernel/,
    );
    await assert.rejects(device.run(mixed, { parent }, range(4)), /what max leaves depends on the order of elements/);
    await assert.rejects(
      device.run(swapped, { parent, out }, range(4), { precision: "fast", deterministic: true }),
      /what compareExchange gives/,
    );
    await device.run(swapped, { parent, out }, range(4), { precision: "fast" });
    await device.close();
  });

  it("whose old values are used is run once by a launch that is tuned", async () => {
    const device = await open("wasm", { tune: true });
    const claim = kernel("claim", { next: atomic(i32), y: view(i32, 1, { disjoint: true }) }, ({ next, y }, i) => {
      y[next.add(0, 1)] = i;
    });
    const count = 40_000;
    const all = device.array(i32, 2 * count);
    const launch = device.prepare(claim, { next: device.array(i32, 1), y: all.slice([0, count]) }, range(count), { precision: "fast" });
    device.queue.submit(launch);
    const values = await read(device, all);
    assert.ok(values.slice(count).every((value) => value === 0));
    assert.deepEqual(
      sorted(values.slice(0, count)),
      Array.from({ length: count }, (_, i) => i),
    );
    await device.close();
  });
});
