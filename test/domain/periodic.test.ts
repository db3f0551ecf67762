import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32 } from "isoform";
import { bricks, dense, makeGrid, sparse, type Cell, type FieldAccess } from "../../src/domain/index.js";
import { KINDS, sphere, type Active } from "./kinds.js";
import { callPlainly, type PlainField } from "./container/plain-container.js";
import { jsSet, jsSets, noise, onEachBackend } from "./sets.js";

const EXTENTS = [20, 12, 14] as const;
const FILL_VALUE = 0.25;

interface Params {
  u: FieldAccess<3, 3>;
  v: FieldAccess<3, 3>;
  n: FieldAccess<1, 3>;
}

/** Neighbours in all directions, of which one is a whole turn away, their activity, and coordinates. */
function around({ u, v, n }: Params, c: Cell<3>): void {
  for (let k = 0; k < 3; k++)
    v[c][k] =
      u[c][k] + 2 * u.at(c, 2, 0, 0)[k] - u.at(c, -1, 1, 0)[k] + 3 * u.at(c, 0, -1, 1)[k] - u.at(c, 20, 0, -2)[k] * u.at(c, -2, -2, 2)[k];
  n[c] = c.x + 100 * c.y + 10000 * c.z;
  if (u.isActive(c, 1, 0, 0)) n[c] += 1000000;
  if (u.isActive(c, 0, -1, 0)) n[c] += 2000000;
  if (u.isActive(c, 0, 0, 2)) n[c] += 4000000;
}

/** Writes other cells, some of them beyond the ends. */
function exchange({ u }: Pick<Params, "u">, c: Cell<3>): void {
  const [a, b] = [u.at(c, 1, 0, 0)[0], u.at(c, 0, -1, 2)[1]];
  u.at(c, 1, 0, 0)[0] = 0.5 * b + c.x;
  u.at(c, 0, -1, 2)[1] = a - u[c][2];
  u[c][2] = a + b;
}

const [NX, NY, NZ] = EXTENTS;
const CELLS = Array.from({ length: NX * NY * NZ }, (_, p) => [p % NX, Math.floor(p / NX) % NY, Math.floor(p / NX / NY)] as const);

interface Plain {
  cardinality: number;
  fillValue: number;
  periodic: readonly boolean[];
  value: (x: number, y: number, z: number, k: number) => number;
  active?: Active;
}

function plainField({ cardinality, fillValue, periodic, value, active = () => true }: Plain): PlainField {
  const values = CELLS.flatMap(([x, y, z]) =>
    Array.from({ length: cardinality }, (_, k) => (active(x, y, z) ? value(x, y, z, k) : fillValue)),
  );
  const mask = Uint8Array.from(CELLS, ([x, y, z]) => (active(x, y, z) ? 1 : 0));
  return { extents: EXTENTS, cardinality, fillValue, periodic, active: mask, data: Float64Array.from(values) };
}

/** What two runs of `around`, there and back, leave in u, v and n. */
function plainly(periodic: readonly boolean[], active: Active | undefined): number[][] {
  const isActive = ([x, y, z]: readonly number[]) => active?.(x, y, z) ?? true;
  const vector = (value: Plain["value"]) => plainField({ cardinality: 3, fillValue: FILL_VALUE, periodic, value, active });
  const [u, v] = [vector(noise), vector(() => 0)];
  const n = plainField({ cardinality: 1, fillValue: -7, periodic, value: () => 0, active });
  callPlainly(around, { u, v, n }, [0, 0, 0], EXTENTS, isActive);
  callPlainly(around, { u: v, v: u, n }, [0, 0, 0], EXTENTS, isActive);
  return [u, v, n].map(({ data }) => [...data]);
}

