import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, i32 } from "../../../src/kernel/declare/params.js";
import { u8 } from "../../../src/kernel/declare/storage.js";
import { dense } from "../../../src/domain/index.js";
import { HostField } from "../host-field.js";
import { jsSet, jsSets, noise, onEachBackend } from "../sets.js";

const strict = { precision: "strict" } as const;
const extents = [37, 5, 15] as const;
const holes = (x: number, y: number, z: number): boolean => noise(x, y, z) > -0.4;
const value = (x: number, y: number, z: number, k: number): number => noise(x, y, z, k);

await onEachBackend("dense grids", ({ all }) => {
  it("run maps with coordinates over every cell once", async () => {
    for (const set of all) {
      const grid = dense(set, extents);
      const [p, n] = [grid.field("p", f64), grid.field("n", i32)];
      const count = grid.container("count", { p, n, step: 0.5 }, ({ p, n, step }, c) => {
        p[c] += step * c.x - c.y + c.z * 0.3;
        n[c] = c.x + 100 * c.y + 1000 * c.z;
      });
      p.fill(value);
      await grid.run(count, strict);
      const expected = new HostField(extents, (x, y, z) => value(x, y, z, 0) + (0.5 * x - y + z * 0.3));
      assert.deepEqual([...(await p.download())], expected.data, set.name);
      assert.deepEqual([...(await n.download())], new HostField(extents, (x, y, z) => x + 100 * y + 1000 * z).data);
      grid.free();
    }
  });

  for (const layout of ["soa", "aos"] as const)
    for (const active of [undefined, holes])
      it(`run stencils of ${layout} vectors ${active ? "around inactive cells" : "over the whole box"}`, async () => {
        for (const set of all) {
          const grid = dense(set, extents, { active, layout });
          const u = grid.field("u", f64, { cardinality: 3, fillValue: 0.25 });
          const v = grid.field("v", f64, { cardinality: 3, fillValue: -1 });
          const mix = grid.container("mix", { u, v }, ({ u, v }, c) => {
            for (let k = 0; k < 3; k++)
              v[c][k] = u[c][k] + 2 * u.at(c, 2, 0, 0)[k] - u.at(c, -1, 1, 0)[k] + 3 * u.at(c, 0, -1, 1)[k] - u.at(c, 0, 0, -2)[2 - k];
          });
          u.fill(value);
          await grid.run(mix, strict);
          const a = new HostField(extents, value, active, 0.25, 3);
          const mixed = (x: number, y: number, z: number, k: number): number =>
            a.at(x, y, z, k) +
            2 * a.at(x + 2, y, z, k) -
            a.at(x - 1, y + 1, z, k) +
            3 * a.at(x, y - 1, z + 1, k) -
            a.at(x, y, z - 2, 2 - k);
          assert.deepEqual([...(await v.download())], new HostField(extents, mixed, active, -1, 3).data, set.name);
          grid.free();
        }
      });

  it("run in two dimensions, on bytes, integers and single precision", async () => {
    for (const set of all) {
      const grid = dense(set, [21, 17], { active: (x, y) => (x - 10) ** 2 + (y - 8) ** 2 < 70 });
      const [alive, next] = [grid.field("alive", u8), grid.field("next", u8, { fillValue: 7 })];
      const [count, scaled] = [grid.field("count", i32, { fillValue: -3 }), grid.field("scaled", f32)];
      const step = grid.container("step", { alive, next, count, scaled }, ({ alive, next, count, scaled }, c) => {
        let n = 0;
        for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) n += alive.at(c, dx, dy);
        count[c] = n;
        next[c] = 300 * n;
        scaled[c] = Math.fround(n * 0.1);
      });
      const on = (x: number, y: number): number => (noise(x, y) > 0 ? 1 : 0);
      const inside = (x: number, y: number): boolean => (x - 10) ** 2 + (y - 8) ** 2 < 70;
      alive.fill(on);
      await grid.run(step, strict);
      const a = new HostField([21, 17], on, inside);
      const around = (x: number, y: number): number => {
        let n = 0;
        for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) n += a.at(x + dx, y + dy, 0);
        return n;
      };
      assert.deepEqual([...(await count.download())], new HostField([21, 17], around, inside, -3).data);
      assert.deepEqual([...(await next.download())], new HostField([21, 17], (x, y) => (300 * around(x, y)) % 256, inside, 7).data);
      assert.deepEqual([...(await scaled.download())], new HostField([21, 17], (x, y) => Math.fround(around(x, y) * 0.1), inside).data);
      grid.free();
    }
  });

  it("know which neighbours are active", async () => {
    for (const set of all)
      for (const active of [undefined, holes]) {
        const grid = dense(set, extents, { active });
        const n = grid.field("n", i32);
        const count = grid.container("count", { n }, ({ n }, c) => {
          let total = 0;
          if (n.isActive(c)) total += 1;
          if (n.isActive(c, 1, 0, 0)) total += 2;
          if (n.isActive(c, 0, -1, 0)) total += 4;
          if (n.isActive(c, 0, 0, 1)) total += 8;
          if (n.isActive(c, 0, 0, -1)) total += 16;
          n[c] = total;
        });
        await grid.run(count, strict);
        const a = new HostField(extents, () => 1, active);
        const flag = (bit: number, x: number, y: number, z: number): number => (a.contains(x, y, z) ? bit : 0);
        const expected = new HostField(
          extents,
          (x, y, z) => 1 + flag(2, x + 1, y, z) + flag(4, x, y - 1, z) + flag(8, x, y, z + 1) + flag(16, x, y, z - 1),
          active,
        );
        assert.deepEqual([...(await n.download())], expected.data, set.name);
        grid.free();
      }
  });

  it("take a wider stencil when there is memory already", async () => {
    for (const set of all) {
      const grid = dense(set, extents, { active: holes });
      const p = grid.field("p", f64, { fillValue: 9 }),
        s = grid.field("s", f64);
      const near = grid.container("near", { p, s }, ({ p, s }, c) => {
        s[c] = p.at(c, 1, 0, 0) + p.at(c, 0, 0, 1);
      });
      p.fill(value);
      await grid.run(near, strict);
      const generation = grid.generation;
      const far = grid.container("far", { p, s }, ({ p, s }, c) => {
        s[c] = s[c] + p.at(c, 0, -2, 0) * p.at(c, -3, 0, -2);
      });
      await grid.run(far, strict);
      assert.ok(grid.generation > generation);
      assert.deepEqual(grid.reach, [3, 2, 2]);
      const a = new HostField(extents, value, holes, 9);
      const expected = new HostField(
        extents,
        (x, y, z) => a.at(x + 1, y, z) + a.at(x, y, z + 1) + a.at(x, y - 2, z) * a.at(x - 3, y, z - 2),
        holes,
      );
      assert.deepEqual([...(await s.download())], expected.data, set.name);
      await grid.run(near, strict);
      assert.deepEqual(await s.get([3, 3, 3]), holes(3, 3, 3) ? a.at(4, 3, 3) + a.at(3, 3, 4) : 0);
      grid.free();
    }
  });
});

