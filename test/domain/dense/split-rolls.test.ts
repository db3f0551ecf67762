import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { f32, f64 } from "isoform";
import { dense, roll, slab, spectrum, type AxisName } from "../../../src/domain/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { share } from "../../random/share.js";
import { jsSet, noise } from "../sets.js";

const draw = fc.record({
  split: fc.constantFrom("z", "y", "yz"),
  members: fc.constantFrom(2, 3, 4),
  extents: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 26, max: 40 }), fc.integer({ min: 4, max: 9 })),
  periodic: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
  layout: fc.constantFrom("soa", "aos"),
  /** Parts of what there is room for. */
  from: fc.tuple(fc.nat(999), fc.nat(999), fc.nat(999)),
  length: fc.tuple(fc.nat(999), fc.nat(999), fc.nat(999)),
  shift: fc.tuple(fc.nat(999), fc.nat(999), fc.nat(999)),
  inPlace: fc.boolean(),
  precision: fc.constantFrom("strict", "fast"),
});
const GHOSTS = 2;
const mod = (n: number, extent: number): number => ((n % extent) + extent) % extent;
const value = (x: number, y: number, z: number, k: number): number => x + 100 * y + 10000 * z + 1e6 * k;

describe("copies of cells on grids that are cut along y", () => {
  it("take each cell from where it belongs, round periodic axes and from ghosts", () =>
    fc.assert(
      fc.asyncProperty(draw, async ({ split, members, extents, periodic, layout, from, length, shift, inPlace, precision }) => {
        const ghosts = periodic.every(Boolean) ? 0 : GHOSTS;
        const grid = dense(jsSet(members), extents, { split: split as "y", periodic, ghosts, layout: layout as "soa" });
        const cells = extents.map((n, axis) => (periodic[axis] ? ([0, n] as const) : ([-ghosts, n + ghosts] as const)));
        const bounds = cells.map(([low, high], axis) => {
          const first = low + (from[axis] % (high - low));
          return [first, first + 1 + (length[axis] % (high - first))] as const;
        });
        const by = cells.map(([low, high], axis) => {
          // Along other axes than periodic ones, cells come from where there are some.
          const [first, end] = bounds[axis];
          return periodic[axis]
            ? (shift[axis] % (3 * (high - low))) - (high - low)
            : first - low - (shift[axis] % (high - low - (end - first) + 1));
        });
        const [p, q] = ["p", "q"].map((name) => grid.field(name, f64, { cardinality: 3 }));
        const target = inPlace ? p : q;
        p.fill(value, { ghosts: true });
        q.fill(-1, { ghosts: true });
        const on = bounds.map((span, axis) => slab((["x", "y", "z"] as const)[axis], ...span));
        const steps = skeleton(grid.set, "rolls", [roll(p, target, by, { on, components: [0, 2] })], { precision: precision as "strict" });
        await steps.run(1);
        const found = await target.download({ ghosts: true });
        let n = 0;
        const text = JSON.stringify({ split, members, extents, periodic, bounds, by, inPlace });
        const along = (axis: number): number[] => {
          const [low, high] = cells[axis];
          return Array.from({ length: high - low }, (_, at) => low + at);
        };
        for (const z of along(2))
          for (const y of along(1))
            for (const x of along(0))
              for (let k = 0; k < 3; k++, n++) {
                const cell = [x, y, z];
                const taken = k !== 1 && cell.every((at, axis) => at >= bounds[axis][0] && at < bounds[axis][1]);
                const [i, j, l] = cell.map((at, axis) => (periodic[axis] ? mod(at - by[axis], extents[axis]) : at - by[axis]));
                assert.equal(found[n], taken ? value(i, j, l, k) : inPlace ? value(x, y, z, k) : -1, `${text} at ${cell}, ${k}`);
              }
        steps.free();
        grid.free();
      }),
      { numRuns: share(40), seed: 1, includeErrorInReport: true },
    ));
});

describe("spectra on grids that are cut along y", () => {
  for (const [axis, along, modes] of [
    ["z", ["y"], 5],
    ["z", ["x", "y"], 3],
    ["x", ["y"], 4],
    ["x", ["y", "z"], 3],
    ["y", ["x"], 17],
    ["y", ["x", "z"], 4],
  ] as [axis: AxisName, along: AxisName[], modes: number][])
    it(`along ${axis} for each of ${along} have the bits of one member`, async () => {
      const results = new Set<string>();
      for (const [members, split] of [
        [1, undefined],
        [3, "y"],
        [4, "yz"],
      ] as const) {
        const grid = dense(jsSet(members), [7, 34, 9], { periodic: true, split });
        const u = grid.field("u", f32, { cardinality: 2 });
        const energy = grid.field("energy", f64, { axes: along as ["x"], cardinality: modes });
        u.fill((x, y, z, k) => (k === 1 ? Math.fround(3 * noise(x, y, z) + y) : 1e9));
        const steps = skeleton(grid.set, "spectra", [spectrum(u, energy, { axis, component: 1 })], { precision: "strict" });
        await steps.run(2);
        results.add((await energy.download()).join());
        steps.free();
        grid.free();
      }
      assert.equal(results.size, 1);
      assert.ok(![...results][0].includes("NaN"));
    });
});
