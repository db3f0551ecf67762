import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32, LaunchError, table, u8 } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { deposit, particles } from "../../../src/domain/particles/index.js";
import { refused } from "../container/refused.js";
import { jsSet } from "../sets.js";

const grid = dense(jsSet(1), [6, 5, 4]);
const ions = particles(grid, "ions", { v: [f64, 3], w: f64, id: i32 });
const { v, w, id } = ions.columns;
const [rho, e] = [grid.field("rho", f64), grid.field("e", f64, { cardinality: 3 })];

describe("containers over particles are refused that", () => {
  it("take columns at another place than the particle's", () => {
    refused(
      () =>
        ions.container("k", { w, id }, ({ w, id }, p) => {
          // @ts-expect-error only p is an index of columns
          w[p] = w[id[p]];
        }),
      "w[id[p]]",
      /w is not indexed by the particle/,
      /write w\[p\], with the p that the function is given/,
    );
    refused(
      () =>
        ions.container("k", { v }, ({ v }) => {
          // @ts-expect-error only p is an index of columns
          v[0][1] = 2;
        }),
      "v[0][1] = 2",
      /v is not indexed by the particle/,
      /write v\[p\]/,
    );
    refused(
      () =>
        ions.container("k", { w }, ({ w }, p, c) => {
          w[c] = 1;
        }),
      "c] = 1",
      /the cell is used as a number/,
      /write c\.x, c\.y or c\.z/,
    );
  });

  it("use the particle as a number", () => {
    for (const declare of [
      () =>
        ions.container("k", { w }, ({ w }, p) => {
          // @ts-expect-error p is no number
          w[p + 1] = 0;
        }),
      () =>
        ions.container("k", { w }, ({ w }, p) => {
          // @ts-expect-error p is no number
          w[p] = p;
        }),
      () =>
        ions.container("k", { w, weights: table(f64, [1, 2]) }, ({ w, weights }, p) => {
          // @ts-expect-error p is no number
          w[p] = weights[p];
        }),
      () =>
        ions.container("k", { v }, ({ v }, p) => {
          // @ts-expect-error p is no component
          v[p][p] = 0;
        }),
    ])
      refused(declare, "p", /the particle is used as a number/, /write x\[p\], with a column x of its species/);
  });

  it("index fields by the particle", () => {
    refused(
      () =>
        ions.container("k", { w, rho }, ({ w, rho }, p) => {
          w[p] = rho[p];
        }),
      "p]",
      /rho is not indexed by the cell/,
      /write rho\[c\]/,
    );
  });

  it("set fields", () => {
    refused(
      () =>
        ions.container("k", { w, rho }, ({ w, rho }, p, c) => {
          rho[c] = w[p];
        }),
      "rho[c] = w[p]",
      /particles of one cell would all set rho/,
      /declare rho: deposit\(field\) and add to it, or set it in a container of the grid/,
    );
  });

  it("give to cells that their values decide", () => {
    refused(
      () =>
        ions.container("k", { w, id, rho: deposit(rho) }, ({ w, id, rho }, p, c) => {
          rho.add(c, id[p], 0, 0, w[p]);
        }),
      "rho.add(c, id[p], 0, 0, w[p])",
      /the offset at which particles add to rho is not constant/,
      /write numbers, or count in a loop with constant bounds; where it depends on the particle, add 0 to the places that it does not reach/,
    );
    refused(
      () =>
        ions.container("k", { w, id, e: deposit(e) }, ({ w, id, e }, p, c) => {
          e.add(c, 0, 0, 0, id[p], w[p]);
        }),
      "e.add(c, 0, 0, 0, id[p], w[p])",
      /the component at which particles add to e is not constant/,
      /write numbers/,
    );
  });

  it("do anything but add to what they deposit into", () => {
    refused(
      () =>
        ions.container("k", { w, rho: deposit(rho) }, ({ w, rho }, p) => {
          // @ts-expect-error a deposit is no number
          w[p] = 2 * rho;
        }),
      "rho",
      /rho is a field that particles add to/,
      /write rho\.add\(c, \.\.\., value\)/,
    );
    refused(
      () =>
        ions.container("k", { w, rho: deposit(rho) }, ({ w, rho }, p, c) => {
          // @ts-expect-error two offsets are missing
          rho.add(c, 0, w[p]);
        }),
      "rho.add(c, 0, w[p])",
      /rho\.add is given 3 arguments instead of 5/,
      /write rho\.add\(c, dx, dy, dz, value\)/,
    );
    refused(
      () =>
        ions.container("k", { w, e: deposit(e) }, ({ w, e }, p, c) => {
          // @ts-expect-error the component is missing
          e.add(c, 0, 0, 0, w[p]);
        }),
      "e.add(c, 0, 0, 0, w[p])",
      /e\.add is given 5 arguments instead of 6/,
      /write e\.add\(c, dx, dy, dz, k, value\)/,
    );
    refused(
      () =>
        ions.container("k", { w, rho: deposit(rho) }, ({ w, rho }, p, c) => {
          // @ts-expect-error it has no such method
          rho.max(c, 0, 0, 0, w[p]);
        }),
      "rho.max(c, 0, 0, 0, w[p])",
      /rho has no method "max"/,
      /particles only add to it: write rho\.add/,
    );
  });

  it("take a third function parameter", () => {
    refused(
      () =>
        // @ts-expect-error there are the parameters, the particle and its cell
        ions.container("k", { w }, ({ w }, p, c, d) => {
          w[p] = c.x + d;
        }),
      'container("k"',
      /a container's function over particles takes the parameters, the particle and its cell/,
      /write \(params, p, c\) => \.\.\./,
    );
  });

  it("are given what is not theirs", () => {
    const electrons = particles(grid, "electrons", { w: f64 });
    refused(
      () => ions.container("k", { w: electrons.columns.w }, () => {}),
      'container("k"',
      /the column "electrons\.w" belongs to another species than "ions"/,
      /loop over one species at a time/,
    );
    refused(() => ions.container("k", { w, also: w }, () => {}), 'container("k"', /the column "ions\.w" is given twice/, /give it once/);
    const other = dense(jsSet(1), [6, 5, 4]).field("other", f64);
    refused(
      () => ions.container("k", { other: deposit(other) }, () => {}),
      'container("k"',
      /the field "other" belongs to another grid than the species/,
      /deposit into fields of the species' grid/,
    );
    refused(
      () => ions.container("k", { bytes: deposit(grid.field("bytes", u8)) }, () => {}),
      'container("k"',
      /the field "bytes" is stored as u8/,
      /deposit into a field of f64, f32 or i32/,
    );
    refused(
      () => ions.container("k", { w: deposit(w as never) }, () => {}),
      'container("k"',
      /the parameter "w" deposits into something other than a field/,
      /write deposit\(field\)/,
    );
    refused(
      () => grid.container("k", { w: w as never }, () => {}),
      'container("k"',
      /the parameter "w" is a Column/,
      /give a field, an array along an axis, a scalar/,
    );
  });
});

