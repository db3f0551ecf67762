import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dense } from "../../../src/domain/index.js";
import { particles, type SpeciesOptions } from "../../../src/domain/particles/index.js";
import { f32, f64, i32 } from "../../../src/kernel/declare/params.js";
import { KINDS, type Active } from "../kinds.js";
import { jsSet, jsSets, noise } from "../sets.js";
import type { DeviceSet } from "../../../src/set/index.js";

const [one, two, three, four, seven] = [1, 2, 3, 4, 7].map(jsSet);
const EXTENTS = [6, 14];

interface Where {
  periodic?: boolean | [boolean, boolean];
  active?: Active;
  kind?: keyof typeof KINDS;
}

/** Particles that are told by how much to move, and a container that moves them. */
function walkers(set: DeviceSet, { periodic = false, active, kind = "dense" }: Where = {}, options: SpeciesOptions = {}) {
  const grid = KINDS[kind](set, EXTENTS, active, { periodic });
  const species = particles(grid, "walkers", { step: [f64, 2], id: i32 }, options);
  const { x, step } = species.columns;
  const [walk] = species.container("walk", { x, step }, ({ x, step }, p) => {
    for (let a = 0; a < 2; a++) x[p][a] += step[p][a];
  });
  const load = (list: readonly (readonly [x: number, y: number, dx: number, dy: number])[]): void =>
    species.load({
      x: list.flatMap(([x, y]) => [x, y]),
      step: list.flatMap(([, , dx, dy]) => [dx, dy]),
      id: list.map((_, n) => n),
    });
  return { grid, species, walk, load };
}

/** A walker in each cell, near its corner. */
const inEachCell = (dx: number, dy: number): [number, number, number, number][] =>
  Array.from({ length: EXTENTS[0] * EXTENTS[1] }, (_, n) => [(n % 6) + 0.25, Math.floor(n / 6) + 0.5, dx, dy]);

