import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { f32, f64, i32, max, min, sum, u8 } from "isoform";
import { dense, face, slab, type DenseOptions, type Field } from "../../../src/domain/index.js";
import type { DeviceSet } from "../../../src/set/index.js";
import { share } from "../../random/share.js";
import { jsSet, noise } from "../sets.js";

/** Options of a random grid, and how wide its stencils are. */
const draw = fc.record({
  split: fc.constantFrom("z", "y", "yz"),
  members: fc.constantFrom(2, 3, 4),
  extents: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 25, max: 36 }), fc.integer({ min: 8, max: 10 })),
  periodic: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
  ghosts: fc.nat(2),
  holes: fc.boolean(),
  layout: fc.constantFrom("soa", "aos"),
  packed: fc.option(fc.boolean(), { nil: undefined }),
  wide: fc.nat(2),
  precision: fc.constantFrom("strict", "fast"),
});
type Draw = typeof draw extends fc.Arbitrary<infer T> ? T : never;

/** Stencils with corners, components of their own widths, reductions, regions and ghosts on a grid; all that they leave. */
async function outcome(
  set: DeviceSet,
  { split, extents, periodic: [aroundX, aroundY, aroundZ], ghosts, holes, layout, packed, wide, precision }: Draw,
): Promise<unknown[]> {
  // Four members have 8, 8, 8 and one of 25 rows, and stencils of a ring may need two.
  const periodic = [aroundX, aroundY && extents[1] > 25, aroundZ];
  const layers = periodic[0] && periodic[1] && periodic[2] ? 0 : ghosts;
  const options: DenseOptions = {
    split: set.members.length > 1 ? (split as "y") : undefined,
    periodic,
    ghosts: layers,
    layout: layout as "soa",
    ...(packed !== undefined && (layers === 0 || periodic[0]) && { packed }),
    ...(holes && layers === 0 && { active: (x, y, z) => noise(x, y, z) > -0.6 }),
  };
  const grid = dense(set, extents as [number, number, number], options);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64, { cardinality: 3, fillValue: 0.25 }));
  const one = grid.field("one", f32, { fillValue: -0.5 });
  const bytes = grid.field("bytes", u8);
  const counts = grid.field("counts", i32);
  const axis = grid.axis("y", f64, (y) => noise(y, 5), { ghosts: 1 });
  const [s, t, least] = ["s", "t", "least"].map((name) => grid.scalar(name, f64));
  const far = Math.min(layers > 0 ? Math.min(wide, layers) : wide, ...extents);
  const spread = grid.container(
    "spread",
    { a, b, axis, s: sum(s), t: max(t) },
    ({ a, b, axis, s, t }, c) => {
      b[c][0] = 0.25 * a.at(c, 0, 1, 1)[0] - 0.5 * a.at(c, 0, -1, 0)[0] + 0.125 * a.at(c, 0, -1, -1)[2] + axis[c] + 0.01 * c.y - 0.02 * c.z;
      b[c][1] = 0.5 * a.at(c, 0, far, 0)[2] + (a.isActive(c, 0, 1, -1) ? 0.25 : 0.125) * a.at(c, 0, 0, -far)[1] + axis.at(c, -1);
      b[c][2] = a[c][1] - 0.5 * a.at(c, -1, 1, 0)[2];
      s.add(b[c][0] * b[c][1]);
      t.max(b[c][2]);
    },
    () => [far],
  );
  const narrow = grid.container("narrow", { b, one, bytes, counts, least: min(least) }, ({ b, one, bytes, counts, least }, c) => {
    one[c] = Math.fround(b.at(c, 0, -1, 1)[0]);
    bytes[c] = c.y + 3 * c.z;
    counts[c] = counts[c] + c.y - c.z;
    least.min(b[c][0]);
  });
  const again = grid.container("again", { a, one, bytes, counts }, ({ a, one, bytes, counts }, c) => {
    a[c][1] = one.at(c, 0, 1, 0) + one.at(c, 1, -1, 1) + 0.01 * bytes.at(c, 0, 1, 1) - 0.01 * counts.at(c, 0, -1, -1);
  });
  const part = grid.container(
    "part",
    { a, b, s: sum(s) },
    ({ a, b, s }, c) => {
      a[c][0] = 0.5 * b.at(c, 0, 1, 0)[0] + b[c][2];
      s.add(a[c][0]);
    },
    undefined,
    { on: [slab("y", 3, extents[1] - 9), slab("z", 1, extents[2])] },
  );
  const march = grid.container(
    "march",
    { a, b },
    ({ a, b }, c) => {
      let before = a.at(c, 0, -1, 0)[1];
      c.march((c) => {
        const here = a[c][1];
        b[c][2] = here - before;
        before = here;
      });
    },
    undefined,
    { march: "y" },
  );
  const walls = (["ymin", "ymax", "zmin"] as const).flatMap((side) => {
    const along = side.startsWith("y") ? 1 : 2;
    if (layers === 0 || periodic[along]) return [];
    const [dy, dz] = side === "ymin" ? [-1, 0] : side === "ymax" ? [1, 0] : [0, -1];
    return [
      grid.container(
        `wall ${side}`,
        { a },
        ({ a }, c) => {
          a.at(c, 0, dy, dz)[0] = 0.5 * a[c][0];
          a.at(c, 0, dy, dz)[2] = 0.25 * a[c][2];
        },
        () => [dy, dz],
        { on: face(side, { ghosts: true }) },
      ),
    ];
  });
  a.fill((x, y, z, k) => Math.fround(noise(x, y, z, k)), { ghosts: true });
  one.fill(0.5);
  counts.fill((x, y, z) => y - z);
  b.fill(0);
  const found: unknown[] = [];
  for (let turn = 0; turn < 2; turn++)
    for (const step of [...walls, spread, narrow, again, part, march]) {
      await grid.run(step, { precision: precision as "strict" });
      if (precision === "strict" || step !== spread)
        found.push(...(precision === "strict" ? await Promise.all([s, t, least].map((of) => of.get())) : []));
    }
  const fields = [a, b, one, bytes, counts] as unknown as Field[];
  for (const field of fields) found.push([...(await field.download({ ghosts: true }))], [...(await field.download())]);
  found.push(await a.get([0, 13, 5], 2), await one.get([extents[0] - 1, extents[1] - 1, 3]));
  grid.free();
  return found;
}

describe("splits", () => {
  it("leave what one member leaves, in every bit, on grids of all options", () =>
    fc.assert(
      fc.asyncProperty(draw, async (drawn) => {
        assert.deepEqual(await outcome(jsSet(drawn.members), drawn), await outcome(jsSet(1), drawn), JSON.stringify(drawn));
      }),
      { numRuns: share(10), seed: 1, includeErrorInReport: true },
    ));
});
