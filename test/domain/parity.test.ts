import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dense, face, parity, roll, slab, type Parity } from "../../src/domain/index.js";
import { f64, max, sum } from "../../src/kernel/declare/params.js";
import { OCC_LEVELS, skeleton } from "../../src/skeleton/index.js";
import { KINDS, type Active } from "./grid-kinds.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

/* Containers over cells of one parity, which write fields in place that they read around their cells. */

interface Case {
  readonly extents: readonly number[];
  readonly active?: Active;
  readonly periodic?: boolean | readonly boolean[];
}
const CASES: Readonly<Record<string, Case>> = {
  "a box with rows of odd length": { extents: [19, 12, 14] },
  "a box with rows of even length": { extents: [20, 11, 14] },
  "a sphere": { extents: [20, 12, 14], active: (x, y, z) => (x - 9) ** 2 + (y - 5) ** 2 + (z - 7) ** 2 < 60 },
  "a ring along all axes": { extents: [20, 12, 14], periodic: true },
  "two dimensions": { extents: [35, 28] },
  "two dimensions, a ring along rows": { extents: [36, 28], periodic: [true, false] },
};
const DIRECTIONS = [1, -1].flatMap((d) => [[d, 0, 0], [0, d, 0], [0, 0, d]]); // prettier-ignore

/** Two sweeps of Gauss-Seidel over cells of both parities, as plain code has them. */
function relaxed({ extents: [nx, ny, nz = 1], active, periodic = false }: Case): number[] {
  const isRing = [0, 1, 2].map((axis) => (typeof periodic === "boolean" ? periodic : (periodic[axis] ?? false)));
  const extents = [nx, ny, nz];
  const isThere = (place: readonly number[]): boolean =>
    place.every((n, axis) => n >= 0 && n < extents[axis]) && (active?.(place[0], place[1], place[2]) ?? true);
  const indexOf = ([x, y, z]: readonly number[]): number => (z * ny + y) * nx + x;
  const places = Array.from({ length: nx * ny * nz }, (_, n) => [n % nx, Math.floor(n / nx) % ny, Math.floor(n / (nx * ny))]);
  const u = places.map((place) => (isThere(place) ? noise(place[0], place[1], place[2], 0) : 0));
  const at = (place: readonly number[]): number => {
    const wrapped = place.map((n, axis) => (isRing[axis] ? (n + extents[axis]) % extents[axis] : n));
    return isThere(wrapped) ? u[indexOf(wrapped)] : 0;
  };
  for (const parity of [0, 1, 0, 1])
    for (const place of places.filter(isThere)) {
      if ((place[0] + place[1] + place[2]) % 2 !== parity) continue;
      const [a, b, c, d, e, f] = DIRECTIONS.map((offset) => at(place.map((n, axis) => n + offset[axis])));
      u[indexOf(place)] = 0.25 * u[indexOf(place)] + 0.125 * (nz > 1 ? a + d + b + e + (c + f) : a + d + b + e) + 0.5 * place[1];
    }
  return u;
}

onEachBackend("parities", ({ of, some, backend }) => {
  for (const [name, each] of sample(Object.entries(CASES)))
    it(`Gauss-Seidel in place on ${name} is what plain code gives`, async () => {
      const wanted = relaxed(each);
      for (const count of some([1, 2, 7]))
        for (const kind of each.extents.length > 2 && backend !== "js" ? (["dense"] as const) : (["dense", "sparse", "bricks"] as const)) {
          if (count === 7 && each.extents.length === 3 && kind === "bricks") continue;
          // Whole bricks along periodic axes
          if (kind === "bricks" && each.periodic !== undefined && each.extents.some((n) => n % 2 !== 0)) continue;
          const grid = KINDS[kind](of(count), each.extents, each.active, { periodic: each.periodic });
          const u = grid.field("u", f64);
          const steps = ([0, 1] as const).map((p) =>
            each.extents.length === 3
              ? grid.container(
                  `parity ${p}`,
                  { u },
                  ({ u }, c) => {
                    const others = u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0);
                    u[c] = 0.25 * u[c] + 0.125 * (others + (u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1))) + 0.5 * c.y;
                  },
                  undefined,
                  { on: parity(p) },
                )
              : grid.container(
                  `parity ${p}`,
                  { u },
                  ({ u }, c) => {
                    u[c] = 0.25 * u[c] + 0.125 * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1)) + 0.5 * c.y;
                  },
                  undefined,
                  { on: parity(p) },
                ),
          );
          for (const occ of count === 1 ? (["none"] as const) : OCC_LEVELS) {
            u.fill(noise);
            const sweeps = skeleton(of(count), "sweeps", steps, { precision: "strict", occ });
            await sweeps.run(2);
            assert.deepEqual([...(await u.download())], wanted, `${kind}, ${count} members, ${occ}`);
            sweeps.free();
          }
          grid.free();
        }
    });
});

