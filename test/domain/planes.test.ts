import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BaseGrid } from "../../src/domain/base-grid.js";
import { BrickUnitGrid } from "../../src/domain/bricks/brick-unit-grid.js";
import { bricks, dense, sparse, type Field, type GridOptions } from "../../src/domain/index.js";
import { HOST_LIMITS } from "../../src/domain/grid/pieces.js";
import { f32, f64, i32, sum } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import type { DeviceSet } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { ELSEWHERE } from "../devices.js";
import { HostField } from "./host-field.js";
import { KINDS, type Active } from "./kinds.js";
import { sample } from "../random/share.js";
import { jsSet, jsSets, noise, onEachBackend } from "./sets.js";

/* Host arrays of fields in pieces of few planes, as those of large boxes are. */

const extents = [13, 4, 15] as const;
const holes: Active = (x, y, z) => noise(x, y, z) > -0.3;
const half: Active = (x, y, z) => z > 6 && y !== 2;
const byte = (x: number, y: number, z: number, k: number): number => (x + 7 * y + 31 * z + 5 * k) % 256;

const grids: Readonly<Record<string, (set: DeviceSet, active: Active | undefined, options?: GridOptions) => BaseGrid>> = {
  dense: (set, active, options) => KINDS.dense(set, extents, active, options),
  sparse: (set, active, options) => KINDS.sparse(set, extents, active, options),
  bricks: (set, active, options) => KINDS.bricks(set, extents, active, options),
  "bricks by units": (set, active, options) => new BrickUnitGrid(set, extents, { ...options, active, brick: [4, 2, 2] }),
};

const { piece, whole } = HOST_LIMITS;

/** Pieces of one plane, of two and of many, for two components of f64. */
const SIZES = [1, 2 * 13 * 4 * 16, piece];

await onEachBackend("fields plane by plane", ({ all }) => {
  before(() => {
    // No array of a whole box, but of what one test asks for.
    HOST_LIMITS.whole = 13 * 4 * 15 * 16;
  });
  after(() => Object.assign(HOST_LIMITS, { piece, whole }));
  for (const [kind, make] of Object.entries(grids))
    for (const size of SIZES)
      it(`of ${kind} grids take and give the same values in pieces of ${size} bytes`, async () => {
        HOST_LIMITS.piece = size;
        for (const set of all)
          for (const active of sample([holes, undefined, half])) {
            const grid = make(set, active);
            grid.require([[1, 0, 2]]);
            for (const type of [f64, f32, i32, u8]) {
              const field = grid.field("field", type, { cardinality: 2, fillValue: 3 });
              field.fill(byte);
              const expected = new HostField(extents, byte, active, 3, 2).data;
              assert.deepEqual([...(await field.download())], expected, set.name);
              const values: number[] = [];
              let next = 0;
              for await (const planes of field.planes()) {
                assert.equal(planes.first, next);
                assert.equal(planes.values.length, (planes.end - planes.first) * 13 * 4 * 2);
                next = planes.end;
                values.push(...planes.values);
              }
              assert.equal(next, 15);
              assert.deepEqual(values, expected);
              field.fill(9);
              await field.uploadPlanes((first, end) => new HostField(extents, byte, undefined, 0, 2).data.slice(first * 104, end * 104));
              assert.deepEqual([...(await field.download())], expected);
            }
            grid.free();
          }
      });
});