describe("a species is refused that", () => {
  const refuse = (columns: Record<string, unknown>, message: RegExp, options = {}) =>
    assert.throws(() => particles(grid, "beam", columns as never, options), message);

  it("has columns which are none, or options which are none", () => {
    refuse({ v: [f64, 0] }, /species "beam".*a column "v" of 0 numbers; give 1 or more/);
    refuse({ v: [f64, 1.5] }, /a column "v" of 1.5 numbers/);
    refuse({ x: f64 }, /species "beam" declares the column "x": that is the name of the positions/);
    refuse({ v: u8 }, /species "beam" has a column "v" of u8; use f64, f32, i32, u32/);
    refuse({}, /species "beam" has leaving: "reflect"; use "refuse" or "absorb"/, { leaving: "reflect" });
    refuse({}, /species "beam" has layout "left"; use "soa" or "aos"/, { layout: "left" });
    refuse({}, /species "beam" has positions of i32; use f64 or f32/, { positions: i32 });
    refuse({}, /species "beam" has capacity -1; give a whole number of at least 1/, { capacity: -1 });
    refuse({}, /species "beam" has exchange 0.5; give a whole number/, { exchange: 0.5 });
  });
});

describe("loading", () => {
  const grid = dense(jsSet(3), [4, 6], { active: (x, y) => x !== 1 || y !== 1 });
  const made = () => particles(grid, "beam", { v: [f64, 2], w: f64 }, { capacity: 3 });

  it("refuses arrays that do not fit, particles that are in no cell, and too many", () => {
    const beam = made();
    const refuse = (data: object, message: RegExp) =>
      assert.throws(
        () => beam.load(data as never),
        (error: Error) => error instanceof LaunchError && message.test(error.message),
      );
    refuse({ x: [1, 2, 3] }, /species "beam" is given 3 coordinates; give 2 for each particle/);
    refuse({}, /species "beam" is given no coordinates; give 2 for each particle/);
    refuse({ x: [1, 2], v: [1] }, /species "beam", column "v": 1 values for 1 particles; give 2 for each/);
    refuse({ x: [1, 2], mass: [1] }, /species "beam" has no column "mass"; its columns are x, v, w/);
    refuse({ x: [1, 2], w: ["1"] }, /species "beam", column "w", value 0 is a string: give numbers/);
    const numbered = particles(grid, "numbered", { id: i32 });
    assert.throws(() => numbered.load({ x: [1, 2], id: [0.5] }), /column "id", value 0 is 0.5, which i32 cannot hold/);
    refuse({ x: [0, 0, 4, 2] }, /species "beam": particle 1 is at \[4,2\], in no active cell of the grid of \[4,6\] cells/);
    refuse({ x: [NaN, 0] }, /particle 0 is at \[NaN,0\]/);
    refuse({ x: [1.5, 1.5] }, /particle 0 is at \[1.5,1.5\], in no active cell of the grid/);
    refuse({ x: [0, 0, 0, 0, 0, 0, 0, 0] }, /species "beam": 4 particles for a member that has room for 3; give it \{ capacity: 4 \}/);
  });

  it("puts particles in place of those that were, and 0 into columns that are left out", async () => {
    const beam = made();
    assert.throws(() => beam.columns.w.views, /species "beam" has no particles; load some first/);
    await assert.rejects(beam.download(), /species "beam" has no particles; load some first/);
    beam.load({ x: [0.5, 0.5, 0.5, 2.5, 3.5, 5.5], v: [1, 2, 3, 4, 5, 6], w: [7, 8, 9] });
    assert.deepEqual(await beam.held(), [1, 1, 1]);
    beam.load({ x: [2.5, 3.5, 2.5, 0.5], w: [1, 2] });
    const { x, v, w } = await beam.download();
    assert.deepEqual(
      [[...x], [...v], [...w]],
      [
        [2.5, 0.5, 2.5, 3.5],
        [0, 0, 0, 0],
        [2, 1],
      ],
    );
    assert.deepEqual(
      [...(await beam.count.download())].reduce((a, b) => a + b),
      2,
    );
    beam.load({ x: [] });
    assert.equal((await beam.download()).x.length, 0);
  });

  it("is over after free", async () => {
    const beam = made();
    beam.load({ x: [0.5, 0.5] });
    beam.free();
    await assert.rejects(beam.download(), /species "beam"/);
  });
});