describe("parities", () => {
  const grid = dense(jsSet(1), [8, 9, 6], { periodic: [false, true, false] });
  const u = grid.field("u", f64);
  const relax = (on: Parity, [dx, dy, dz]: readonly [number, number, number], more = {}) =>
    grid.container("relax", { u }, ({ u }, c) => void (u[c] = 0.5 * u.at(c, dx, dy, dz)), () => [dx, dy, dz], { on: parity(on), ...more }); // prettier-ignore

  it("refuse neighbours that the container writes", () => {
    assert.throws(
      () => relax(0, [1, 0, 1]),
      /"relax".* reads u at offset \[1,0,1\] while each cell writes its own u .*both cells have one parity/,
    );
    assert.throws(
      () => relax(1, [0, 1, 0]),
      /along y, which is periodic with 9 cells, the first cell and the last have one parity.*even number/s,
    );
    relax(1, [0, 0, -1]);
    assert.throws(() => grid.container("relax", { u }, ({ u }, c) => void (u[c] = u.at(c, 1, 0, 0))), /reads u at offset \[1,0,0\]/);
  });

  it("refuse what has no meaning", () => {
    assert.throws(() => relax(2 as Parity, [1, 0, 0]), /runs on the parity 2.*parity\(0\)/s);
    const both = { on: [parity(0), parity(1)] };
    assert.throws(() => grid.container("all", { u }, ({ u }, c) => void (u[c] = 1), undefined, both), /no cell in common/);
    assert.throws(() => relax(0, [1, 0, 0], { march: "x" }), /marches and runs on even cells/);
    assert.throws(() => roll(u, u, [1, 0, 0], { on: parity(0) }), /copies even cells.*rolls copy boxes/s);
  });

  it("meet faces and slabs, and are shown", async () => {
    u.fill(0);
    const some = grid.container("some", { u }, ({ u }, c) => void (u[c] += 1), undefined, {
      on: [face("xmax"), slab("y", 1, 4), parity(1)],
    });
    await grid.run(some);
    const cells = [...(await u.download())].flatMap((value, n) => (value ? [[n % 8, Math.floor(n / 8) % 9, Math.floor(n / 72)]] : []));
    const wanted = [0, 1, 2, 3, 4, 5].flatMap((z) => [1, 2, 3].filter((y) => (7 + y + z) % 2 === 1).map((y) => [7, y, z]));
    assert.deepEqual(cells, wanted);
    assert.match(await skeleton(grid.set, "some", [some]).explain(), /some +map on xmax, y 1 to 4, odd cells/);
  });

  it("fold along axes and into scalars what their cells have", async () => {
    u.fill((x, y, z) => x + 10 * y + 100 * z);
    const [total, rows] = [grid.scalar("total", f64), grid.axis("z", f64, () => 0)];
    const on = { on: parity(1) };
    await grid.run(grid.container("total", { u, total: sum(total) }, ({ u, total }, c) => total.add(u[c]), undefined, on));
    await grid.run(grid.container("rows", { u, rows: max(rows) }, ({ u, rows }, c) => rows.max(u[c]), undefined, on));
    const odd = Array.from({ length: 8 * 9 * 6 }, (_, n) => [n % 8, Math.floor(n / 8) % 9, Math.floor(n / 72)]).filter(
      (p) => (p[0] + p[1] + p[2]) % 2,
    );
    assert.equal(
      await total.get(),
      odd.reduce((sum, [x, y, z]) => sum + x + 10 * y + 100 * z, 0),
    );
    const highest = (plane: number): number => Math.max(...odd.flatMap(([x, y, z]) => (z === plane ? [x + 10 * y + 100 * z] : [])));
    assert.deepEqual([...(await rows.download())], [0, 1, 2, 3, 4, 5].map(highest));
  });
});
