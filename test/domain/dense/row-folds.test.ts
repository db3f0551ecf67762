import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { f32, f64, i32, max, sum } from "isoform";
import type { Device } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import { reductionTraffic } from "../../../src/domain/container/reduction-traffic.js";
import { dense, slab, type AxisName } from "../../../src/domain/index.js";
import { devices, type DeviceSet } from "../../../src/set/index.js";
import { tested } from "../../devices.js";
import { share } from "../../random/share.js";
import { foldPlane, foldPlanes, foldRows } from "../plane-fold.js";
import { noise } from "../sets.js";
import { counted } from "./counted.js";

/*
 * Folds along axes of grids that are cut along y, or y and z, against the order of docs/determinism.md.
 */

const AXES: readonly (readonly AxisName[])[] = [["x"], ["y"], ["z"], ["x", "y"], ["x", "z"], ["y", "z"]];
const add = (a: number, b: number): number => a + b;
type Span = readonly [first: number, end: number];

/** Values whose sums depend on the order. */
const value = (x: number, y: number, z: number): number => Math.fround(noise(x, y, z) * 10 ** (4 * noise(z, x, y)));

/** Folds of the cells of a box along the axes that are not named, in the host's order. */
function reference(bounds: readonly Span[], axes: readonly string[], identity: number, fold: typeof add): number[] {
  const numbers = ([first, end]: Span): number[] => Array.from({ length: end - first }, (_, n) => first + n);
  const kept = (axis: string): Span[] => {
    const span = bounds["xyz".indexOf(axis)];
    return axes.includes(axis) ? numbers(span).map((n): Span => [n, n + 1]) : [span];
  };
  const one = (x: Span, y: Span, z: Span): number => {
    const planes = numbers(z).map((k) => numbers(y).map((j) => numbers(x).map((i) => value(i, j, k))));
    const inLanes = !axes.includes("x");
    if (!axes.includes("y")) return foldRows(planes, y[0], inLanes, identity, fold);
    return foldPlanes(
      planes.map((rows) => foldPlane(rows, inLanes, identity, fold)),
      fold,
    );
  };
  return kept("z").flatMap((z) => kept("y").flatMap((y) => kept("x").map((x) => one(x, y, z))));
}

/** Sums and the greatest along axes after two runs of a region; the first sums are added to those of the second component. */
async function outcome(
  set: DeviceSet,
  drawn: { split: string; extents: readonly number[]; axes: readonly AxisName[]; bounds: readonly Span[]; ghosts: number; layout: string },
  precision: "strict" | "fast",
) {
  const { split, extents, axes, bounds, ghosts, layout } = drawn;
  const cut = set.members.length > 1 ? (split as "y") : undefined;
  const grid = dense(set, extents as [number, number, number], { split: cut, ghosts, layout: layout as "soa" });
  const p = grid.field("p", f64, { cardinality: 2 });
  const total = grid.field("total", f64, { axes: axes as ["x"], cardinality: 2, ghosts: 1 });
  const most = grid.field("most", f32, { axes: axes as ["x"] });
  const into = sum(total, { components: [1, 2], accumulate: true });
  const on = bounds.map((span, axis) => slab((["x", "y", "z"] as const)[axis], ...span));
  const measure = grid.container(
    "measure",
    { p, total: into, most: max(most) },
    ({ p, total, most }, c) => {
      total.add(0, p[c][1]);
      most.max(Math.fround(p[c][1]));
    },
    undefined,
    { on },
  );
  p.fill((x, y, z, k) => (k === 1 ? value(x, y, z) : 0), { ghosts: true });
  total.set(() => 1);
  most.set(() => -1e6);
  for (let n = 0; n < 2; n++) await grid.run(measure, { precision });
  const made = grid.foldAlongAxes!(measure, precision);
  made.free();
  const found = { total: [...(await total.download())], most: [...(await most.download())] };
  const traffic = set.members.length > 1 ? [counted(made), reductionTraffic(measure, precision)] : [];
  const copies = await Promise.all(
    set.locals.map((member, m) => member.queue(0).read(total.piece(m, [0, axes.includes("z") ? extents[2] : 0]))),
  );
  grid.free();
  return { found, traffic, copies };
}

const span = (extent: number): fc.Arbitrary<Span> =>
  fc
    .tuple(fc.integer({ min: 0, max: extent - 1 }), fc.integer({ min: 1, max: extent }))
    .map(([a, n]): Span => [a, Math.min(extent, a + n)]);
const draw = fc
  .record({
    split: fc.constantFrom("y", "yz"),
    members: fc.constantFrom(2, 3, 4, 6),
    extents: fc.tuple(fc.integer({ min: 1, max: 35 }), fc.integer({ min: 41, max: 70 }), fc.integer({ min: 6, max: 21 })),
    axes: fc.constantFrom(...AXES),
    ghosts: fc.constantFrom(0, 0, 2),
    layout: fc.constantFrom("soa", "aos"),
    whole: fc.boolean(),
  })
  .chain(({ extents, whole, ...rest }) =>
    fc.record({
      extents: fc.constant(extents),
      bounds: whole ? fc.constant(extents.map((n): Span => [0, n])) : fc.tuple(...extents.map(span)),
      ...(Object.fromEntries(Object.entries(rest).map(([key, of]) => [key, fc.constant(of)])) as unknown as {
        [K in keyof typeof rest]: fc.Arbitrary<(typeof rest)[K]>;
      }),
    }),
  );