onEachBackend("periodic grids", ({ all, some, of }) => {
  it("runs loops that cells leave at different times on neighbours beyond the ends", async () => {
    const ring = dense(all[0], [37, 3], { periodic: true });
    const [a, root] = ["a", "root"].map((name) => ring.field(name, f64));
    const newton = ring.container("newton", { a, root }, ({ a, root }, c) => {
      let x = 1;
      let change = 1;
      for (let n = 0; n < 30 && Math.abs(change) > 1e-9; n++) {
        change = 0.5 * (a.at(c, 1, 0) / x - x);
        x += change;
      }
      root[c] = x;
    });
    const square = (x: number, y: number) => 1 + ((37 * x + 11 * y) % 101) ** 2;
    a.fill(square);
    await ring.run(newton);
    const found = await root.download();
    for (let y = 0; y < 3; y++)
      for (let x = 0; x < 37; x++) assert.ok(Math.abs(found[37 * y + x] / Math.sqrt(square((x + 1) % 37, y)) - 1) < 1e-12, `${x}, ${y}`);
    ring.free();
  });

  for (const [title, periodic, active] of [
    ["all axes of the whole box", [true, true, true], undefined],
    ["all axes of a sphere that is cut", [true, true, true], sphere],
    ["x alone", [true, false, false], undefined],
    ["y alone", [false, true, false], undefined],
    ["z alone", [false, false, true], sphere],
  ] as const)
    it(`read across periodic boundaries as the function itself does: ${title}`, async () => {
      const expected = plainly(periodic, active);
      for (const kind of ["dense", "sparse"] as const)
        for (const set of all) {
          const grid = KINDS[kind](set, EXTENTS, active, { periodic });
          const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { cardinality: 3, fillValue: FILL_VALUE }));
          const n = grid.field("n", i32, { fillValue: -7 });
          const there = grid.container("there", { u, v, n }, around as never);
          const back = grid.container("back", { u: v, v: u, n }, around as never);
          u.fill(noise);
          await grid.run(there, { precision: "strict" });
          await grid.run(back, { precision: "strict" });
          const found = await Promise.all([u, v, n].map(async (field) => [...(await field.download())]));
          assert.deepEqual(found, expected, `${kind} on ${set.name}`);
          grid.free();
        }
    });

  for (const active of [undefined, sphere])
    it(`write across periodic boundaries on one member, ${active ? "some cells active" : "all cells active"}`, async () => {
      const periodic = [true, false, true];
      const plain = plainField({ cardinality: 3, fillValue: FILL_VALUE, periodic, value: noise, active });
      const grid = dense(of(1), EXTENTS, { active, periodic });
      const u = grid.field("u", f64, { cardinality: 3, fillValue: FILL_VALUE });
      const made = grid.container("exchange", { u }, exchange as never);
      u.fill(noise);
      for (let turn = 0; turn < 2; turn++) {
        await grid.run(made, { precision: "strict" });
        callPlainly(exchange, { u: plain }, [0, 0, 0], EXTENTS, ([x, y, z]) => active?.(x, y, z) ?? true);
      }
      assert.deepEqual([...(await u.download())], [...plain.data]);
      grid.free();
    });

  it("are coarsened to periodic grids, and read each other across the ends", async () => {
    const value = (x: number, y: number, z: number) => x + 100 * y + 10000 * z;
    for (const kind of ["dense", "sparse"] as const)
      for (const set of some([1, 2, 3]).map(of)) {
        const fine = makeGrid(set, EXTENTS, { kind, periodic: [true, true, true], levels: 1 });
        const coarse = fine.coarsen();
        assert.deepEqual(coarse.periodic, [true, true, true]);
        const [p, s, q] = [fine.field("p", f64), fine.field("s", f64), coarse.field("q", f64)];
        p.fill(value);
        const restrict = coarse.container("restrict", { p, q }, ({ p, q }, c) => {
          q[c] = p.fine(c, -1, 0, 1) + p.fine(c, 2, 1, -2) + p.fine(c, 0, 2, 3);
        });
        await coarse.run(restrict, { precision: "strict" });
        const at = (x: number, y: number, z: number) => value((x + NX) % NX, (y + NY) % NY, (z + NZ) % NZ);
        const coarseAt = ([x, y, z]: readonly number[]) =>
          at(2 * x - 1, 2 * y, 2 * z + 1) + at(2 * x + 2, 2 * y + 1, 2 * z - 2) + at(2 * x, 2 * y + 2, 2 * z + 3);
        for (const cell of [
          [0, 0, 0],
          [9, 5, 6],
          [3, 5, 0],
          [0, 2, 6],
        ] as const)
          assert.equal(await q.get(cell), coarseAt(cell), `${kind} on ${set.name}`);
        const prolong = fine.container("prolong", { s, q }, ({ s, q }, c) => {
          s[c] = q.coarse(c, 1, 0, -1) - q.coarse(c, -1, 1, 0);
        });
        await fine.run(prolong, { precision: "strict" });
        const coarseValue = (x: number, y: number, z: number) => coarseAt([(x + 10) % 10, (y + 6) % 6, (z + 7) % 7]);
        for (const [x, y, z] of [
          [0, 0, 0],
          [19, 11, 13],
          [1, 10, 12],
        ] as const)
          assert.equal(
            await s.get([x, y, z]),
            coarseValue((x >> 1) + 1, y >> 1, (z >> 1) - 1) - coarseValue((x >> 1) - 1, (y >> 1) + 1, z >> 1),
          );
        coarse.free();
        fine.free();
      }
  });
});

describe("periodic grids", () => {
  it("have neighbours all around, which may be one member on both sides", () => {
    for (const kind of ["dense", "sparse"] as const) {
      const pairs = (members: number) => {
        const grid = makeGrid(jsSet(members), EXTENTS, { kind, periodic: [false, false, true] });
        grid.require([
          [0, 0, 1],
          [0, 0, -2],
        ]);
        const copies = grid.halo(grid.field("u", f64));
        const least = Math.min(...copies.map(({ source }) => source!.size));
        const planes = copies.map(({ from, to, source }) => `${from}${to} ${Math.round(source!.size / least)}`);
        grid.free();
        return planes.sort();
      };
      assert.deepEqual(pairs(3), ["01 2", "02 1", "10 1", "12 2", "20 2", "21 1"]);
      assert.deepEqual(pairs(2), ["01 1", "01 2", "10 1", "10 2"]);
      assert.deepEqual(pairs(1), []);
    }
  });

  it("are refused where axes cannot be periodic", () => {
    const [set] = jsSets;
    assert.throws(() => dense(set, EXTENTS, { periodic: [true] }), /grid, .*periodic\.test\.ts:.*periodic: \[true\].*each of its 3 axes/);
    assert.throws(() => dense(set, [20, 11], { periodic: true, levels: 1 }).coarsen(), /periodic along y, where pairs of 11 cells/);
    assert.throws(
      () => bricks(set, [20, 10], undefined, { periodic: [false, true] }),
      /bricks of \[8,8\].*periodic along y.*multiple of the brick/,
    );
    const grid = sparse(set, [4, 12], undefined, { periodic: true });
    const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
    assert.throws(
      () => grid.container("far", { a, b }, ({ a, b }, c) => void (b[c] = a.at(c, 5, 0))),
      /reads a at offset \[5,0\], but the grid has 4 cells along x/,
    );
  });
});