describe("particles that move", () => {
  it("go with all their columns to the member and the list of the cell in which they are", async () => {
    for (const [kind, layout, set] of [
      ["dense", "soa", one],
      ["dense", "aos", seven],
      ["sparse", "aos", three],
      ["bricks", "soa", three],
    ] as const) {
      const { grid, species, walk, load } = walkers(set, { kind, periodic: kind === "dense" }, { layout, leaving: "absorb" });
      const list = Array.from({ length: 60 }, (_, n) => [3 + 2.9 * noise(n, 1), 7 + 6.9 * noise(n, 2), noise(n, 3), noise(n, 4)] as const);
      load(list);
      for (let turn = 0; turn < 4; turn++) {
        await grid.run(walk);
        await species.sort();
      }
      const { x, step, id } = await species.download();
      assert.equal(new Set(id).size, id.length, "nobody is there twice");
      if (kind === "dense") assert.equal(id.length, 60, "nobody is lost");
      else assert.ok(id.length > 20 && id.length < 60, "some have left");
      id.forEach((n, at) => assert.deepEqual([...step.subarray(2 * at, 2 * at + 2)], list[n].slice(2)));
      const [first, count] = [await species.first.download(), await species.count.download()];
      const cells = Array.from(id, (_, at) => Math.floor(x[2 * at + 1]) * 6 + Math.floor(x[2 * at]));
      assert.deepEqual(
        cells,
        cells.toSorted((a, b) => a - b),
        set.name,
      );
      const held = await species.held();
      let [passed, rank] = [0, 0];
      grid.partitions.forEach(({ first: begin, planes }, m) => {
        for (let cell = begin * 6; cell < (begin + planes) * 6; cell++) {
          assert.equal(first[cell], rank - passed, `${set.name}, cell ${cell}`);
          assert.equal(count[cell], cells.filter((other) => other === cell).length);
          rank += count[cell];
        }
        assert.equal(held[m], rank - passed);
        passed = rank;
      });
      grid.free();
    }
  });

  it("come back at the other end of a periodic axis, however far they went on one member", async () => {
    for (const set of [one, two, seven]) {
      const { grid, species, walk, load } = walkers(set, { periodic: true });
      load(inEachCell(-0.5, 1.25));
      for (let turn = 0; turn < 12; turn++) await grid.run(walk);
      const { x, id } = await species.download();
      id.forEach((n, at) => {
        const expected = [(n % 6) + 0.25, (Math.floor(n / 6) + 0.5 + 15) % 14];
        assert.deepEqual([...x.subarray(2 * at, 2 * at + 2)], expected, `${set.name}, particle ${n}`);
      });
    }
    const { grid, species, walk, load } = walkers(one, { periodic: true });
    load([[0.5, 0.5, 100, -1000]]);
    await grid.run(walk);
    assert.deepEqual([...(await species.download()).x], [100.5 % 6, 14 - (999.5 % 14)]);
  });

  it("that arrive at an end by rounding are at the other one", async () => {
    const { grid, species, walk, load } = walkers(two, { periodic: true });
    load([[0, 3.5, -1e-20, 0]]);
    await grid.run(walk);
    assert.deepEqual([...(await species.download()).x], [0, 3.5]);
  });

  it("keep an order that does not depend on the members", async () => {
    const orders = [];
    for (const set of jsSets) {
      const { grid, species, walk, load } = walkers(set, { periodic: true });
      load(Array.from({ length: 300 }, (_, n) => [3 + 2.9 * noise(n, 1), 7 + 6.9 * noise(n, 2), noise(n, 3), noise(n, 4)] as const));
      // Twice without a sort in between.
      for (let turn = 0; turn < 2; turn++) await grid.run(walk);
      orders.push([...(await species.download()).id]);
    }
    for (const [n, order] of orders.entries()) assert.deepEqual(order, orders[0], jsSets[n].name);
  });

  it("may have positions of f32", async () => {
    const grid = dense(three, EXTENTS, { periodic: [false, true] });
    const species = particles(grid, "light", { id: i32 }, { positions: f32 });
    const { x } = species.columns;
    const [walk] = species.container("walk", { x }, ({ x }, p) => {
      x[p][1] += 1.5;
    });
    species.load({ x: [2.5, 13.9, 4.1, 0.2], id: [7, 8] });
    await grid.run(walk);
    const found = await species.download();
    assert.ok(found.x instanceof Float32Array);
    assert.deepEqual([...found.id], [7, 8]);
    const places = [2.5, Math.fround(Math.fround(13.9) + 1.5) - 14, 4.1, Math.fround(0.2) + 1.5];
    assert.deepEqual([...found.x], places.map(Math.fround));
    assert.throws(
      () => species.load({ x: [5.9999999999, 1] }),
      /particle 0 is at \[6,1\], in no active cell of the grid of \[6,14\] cells/,
    );
  });
});

