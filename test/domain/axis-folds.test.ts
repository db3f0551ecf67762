import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, i32, max, min, sum } from "isoform";
import { dense, face, slab, sparse, type AxisName, type Grid, type Region } from "../../src/domain/index.js";
import { particles } from "../../src/domain/particles/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { OCC_LEVELS } from "../../src/skeleton/plan/occ.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

/** Members of a set; where their number is the subject, all of these. */
const [COUNTS, ALL_COUNTS] = [
  [1, 2, 7],
  [1, 2, 3, 4, 7],
];
const strict = { precision: "strict" } as const;
const whole = (x: number, y: number, z: number): number => Math.floor(1000 * noise(x, y, z));

/** Sums of values over the axes that are not named, and the least and the greatest, in the host's order. */
function folded(extents: readonly number[], axes: readonly number[], value: (...cell: number[]) => number | undefined) {
  const counts = axes.map((axis) => extents[axis]);
  const size = counts.reduce((a, b) => a * b, 1);
  const [total, least, most] = [Array<number>(size).fill(0), Array<number>(size).fill(2 ** 31 - 1), Array<number>(size).fill(-(2 ** 31))];
  for (let n = 0; n < extents.reduce((a, b) => a * b, 1); n++) {
    let rest = n;
    const cell = extents.map((extent) => {
      const at = rest % extent;
      rest = Math.floor(rest / extent);
      return at;
    });
    const v = value(...cell);
    if (v === undefined) continue;
    const place = axes.reduceRight((sum, axis) => sum * extents[axis] + cell[axis], 0);
    total[place] += v;
    least[place] = Math.min(least[place], v);
    most[place] = Math.max(most[place], v);
  }
  return { total, least, most };
}

const CHOICES: [extents: readonly number[], axes: readonly AxisName[]][] = [
  [[20, 6, 14], ["x"]],
  [[20, 6, 14], ["y"]],
  [[48, 5, 7], ["y"]],
  [[20, 6, 14], ["z"]],
  [
    [20, 6, 14],
    ["x", "y"],
  ],
  [
    [48, 5, 7],
    ["x", "z"],
  ],
  [
    [20, 6, 14],
    ["y", "z"],
  ],
  [[35, 15], ["x"]],
  [[35, 15], ["y"]],
];