describe("data views of dense grids", () => {
  for (const set of jsSets)
    it(`internal and boundary cells of ${set.name} are all cells, each once`, () => {
      const grid = dense(set, extents);
      const p = grid.field("p", f64),
        s = grid.field("s", f64);
      const stencil = grid.container("stencil", { p, s }, ({ p, s }, c) => {
        s[c] = p.at(c, 0, 0, 2) - p.at(c, 0, 0, -2);
      });
      const add = grid.container("add", { p }, ({ p }, c) => {
        p[c] += 1;
      });
      p.fill(0);
      set.locals.forEach((member, m) => {
        const submit = (view: "internal" | "boundary"): number[] => {
          const launches = grid.prepare(add, m, view, strict);
          launches.forEach((launch) => member.queue(0).submit(launch));
          return launches.map(({ policy }) => (policy.kind === "range" ? policy.extents[0] : NaN));
        };
        const { planes } = grid.partitions[m];
        const sides = (m > 0 ? 1 : 0) + (m < set.members.length - 1 ? 1 : 0);
        const boundary = submit("boundary");
        const internal = submit("internal");
        assert.equal(
          boundary.reduce((a, b) => a + b, 0),
          Math.min(planes, 2 * sides),
        );
        assert.equal(
          internal.reduce((a, b) => a + b, 0),
          planes - Math.min(planes, 2 * sides),
        );
        assert.ok(internal.length <= 1 && boundary.length <= sides);
      });
      return p.download().then((data) => {
        assert.ok(data.every((v) => v === 1));
        assert.ok(stencil.stencil);
        grid.free();
      });
    });

  it("halo copies are contiguous, between neighbours, one for each component of soa fields", () => {
    const grid = dense(jsSet(3), [8, 4, 12]);
    const u = grid.field("u", f64, { cardinality: 3 }),
      w = grid.field("w", f64, { cardinality: 3, layout: "aos" });
    assert.deepEqual(grid.halo(u), []);
    grid.require([
      [0, 0, 1],
      [0, 0, -1],
    ]);
    assert.deepEqual(
      grid.halo(u).map(({ from, to }) => `${from}${to}`),
      ["01", "01", "01", "10", "10", "10", "12", "12", "12", "21", "21", "21"],
    );
    assert.deepEqual(
      grid.halo(w).map(({ from, to }) => `${from}${to}`),
      ["01", "10", "12", "21"],
    );
    for (const { source, target } of [...grid.halo(u), ...grid.halo(w)]) {
      assert.ok(source!.contiguous && target!.contiguous && source!.rank === 1);
      assert.deepEqual(source!.shape, target!.shape);
    }
    grid.free();
  });

  it("halo copies bring only the components and planes that stencils read", async () => {
    for (const layout of ["soa", "aos"] as const) {
      const grid = dense(jsSet(2), [8, 4, 12], { layout });
      const f = grid.field("f", f64, { cardinality: 4 }),
        g = grid.field("g", f64, { cardinality: 4 });
      const step = grid.container("step", { f, g }, ({ f, g }, c) => {
        g[c][0] = f.at(c, 1, 0, 0)[0];
        g[c][1] = f.at(c, 0, 0, -1)[1] + f.at(c, 0, 0, -2)[1];
        g[c][2] = f.at(c, 0, 1, 1)[2];
        g[c][3] = f[c][3];
      });
      assert.deepEqual(
        grid.halo(f).map(({ from, to }) => `${from}${to}`),
        ["01", "10"],
      );
      assert.deepEqual(grid.halo(g), []);
      const plane = grid.halo(f)[1].source!.size;
      assert.ok(grid.halo(f)[0].source!.size > plane && grid.halo(f)[0].source!.size <= 2 * plane + 1000);
      f.fill(value);
      const zero = grid.container("zero", { f }, ({ f }, c) => {
        for (let k = 0; k < 4; k++) f[c][k] = 1 + k;
      });
      await grid.run(zero, strict);
      await grid.run(step, strict);
      const ones = new HostField([8, 4, 12], (x, y, z, k) => 1 + k, undefined, 0, 4);
      const expected = new HostField(
        [8, 4, 12],
        (x, y, z, k) => [ones.at(x + 1, y, z, 0), ones.at(x, y, z - 1, 1) + ones.at(x, y, z - 2, 1), ones.at(x, y + 1, z + 1, 2), 4][k],
        undefined,
        0,
        4,
      );
      assert.deepEqual([...(await g.download())], expected.data);
      const all = grid.container("all", { f, g }, ({ f, g }, c) => {
        let total = 0;
        for (let k = 0; k < 4; k++) total += f.at(c, 0, 0, 1)[k];
        g[c][0] = total;
      });
      assert.ok(all.stencil);
      assert.equal(grid.halo(f).length, layout === "soa" ? 5 : 2);
      grid.free();
    }
  });
});