describe("boxes of members", () => {
  const { piece } = HOST_LIMITS;
  after(() => Object.assign(HOST_LIMITS, { piece }));

  /** Values of boxes at their places in an array of the whole box with ghosts; each place once. */
  async function putTogether(field: Field, margins: readonly (readonly [number, number])[], ghosts: boolean): Promise<number[]> {
    const { cardinality, grid } = field;
    const lengths = grid.extents.map((n, axis) => n + margins[axis][0] + margins[axis][1]);
    const [row, rows] = [lengths[0] * cardinality, lengths.length === 3 ? lengths[1] : 1];
    const all = Array<number>(lengths.reduce((a, b) => a * b, cardinality)).fill(NaN);
    for await (const { first, end, rows: span, values } of field.boxes({ ghosts })) {
      const length = (span[1] - span[0]) * row;
      assert.equal(values.length, (end - first) * length);
      for (let plane = first; plane < end; plane++) {
        const begin = ((plane + margins.at(-1)![0]) * rows + span[0] + (rows === 1 ? 0 : margins[1][0])) * row;
        values.subarray((plane - first) * length, (plane - first + 1) * length).forEach((value, n) => {
          assert.ok(Number.isNaN(all[begin + n]), "a place twice");
          all[begin + n] = value;
        });
      }
    }
    return all;
  }

  it("have each cell once, with ghosts where a member has them, however grids are cut", async () => {
    for (const size of [1, 700, piece])
      for (const split of [undefined, "z", "y", "yz"] as const) {
        HOST_LIMITS.piece = size;
        const grid = dense(jsSet(4), [5, 35, 6], { split, ghosts: { xmin: 1, ymin: 2, ymax: 1, zmax: 3 } });
        const field = grid.field("f", f64, { cardinality: 2 });
        field.fill((x, y, z, k) => x + 10 * y + 1000 * z + 0.5 * k, { ghosts: true });
        const none = [0, 0, 0].map(() => [0, 0] as const);
        assert.deepEqual(await putTogether(field, none, false), [...(await field.download())], split);
        assert.deepEqual(await putTogether(field, grid.ghosts, true), [...(await field.download({ ghosts: true }))], split);
        grid.free();
      }
  });

  it("are planes in two dimensions, and of grids of other kinds", async () => {
    HOST_LIMITS.piece = 100;
    const grids = [dense(jsSet(3), [4, 9]), sparse(jsSet(3), [4, 5, 9], (x, y) => x !== y), bricks(jsSet(2), [8, 8, 16], (x) => x > 1)];
    for (const grid of grids as BaseGrid[]) {
      const field = grid.field("f", f64, { fillValue: 0.25 });
      field.fill((x, y, z) => x + 10 * y + 100 * z);
      const none = grid.extents.map(() => [0, 0] as const);
      assert.deepEqual(await putTogether(field as unknown as Field, none, false), [...(await field.download())], grid.kind);
      grid.free();
    }
  });
});

/** Two stencils and a sum on a field that is filled and read in pieces. */
async function left(grid: BaseGrid): Promise<number[]> {
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { fillValue: 0.25 }));
  const total = grid.scalar("total", f64);
  const around = (from: typeof u, to: typeof u) =>
    grid.container("around", { from, to, total: sum(total) }, ({ from, to, total }, c) => {
      to[c] = from.at(c, 1, 0, 0) - 2 * from.at(c, -2, 1, 0) + 0.5 * from.at(c, 0, 0, 2) - from.at(c, 0, -1, -1);
      total.add(to[c]);
    });
  const steps = [around(u, v), around(v, u)];
  u.fill(noise);
  for (const step of steps) await grid.run(step, { precision: "strict" });
  const values = [...(await u.download()), ...(await v.download()), await total.get()];
  grid.free();
  return values;
}