await onEachBackend("reductions along axes", ({ of, some }) => {
  for (const [extents, axes] of CHOICES)
    it(`leave sums, least and greatest values along ${axes.join(" and ")} of [${extents}] cells`, async () => {
      const numbers = axes.map((axis) => "xyz".indexOf(axis));
      const flat = extents.length === 2;
      const active = (x: number, y: number, z: number) => noise(z, x, y) > -0.5;
      for (const only of [undefined, active]) {
        const expected = folded(extents, numbers, (x, y, z = 0) => (!only || only(x, y, z) ? whole(x, y, z) : undefined));
        for (const count of some(COUNTS))
          for (const precision of ["strict", "fast"] as const) {
            const grid = dense(of(count), extents, { active: only }) as Grid;
            const p = grid.field("p", i32);
            const [total, least, most] = ["total", "least", "most"].map((name) => grid.field(name, i32, { axes: axes as ["x"] }));
            const measure = grid.container(
              "measure",
              { p, total: sum(total), least: min(least), most: max(most) },
              ({ p, total, least, most }, c) => {
                total.add(p[c]);
                least.min(p[c]);
                most.max(p[c]);
              },
            );
            p.fill((x, y, z) => whole(x, y, flat ? 0 : z));
            await grid.run(measure, { precision });
            const where = `${count} members, ${precision}`;
            assert.deepEqual([...(await total.download())], expected.total, where);
            assert.deepEqual([...(await least.download())], expected.least, where);
            assert.deepEqual([...(await most.download())], expected.most, where);
            grid.free();
          }
      }
    });

  it("fold the cells of a region alone, ghosts too, and leave the other values", async () => {
    const extents = [20, 6, 14];
    const regions: [on: Region | Region[], bounds: [number, number][]][] = [
      [slab("z", 3, 6), [[0, 20], [0, 6], [3, 6]]], // prettier-ignore
      [slab("y", 1, 2), [[0, 20], [1, 2], [0, 14]]], // prettier-ignore
      [[slab("x", 2, 19), slab("z", 13, 14)], [[2, 19], [0, 6], [13, 14]]], // prettier-ignore
      [face("ymax"), [[0, 20], [5, 6], [0, 14]]], // prettier-ignore
      [[slab("x", -2, 1), slab("z", -1, 15)], [[-2, 1], [0, 6], [-1, 15]]], // prettier-ignore
    ];
    for (const [on, bounds] of sample(regions))
      for (const axes of [["x"], ["y"], ["z"], ["x", "y"], ["y", "z"]] as const) {
        const numbers = axes.map((axis) => "xyz".indexOf(axis));
        const isGhostly = bounds.map(([first, end], axis) => first < 0 || end > extents[axis]);
        if (numbers.some((axis) => isGhostly[axis])) continue;
        const lengths = extents.map((n, axis) => (isGhostly[axis] ? n + 4 : n));
        const expected = folded(lengths, numbers, (...shifted) => {
          const cell = shifted.map((n, axis) => (isGhostly[axis] ? n - 2 : n));
          return cell.every((n, axis) => n >= bounds[axis][0] && n < bounds[axis][1]) ? whole(cell[0], cell[1], cell[2]) : undefined;
        }).total;
        const taken = folded(extents, numbers, (...cell) => (cell.every((n, axis) => isGhostly[axis] || (n >= bounds[axis][0] && n < bounds[axis][1])) ? 1 : undefined)).total; // prettier-ignore
        for (const count of some(COUNTS))
          for (const precision of ["strict", "fast"] as const) {
            const grid = dense(of(count), [20, 6, 14], { ghosts: 2 });
            const p = grid.field("p", i32);
            const total = grid.field("total", i32, { axes });
            total.set(() => -7);
            const measure = grid.container("measure", { p, total: sum(total) }, ({ p, total }, c) => total.add(p[c]), undefined, { on });
            p.fill(whole, { ghosts: true });
            await grid.run(measure, { precision });
            assert.deepEqual(
              [...(await total.download())],
              expected.map((v, n) => (taken[n] > 0 ? v : -7)),
              `${JSON.stringify(on)} along ${axes}, ${count} members, ${precision}`,
            );
            grid.free();
          }
      }
  });

  it("have the same bits in strict mode on any number of members and at every level of overlap", async () => {
    const results = new Set<string>();
    for (const axes of [["x"], ["y"], ["x", "y"], ["y", "z"]] as const) {
      results.clear();
      for (const count of some(ALL_COUNTS))
        for (const occ of count === 3 ? OCC_LEVELS : (["standard"] as const)) {
          const grid = dense(of(count), [20, 6, 21], { periodic: [false, false, true] });
          const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
          const mean = grid.field("mean", f64, { axes, cardinality: 3 });
          const total = grid.field("total", f64, { axes });
          const smooth = grid.container("smooth", { p, q }, ({ p, q }, c) => {
            q[c] = 0.3 * p.at(c, 0, 0, 1) + 0.4 * p.at(c, 0, 0, -1) + p[c];
          });
          const moments = grid.container(
            "moments",
            { q, mean: sum(mean), total: sum(total, { accumulate: true }) },
            ({ q, mean, total }, c) => {
              const slope = q.at(c, 0, 0, 1) - q.at(c, 0, 1, 0);
              let power = 1;
              for (let k = 0; k < 3; k++) {
                power *= slope;
                mean.add(k, power);
              }
              total.add(q[c]);
            },
          );
          const relax = grid.container("relax", { p, q, mean, total }, ({ p, q, mean, total }, c) => {
            p[c] = 0.5 * q[c] + 1e-3 * mean[c][0] - 1e-4 * mean[c][2] * total[c];
          });
          p.fill((x, y, z) => noise(x, y, z));
          const steps = skeleton(grid.set, "steps", [smooth, moments, relax], { ...strict, occ });
          await steps.run(3);
          results.add([...(await p.download()), ...(await mean.download()), ...(await total.download())].join());
          steps.free();
          grid.free();
        }
      assert.equal(results.size, 1, `along ${axes}`);
    }
  });

  it("give in fast mode what they give in strict mode but for rounding, and the values of one iteration to the next", async () => {
    const run = async (precision: "strict" | "fast", count: number): Promise<number[]> => {
      const grid = dense(of(count), [70, 9, 16]);
      const p = grid.field("p", f64);
      const mean = grid.field("mean", f64, { axes: ["y"], cardinality: 2 });
      const measure = grid.container("measure", { p, mean: sum(mean) }, ({ p, mean }, c) => {
        mean.add(0, p[c] / (70 * 16));
        mean.add(1, (p[c] * p[c]) / (70 * 16));
      });
      const subtract = grid.container("subtract", { p, mean }, ({ p, mean }, c) => {
        p[c] = (p[c] - mean[c][0]) / Math.sqrt(mean[c][1] - mean[c][0] * mean[c][0]);
      });
      p.fill((x, y, z) => y + noise(x, y, z));
      const steps = skeleton(grid.set, "steps", [measure, subtract], { precision });
      await steps.run(2);
      await grid.run(measure, { precision });
      const found = [...(await mean.download())];
      steps.free();
      grid.free();
      return found;
    };
    const expected = await run("strict", 1);
    for (let y = 0; y < 9; y++) assert.ok(Math.abs(expected[2 * y]) < 1e-13 && Math.abs(expected[2 * y + 1] - 1) < 1e-13);
    for (const count of some(COUNTS))
      for (const [n, v] of (await run("fast", count)).entries())
        assert.ok(Math.abs(v - expected[n]) < 1e-12, `${v} instead of ${expected[n]}`);
  });

  it("are read around the cell, set by the host, and hold any type", async () => {
    for (const count of [1, 3]) {
      const grid = dense(of(count), [8, 5, 7]);
      const p = grid.field("p", f64);
      const m = grid.field("m", f32, { axes: ["x", "z"], cardinality: 2, ghosts: 1 });
      m.set((x, z, k) => x + 10 * z + 100 * k);
      assert.equal(await m.get([-1, 7], 1), 169);
      const read = grid.container("read", { p, m }, ({ p, m }, c) => {
        const here = m[c];
        p[c] = m.at(c, -1, 1)[1] + here[0] * 100 + m.at(c, 1, 0)[0] * 1e4 + here.length;
      });
      await grid.run(read, strict);
      assert.equal(await p.get([3, 2, 6]), 2 + 70 + 100 + 63 * 100 + 64e4 + 2);
      const write = grid.container("write", { m: max(m) }, ({ m }, c) => {
        m.max(0, c.x);
        m.max(1, c.y - 2 * c.z);
      });
      await grid.run(write, strict);
      assert.deepEqual([await m.get([5, 6], 0), await m.get([5, 6], 1), await m.get([-1, 7], 1)], [5, -8, 169]);
      const second = grid.container("second", { m: sum(m, { components: [1, 2] }) }, ({ m }, c) => m.add(0, c.y));
      await grid.run(second, strict);
      assert.deepEqual([await m.get([5, 6], 0), await m.get([5, 6], 1), await m.get([-1, 7], 1)], [5, 10, 169]);
      grid.free();
    }
  });
});