describe("particles that are in no cell of the grid", () => {
  it("end the run where that is refused, and can be looked at", async () => {
    for (const set of [one, three]) {
      const { grid, species, walk, load } = walkers(set);
      load([
        [3.5, 13.5, 0, 0.75],
        [0.5, 0.5, -1.5, 0],
        [2.5, 6.5, 0, 0],
      ]);
      await grid.run(walk);
      await assert.rejects(
        species.download().then(() => species.check("walking")),
        /^IsoformError: walking: 2 particles of "walkers" have left the grid, one of them at \[(-1,0.5|3.5,14.25)\] on js.*; use \{ leaving: "absorb" \} to remove them$/,
      );
      assert.deepEqual([...(await species.download()).id].sort(), [0, 1, 2]);
    }
  });

  it("are taken out where they are absorbed", async () => {
    for (const set of [one, three]) {
      const { grid, species, walk, load } = walkers(set, {}, { leaving: "absorb" });
      load([
        [3.5, 13.5, 0, 0.75],
        [0.5, 0.5, -1.5, 0],
        [2.5, 6.5, 0, 0],
      ]);
      await grid.run(walk);
      assert.deepEqual([...(await species.download()).id], [2]);
      await species.check("walking");
      assert.equal(
        (await species.held()).reduce((a, b) => a + b),
        1,
      );
    }
  });

  it("are those in cells that are not active, too", async () => {
    const active: Active = (x, y) => x !== 3 || y > 6;
    for (const kind of ["dense", "sparse", "bricks"] as const)
      for (const leaving of ["refuse", "absorb"] as const) {
        const { grid, species, walk, load } = walkers(three, { active, kind }, { leaving });
        load([
          [2.5, 1.5, 1, 0],
          [2.5, 8.5, 1, 0],
        ]);
        await grid.run(walk);
        const { id } = await species.download();
        if (leaving === "absorb") assert.deepEqual([...id], [1]);
        else await assert.rejects(species.check("walking"), /1 particle of "walkers" has left the grid, at \[3.5,1.5\]/);
      }
  });

  it("are those whose position is not a number, or infinite, on any axis", async () => {
    for (const set of [one, three])
      for (const periodic of [false, true])
        for (const [dx, dy] of [
          [NaN, 0],
          [0, NaN],
        ]) {
          const { grid, species, walk, load } = walkers(set, { periodic }, { leaving: "absorb" });
          load([
            [2.5, 6.5, dx, dy],
            [2.5, 6.5, 0, 0],
          ]);
          await grid.run(walk);
          assert.deepEqual([...(await species.download()).id], [1]);
          await assert.rejects(
            species.check("walking"),
            /walking: 1 particle of "walkers" has a position that is not a number, at \[(NaN,6.5|2.5,NaN)\] on js/,
          );
        }
    for (const periodic of [false, true]) {
      const { grid, species, walk, load } = walkers(three, { periodic });
      load([[2.5, 6.5, Infinity, 0]]);
      await grid.run(walk);
      await species.sort();
      await assert.rejects(species.check("walking"), periodic ? /has a position that is not a number/ : /has left the grid/);
    }
  });
});

describe("particles that go too far, or are too many", () => {
  it("past the next member are refused, and are none too far on one member", async () => {
    const list: [number, number, number, number][] = [[2.5, 0.5, 0, 11]];
    for (const [set, fails] of [
      [one, false],
      [two, false],
      [four, true],
    ] as const) {
      const { grid, species, walk, load } = walkers(set);
      load(list);
      await grid.run(walk);
      await species.sort();
      const check = species.check("walking");
      if (fails)
        await assert.rejects(
          check,
          /particles of "walkers" went farther than to the next member, or more than \d+ to one at a time; use shorter steps, fewer devices, or a larger \{ exchange \}/,
        );
      else {
        await check;
        assert.deepEqual([...(await species.download()).x], [2.5, 11.5]);
      }
    }
  });

  it("for an exchange are refused, and stay where they were", async () => {
    const { grid, species, walk, load } = walkers(two, {}, { exchange: 2 });
    load([0, 1, 2].map((n) => [n + 0.5, 6.5, 0, 1]));
    await grid.run(walk);
    await species.sort();
    await assert.rejects(species.check("walking"), /more than 2 to one at a time/);
    assert.equal(
      (await species.held()).reduce((a, b) => a + b),
      3,
      "nobody is lost",
    );
  });

  it("for a member are refused", async () => {
    const { grid, species, walk, load } = walkers(two, {}, { capacity: 4, exchange: 4 });
    load(
      [0, 1, 2].flatMap((n) => [
        [n + 0.5, 6.5, 0, 1],
        [n + 0.5, 9.5, 0, 0],
      ]),
    );
    await grid.run(walk);
    await species.sort();
    await assert.rejects(
      species.check("walking"),
      /a member has room for 4 particles of "walkers", and 2 more came; give a larger \{ capacity \}/,
    );
  });
});