describe("pieces", { skip: ELSEWHERE }, () => {
  after(() => Object.assign(HOST_LIMITS, { piece, whole }));

  for (const [kind, make] of Object.entries(grids))
    it(`leave halos and tables of ${kind} grids as they are`, async () => {
      for (const set of jsSets)
        for (const active of [undefined, holes, half])
          for (const periodic of [false, kind.startsWith("bricks") ? [false, true, false] : true]) {
            HOST_LIMITS.piece = piece;
            const expected = await left(make(set, active, { periodic }));
            HOST_LIMITS.piece = 1;
            assert.deepEqual(await left(make(set, active, { periodic })), expected, `${set.name}, periodic ${String(periodic)}`);
          }
    });

  it("have their ghosts", async () => {
    for (const set of jsSets) {
      const grid = dense(set, [5, 4, 15], { ghosts: { xmin: 1, zmin: 2, zmax: 1 } });
      const field = grid.field("f", i32);
      HOST_LIMITS.piece = 2 * 6 * 4 * 4;
      const at = (x: number, y: number, z: number): number => x + 10 * y + 100 * z;
      field.fill(at, { ghosts: true });
      const pieces: { first: number; end: number }[] = [];
      const values: number[] = [];
      for await (const { first, end, values: some } of field.planes({ ghosts: true })) {
        pieces.push({ first, end });
        values.push(...some);
      }
      assert.deepEqual(
        [pieces[0], pieces.at(-1)],
        [
          { first: -2, end: 0 },
          { first: 14, end: 16 },
        ],
      );
      const expected = Array.from({ length: 18 * 4 * 6 }, (_, n) => at((n % 6) - 1, Math.floor(n / 6) % 4, Math.floor(n / 24) - 2));
      assert.deepEqual(values, expected);
      assert.deepEqual([...(await field.download({ ghosts: true }))], expected);
      const other = grid.field("g", i32);
      await other.uploadPlanes((first, end) => expected.slice((first + 2) * 24, (end + 2) * 24), { ghosts: true });
      assert.deepEqual([...(await other.download({ ghosts: true }))], expected);
      assert.equal(other.coherent, true);
      grid.free();
    }
  });

  it("are all that there is of what is too large", async () => {
    HOST_LIMITS.whole = 1000;
    const grid = dense(jsSet(2), [5, 5, 6]);
    const field = grid.field("rho", f64);
    field.fill(2);
    await assert.rejects(
      field.download(),
      /^LaunchError: field "rho" has 150 values, .* use planes\(\), which gives some planes at a time$/,
    );
    let total = 0;
    for await (const { values } of field.planes()) total += values.reduce((a, b) => a + b, 0);
    assert.equal(total, 300);
    grid.free();
  });

  it("are refused once the field was written, for they would be of different times", async () => {
    HOST_LIMITS.piece = 1;
    const grid = dense(jsSet(1), [2, 2, 3]);
    const [u, v] = [grid.field("u", f64), grid.field("v", f64)];
    for (const field of [u, v]) field.fill(0);
    const step = grid.container("step", { u }, ({ u }, c) => {
      u[c] = u[c] + 1;
    });
    const ways: Readonly<Record<string, () => unknown>> = {
      fill: () => u.fill(1),
      set: () => u.set([0, 0, 0], 1),
      upload: () => u.upload(new Float64Array(12)),
      swap: () => v.swap(u),
      skeleton: () => skeleton(grid.set, "steps", [step]).run(1),
    };
    for (const [way, write] of Object.entries(ways)) {
      const planes = u.planes();
      await planes.next();
      await write();
      await assert.rejects(planes.next(), /^LaunchError: field "u" was written while its planes were read, .*await its reader/, way);
    }
    const planes = u.planes();
    await planes.next();
    v.fill(2);
    assert.equal((await planes.next()).done, false);
    grid.free();
  });

  it("are refused with other numbers of values, and with values that do not fit", async () => {
    HOST_LIMITS.piece = 1;
    const grid = dense(jsSet(1), [2, 2, 3]);
    const field = grid.field("n", i32);
    await assert.rejects(
      field.uploadPlanes(() => [1, 2, 3]),
      /^LaunchError: field "n" is given 3 values for the planes from 0 to 0; they take 4$/,
    );
    await assert.rejects(
      field.uploadPlanes(() => [1, 2, 3, 0.5]),
      { name: "LaunchError" },
    );
    assert.throws(() => field.fill((_x, _y, z) => z / 2), { name: "LaunchError" });
    assert.deepEqual([...(await field.download())].slice(0, 4), [0, 0, 0, 0]);
    grid.free();
  });
});