const js = await open("js");
const setOf = (count: number, device: Device = js): Promise<DeviceSet> => devices(Array<Device>(count).fill(device));

describe("folds on grids that are cut along y", () => {
  it("have the bits of the definition for all cuts, axes and regions, and the messages that explain() tells", () =>
    fc.assert(
      fc.asyncProperty(draw, async ({ members, ...drawn }) => {
        const { bounds, axes, extents } = drawn;
        const text = JSON.stringify({ members, ...drawn });
        const expected = await outcome(await setOf(1), drawn, "strict");
        const sums = reference(bounds, axes, 0, add);
        const greatest = reference(bounds, axes, -Infinity, Math.max);
        const inside = places(bounds, axes, extents);
        inside.total.forEach((place, n) => assert.equal(expected.found.total[2 * place + 1], 1 + sums[n] + sums[n], text));
        inside.most.forEach((place, n) => assert.equal(expected.found.most[place], greatest[n], text));
        const { found, traffic, copies } = await outcome(await setOf(members), drawn, "strict");
        assert.deepEqual(found, expected.found, text);
        assert.deepEqual(traffic[0], traffic[1], text);
        for (const copy of copies) assert.deepEqual(copy, copies[0], text);
        const fast = await outcome(await setOf(members), drawn, "fast");
        assert.deepEqual(fast.traffic[0], fast.traffic[1], text);
        assert.deepEqual(fast.found.most, expected.found.most, text);
        fast.found.total.forEach((v, n) => assert.ok(Math.abs(v - expected.found.total[n]) < 1e-6, text));
      }),
      { numRuns: share(14), seed: 1, includeErrorInReport: true },
    ));

  it("share out large results along y, and leave other members' rows alone", async () => {
    const extents = [300, 26, 300];
    const bounds = [[1, 300], [3, 26], [0, 300]] as const; // prettier-ignore
    const drawn = { split: "y", extents, axes: ["x", "z"] as const, bounds, ghosts: 0, layout: "soa" };
    const [one, four] = [await outcome(await setOf(1), drawn, "strict"), await outcome(await setOf(4), drawn, "strict")];
    assert.deepEqual(four.found, one.found);
    assert.deepEqual(four.traffic[0], four.traffic[1]);
    assert.equal(four.traffic[0].rounds, 2);
    const along = { ...drawn, split: "yz", axes: ["x", "y"] as const, extents: [3400, 26, 9], bounds: [[0, 3400], [0, 26], [1, 9]] as const }; // prettier-ignore
    const [alone, six] = [await outcome(await setOf(1), along, "strict"), await outcome(await setOf(6), along, "strict")];
    assert.deepEqual(six.found, alone.found);
    assert.deepEqual(six.traffic[0], six.traffic[1]);
  });
});

/** Places of a region's results in the host's arrays, the first of which has a ghost at each end. */
function places(bounds: readonly Span[], axes: readonly string[], extents: readonly number[]): { total: number[]; most: number[] } {
  const along = axes.map((axis) => "xyz".indexOf(axis));
  const all = (ghosts: number): number[] =>
    along
      .toReversed()
      .reduce<number[]>(
        (found, axis) =>
          found.flatMap((at) =>
            Array.from(
              { length: bounds[axis][1] - bounds[axis][0] },
              (_, n) => at * (extents[axis] + 2 * ghosts) + bounds[axis][0] + n + ghosts,
            ),
          ),
        [0],
      );
  return { total: all(1), most: all(0) };
}

for (const name of ["js", "wasm", "native", "opencl", "webgpu"]) {
  const opened = tested(name) ? await open(name).catch((error: Error) => error.message) : "not asked for";
  describe(`strict folds over rows on ${name}`, { skip: typeof opened === "string" && opened }, () => {
    it("have the bits of the definition", async () => {
      const round = (a: number, b: number): number => Math.fround(a + b);
      const extents = [37, 61, 19] as const;
      const bounds = [[0, 37], [5, 61], [1, 19]] as const; // prettier-ignore
      for (const axes of AXES)
        for (const members of [1, 4]) {
          const set = await setOf(members, opened as Device);
          const grid = dense(set, extents, members > 1 ? { split: "yz" } : {});
          const p = grid.field("p", f32);
          const counts = grid.field("counts", i32, { axes: axes as ["x"] });
          const total = grid.field("total", f32, { axes: axes as ["x"] });
          const on = [slab("y", 5, 61), slab("z", 1, 19)];
          const measure = grid.container("measure", { p, total: sum(total), counts: sum(counts) }, ({ p, total, counts }, c) => (total.add(p[c]), counts.add(1)), undefined, { on }); // prettier-ignore
          p.fill(value);
          await grid.run(measure, { precision: "strict" });
          const found = [...(await total.download())];
          const expected = reference(bounds, axes, 0, round);
          places(bounds, axes, extents).most.forEach((place, n) => assert.equal(found[place], expected[n], `${axes} on ${members}`));
          const cells = bounds.reduce((count, [first, end], axis) => count * (axes.includes("xyz"[axis] as "x") ? 1 : end - first), 1);
          assert.equal(Math.max(...(await counts.download())), cells);
          grid.free();
        }
    });
  });
}