it("reductions along axes that cannot be are refused", async () => {
  const grid = dense(await jsSet(1), [8, 6, 4]);
  const other = dense(await jsSet(1), [8, 6, 4]);
  const p = grid.field("p", f64);
  const [m, n, s] = [grid.field("m", f64, { axes: ["y"] }), grid.field("n", f64, { axes: ["x"] }), grid.scalar("s", f64)];
  const v = grid.field("v", f64, { axes: ["y"], cardinality: 2 });
  assert.throws(() => grid.field("f", f64, { axes: ["x", "y", "z"] }), /name one axis, or two of a grid of three dimensions/);
  assert.throws(() => grid.field("f", f64, { axes: [] }), /name one axis/);
  assert.throws(() => grid.field("f", f64, { axes: ["x", "x"] }), /name one axis/);
  assert.throws(() => grid.field("f", f64, { axes: ["x"], cardinality: 0 }), /cardinality 0; give a whole number/);
  assert.throws(
    () => grid.container("both", { p, m: sum(m), n: sum(n) }, ({ p, m, n }, c) => (m.add(p[c]), n.add(p[c]))),
    /"m" and "n", which live on different axes/,
  );
  assert.throws(
    () => grid.container("mixed", { p, m: sum(m), s: sum(s) }, ({ p, m, s }, c) => (m.add(p[c]), s.add(p[c]))),
    /scalar and along axes/,
  );
  assert.throws(() => grid.container("old", { m, to: sum(m) }, ({ m, to }, c) => to.add(m[c])), /"m" is read and takes the result/);
  assert.throws(() => grid.container("twice", { a: sum(m), b: sum(m) }, ({ a, b }) => (a.add(1), b.add(2))), /two reductions go into "m"/);
  assert.throws(
    () => grid.container("part", { v: sum(v, { components: [1, 3] }) }, ({ v }) => v.add(0, 1)),
    /the components from 1 to 3 of "v" take results, and it has 2/,
  );
  assert.throws(() => other.container("foreign", { m: sum(m) }, ({ m }) => m.add(1)), /along an axis of another grid/);
  assert.throws(() => grid.container("k", { v: sum(v) }, ({ v }) => v.add(2, 1)), /index|outside|component/);
  assert.throws(
    () => grid.container("one", { v: sum(v) }, ({ v }) => (v.add as (n: number) => void)(2)),
    /has several components.*write v.add\(k, value\)/,
  );
  assert.throws(
    () => grid.container("kind", { v: sum(v) }, ({ v }) => (v as unknown as { max(n: number): void }).max(2)),
    /it folds by sum/,
  );
  assert.throws(
    () =>
      grid.container("store", { v }, ({ v }, c) => {
        (v[c] as number[])[0] = 1;
      }),
    /writes v, an array along axes/,
  );
  const edged = dense(await jsSet(1), [8, 6, 4], { ghosts: 1 });
  const edge = edged.field("edge", f64, { axes: ["y"] });
  assert.throws(
    () => edged.container("out", { edge: sum(edge) }, ({ edge }) => edge.add(1), undefined, { on: slab("y", -1, 2) }),
    /over ghosts along y, an axis that it lives on/,
  );
  assert.throws(
    () => grid.container("march", { p, v: sum(v) }, ({ p, v }, c) => c.march((cell) => v.add(0, p[cell])), undefined, { march: "y" }),
    /marches along an axis and reduces along axes/,
  );
  const thin = sparse(await jsSet(1), [8, 6, 4], undefined);
  const along = thin.field("along", f64, { axes: ["y"] });
  assert.throws(() => thin.container("thin", { along: sum(along) }, ({ along }) => along.add(1)), /along axes of a sparse grid/);
  const beam = particles(grid, "beam", { w: f64 });
  assert.throws(() => beam.container("beam", { m: sum(m) }, ({ m }) => m.add(1)), /a reduction along axes, and particles have none/);
});
