import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, i32 } from "../../../src/kernel/declare/params.js";
import { u8 } from "../../../src/kernel/declare/storage.js";
import { dense } from "../../../src/domain/index.js";
import { HostField } from "../host-field.js";
import { jsSet, jsSets, noise, onEachBackend } from "../sets.js";

const extents = [13, 4, 15] as const;
const holes = (x: number, y: number, z: number): boolean => noise(x, y, z) > -0.3;
const byte = (x: number, y: number, z: number, k: number): number => (x + 7 * y + 31 * z + 5 * k) % 256;

await onEachBackend("fields", ({ all }) => {
  for (const layout of ["soa", "aos"] as const)
    it(`of ${layout} layout take values from the host and give them back`, async () => {
      for (const set of all)
        for (const active of [undefined, holes]) {
          const grid = dense(set, extents, { active });
          grid.require([[1, 0, 2]]);
          for (const type of [f64, f32, i32, u8]) {
            const field = grid.field("field", type, { cardinality: 2, layout, fillValue: 3 });
            assert.deepEqual([...(await field.download())], new HostField(extents, () => 0, active, 3, 2).data);
            field.fill(byte);
            const expected = new HostField(extents, byte, active, 3, 2);
            assert.deepEqual([...(await field.download())], expected.data, set.name);
            field.fill(9);
            assert.deepEqual([...(await field.download())], new HostField(extents, () => 9, active, 3, 2).data);
            field.upload(new HostField(extents, byte, undefined, 0, 2).data);
            assert.deepEqual([...(await field.download())], expected.data);
          }
          grid.free();
        }
    });
});

describe("fields", () => {
  for (const set of jsSets)
    it(`give and take single values on ${set.name}`, async () => {
      const grid = dense(set, extents, { active: holes });
      const u = grid.field("u", f64, { cardinality: 3, fillValue: -1 });
      u.fill((x, y, z, k) => x + 100 * y + 1000 * z + k / 4);
      for (const cell of [
        [0, 0, 0],
        [12, 3, 10],
        [5, 2, 6],
        [-1, 0, 0],
        [0, 0, 15],
      ]) {
        const [x, y, z] = cell;
        const inside = new HostField(extents, () => 0, holes).contains(x, y, z);
        assert.equal(await u.get(cell, 2), inside ? x + 100 * y + 1000 * z + 0.5 : -1);
        if (!inside) assert.throws(() => u.set(cell, 1), /field "u": cell \[.*\] is not an active cell/);
        else {
          u.set(cell, 42, 1);
          assert.equal(await u.get(cell, 1), 42);
          assert.equal((await u.download())[((z * 4 + y) * 13 + x) * 3 + 1], 42);
        }
      }
      grid.free();
    });

  it("are filled with their halos", async () => {
    const grid = dense(jsSet(3), extents);
    grid.require([[0, 0, 1]]);
    for (const write of [(f: typeof p) => f.fill(5), (f: typeof p) => f.fill(() => 5)]) {
      const f = grid.field("f", f64, { layout: "aos", cardinality: 2 });
      write(f);
      for (const { to, target } of grid.halo(f)) {
        const halo = [...(await jsSet(3).locals[to].queue(0).read(target!))];
        assert.equal(halo.filter((v) => v === 5).length, 13 * 4 * 2);
      }
    }
    const p = grid.field("p", f64, { layout: "aos", cardinality: 2 });
    grid.free();
  });

  it("are swapped without a copy", async () => {
    const grid = dense(jsSet(2), extents);
    const [a, b] = [grid.field("a", f64), grid.field("b", f64)];
    a.fill(1);
    b.fill(2);
    const [storageA, storageB] = [a.storage, b.storage];
    const add = grid.container("add", { a, b }, ({ a, b }, c) => {
      a[c] += 10 * b[c];
    });
    for (let n = 0; n < 3; n++) {
      await grid.run(add);
      a.swap(b);
    }
    assert.equal(a.storage, storageB);
    assert.equal(b.storage, storageA);
    assert.equal(await a.get([1, 1, 1]), 212);
    assert.equal(await b.get([1, 1, 1]), 2141);
    const other = grid.field("other", f64, { fillValue: 1 });
    assert.throws(
      () => a.swap(other),
      /fields "a" and "other" cannot be swapped: they need one grid, type, cardinality, layout and fill value/,
    );
    grid.free();
  });

  it("refuse what they cannot hold, and use after free", async () => {
    const grid = dense(jsSet(1), extents);
    assert.throws(() => grid.field("f", f64, { cardinality: 0 }), /field "f" has cardinality 0; give a whole number of at least 1/);
    assert.throws(() => grid.field("f", u8, { fillValue: 256 }), /u8 cannot hold/);
    assert.throws(() => grid.field("f", f64, { outside: 1 } as object), /field "f" has no option "outside"; it has .*fillValue/);
    assert.throws(() => grid.field("f", f64, { layout: "left" as "soa" }), /layout "left"; use "soa" or "aos"/);
    const f = grid.field("f", i32);
    assert.throws(() => f.upload([1, 2]), /field "f" is given 2 values; it takes 780, 1 for each cell of \[13,4,15\]/);
    assert.throws(() => f.fill(0.5), /0.5/);
    assert.throws(() => f.fill(() => 0.5), /0.5/);
    const bytes = grid.field("bytes", u8);
    for (const value of [256, -1, 0.5, Number.NaN]) assert.throws(() => bytes.fill(value), /u8 cannot hold/);
    const g = grid.field("g", f64, { cardinality: 2 });
    const noReturn = (() => undefined) as unknown as () => number;
    assert.throws(() => g.fill(noReturn), /field "g", component 0 of cell \[0,0,0\] is nothing: give numbers/);
    assert.throws(() => g.fill((x, y, z, k) => (k === 1 ? ("1" as unknown as number) : x)), /component 1 .*a string/);
    assert.throws(() => f.set([1, 1, 1], 0.5), /0.5/);
    await assert.rejects(f.get([1, 1]), /field "f": cell \[1,1\] of a grid of dimension 3/);
    await assert.rejects(f.get([1, 1, 1], 1), /field "f": component 1 of 1/);
    f.free();
    f.free();
    assert.throws(() => f.fill(1), /field "f" was freed/);
  });
});
