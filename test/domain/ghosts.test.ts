import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bricks,
  dense,
  face,
  makeGrid,
  slab,
  sparse,
  type Container,
  type DenseOptions,
  type Field,
  type Region,
} from "../../src/domain/index.js";
import type { ContainerBody } from "../../src/domain/index.js";
import type { Scalar } from "../../src/set/index.js";
import { f64, sum, type ReduceIntoToken } from "../../src/kernel/declare/params.js";
import { OCC_LEVELS, skeleton, swap } from "../../src/skeleton/index.js";
import { ghostsOf, type Margins } from "../../src/domain/grid/ghosts.js";
import { ELSEWHERE } from "../devices.js";
import { HostGrid } from "./host-box.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

/* Values beyond the sides: ghosts that containers on faces write, and that stencils read like cells. */

type Plain = Field<"f64", 1, 3>;
type U = ContainerBody<{ u: Plain }, 3>;
const FILL_VALUE = 0.25;
const STEPS = 3;

interface Case {
  readonly extents: readonly [number, number, number];
  readonly options: DenseOptions & { readonly periodic?: readonly boolean[] };
}
const CASES: Readonly<Record<string, Case>> = {
  "walls on all sides": { extents: [10, 6, 15], options: { ghosts: 2 } },
  "one layer in y, a ring in x and z": { extents: [9, 5, 15], options: { periodic: [true, false, true], ghosts: { ymin: 2, ymax: 2 } } },
  "packed rows": { extents: [16, 5, 15], options: { packed: true, ghosts: { ymin: 2, ymax: 2, zmin: 2, zmax: 2 } } },
  "x and z alone": { extents: [17, 5, 16], options: { periodic: [false, true, false], ghosts: { xmin: 2, xmax: 2, zmin: 2, zmax: 2 } } },
};

/** Walls of several kinds: extrapolation along x, mirrors along y, given values along z, corners last. */
const WALLS: readonly { name: string; on: Region; body: U }[] = [
  {
    name: "xmin",
    on: face("xmin"),
    body: ({ u }, c) => {
      u.put(c, -1, 0, 0, 2 * u[c] - u.at(c, 1, 0, 0));
      u.put(c, -2, 0, 0, 3 * u[c] - 2 * u.at(c, 1, 0, 0));
    },
  },
  {
    name: "xmax",
    on: face("xmax"),
    body: ({ u }, c) => {
      for (let l = 1; l <= 2; l++) u.put(c, l, 0, 0, u[c] + 0.125 * l * u.at(c, -1, 0, 0));
    },
  },
  {
    name: "ymin",
    on: face("ymin", { ghosts: true }),
    body: ({ u }, c) => {
      for (let l = 1; l <= 2; l++) u.put(c, 0, -l, 0, -u.at(c, 0, l - 1, 0));
    },
  },
  {
    name: "ymax",
    on: face("ymax", { ghosts: true }),
    body: ({ u }, c) => {
      for (let l = 1; l <= 2; l++) u.put(c, 0, l, 0, u.at(c, 0, 1 - l, 0) + 0.01 * c.x - 0.003 * c.z);
    },
  },
  {
    name: "zmin",
    on: face("zmin", { ghosts: true }),
    body: ({ u }, c) => {
      u.put(c, 0, 0, -1, u.at(c, 0, 0, 1) * 0.5);
      u.put(c, 0, 0, -2, 0.75);
    },
  },
  {
    name: "zmax",
    on: face("zmax", { ghosts: true }),
    body: ({ u }, c) => {
      for (let l = 1; l <= 2; l++) u.put(c, 0, 0, l, u.at(c, 0, 0, 1 - l));
    },
  },
];

/** A stencil with corners, two cells wide. */
const step: ContainerBody<{ u: Plain; v: Plain }, 3> = ({ u, v }, c) => {
  let total = 4 * u[c];
  for (let dz = -1; dz <= 1; dz++) for (let dy = -1; dy <= 1; dy++) total += u.at(c, -1, dy, dz) + 0.5 * u.at(c, 1, dy, dz);
  total += u.at(c, 2, 0, 0) - u.at(c, -2, 0, 0) + u.at(c, 0, 2, 0) - u.at(c, 0, -2, 0) + u.at(c, 0, 0, 2) - u.at(c, 0, 0, -2);
  v[c] = 0.03 * total + 0.001 * c.y;
};

const wallsOf = (ghosts: Margins) => WALLS.filter(({ name }) => ghosts["xyz".indexOf(name[0])][0] > 0);

/** What u is after some steps, and u with its ghosts. */
function expected({ extents, options: { periodic = [false, false, false], ghosts } }: Case): HostGrid {
  const host = new HostGrid(extents, periodic, ghostsOf(extents, periodic, ghosts), FILL_VALUE);
  host.fill("u", noise);
  for (let n = 0; n < STEPS; n++) {
    for (const { on, body } of wallsOf(host.ghosts)) host.run(["u"], body as never, on);
    host.run(["u", "v"], step as never);
    const [u, v] = [host.field("u"), host.field("v")];
    const before = new Map(u);
    u.clear();
    for (const [key, value] of v) u.set(key, value);
    v.clear();
    for (const [key, value] of before) v.set(key, value);
  }
  return host;
}

function made({ extents, options }: Case, count: number, of: (count: number) => ReturnType<typeof jsSet>) {
  const grid = dense(of(count), extents, options);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { fillValue: FILL_VALUE }));
  const walls = wallsOf(grid.ghosts).map(({ name, on, body }): Container => grid.container(name, { u }, body, undefined, { on }));
  const steps = [...walls, grid.container("step", { u, v }, step)];
  u.fill(noise);
  return { grid, u, v, steps };
}

onEachBackend("ghosts", ({ of, some, backend }) => {
  for (const [name, given] of Object.entries(CASES)) {
    const host = expected(given);
    it(`${name}: run one by one`, async () => {
      for (const count of some([1, 2, 3, 7])) {
        const { grid, u, v, steps } = made(given, count, of);
        for (let n = 0; n < STEPS; n++) {
          for (const each of steps) await grid.run(each, { precision: "strict" });
          u.swap(v);
        }
        assert.deepEqual([...(await u.download())], host.array("u"), `${count} members`);
        assert.deepEqual([...(await v.download({ ghosts: true }))], host.array("v", true), `${count} members, ghosts`);
        grid.free();
      }
    });

    it(`${name}: as a skeleton, at all levels of overlap`, async () => {
      for (const count of some([1, 2, 3, 4, 7]))
        for (const occ of backend === "js" || count === 3 ? sample(OCC_LEVELS) : ["standard" as const]) {
          const { grid, u, v, steps } = made(given, count, of);
          const plan = skeleton(of(count), "heat", [...steps, swap(u, v)], {
            precision: "strict",
            occ,
            unroll: occ === "extended" ? 3 : 1,
          });
          await plan.run(STEPS);
          assert.deepEqual([...(await u.download())], host.array("u"), `${count} members, ${occ}`);
          plan.free();
          grid.free();
        }
    });
  }
});

/** A reduction into a scalar, as a body sees it. */
type Total = ReduceIntoToken<Scalar<"f64">, "sum">;

describe("ghosts", { skip: ELSEWHERE }, () => {
  const sums = new Set<string>();

  it("are set, read and kept by the host", async () => {
    for (const count of [1, 2, 3]) {
      const grid = dense(jsSet(count), [6, 4, 9], { ghosts: { xmin: 1, ymin: 2, ymax: 1, zmin: 1, zmax: 2 } });
      const host = new HostGrid([6, 4, 9], [false, false, false], grid.ghosts, 7);
      const u = grid.field("u", f64, { cardinality: 2, layout: count === 2 ? "aos" : "soa", fillValue: 7 });
      assert.equal(await u.get([-1, 0, 0]), 7);
      assert.equal(await u.get([-2, 0, 0]), 7);
      u.fill(noise);
      host.fill("u", noise, false, 2);
      assert.deepEqual([...(await u.download({ ghosts: true }))], host.array("u", true, 2));
      u.fill((x, y, z, k) => x + 10 * y + 100 * z + 1000 * k, { ghosts: true });
      host.fill("u", (x, y, z, k) => x + 10 * y + 100 * z + 1000 * k, true, 2);
      assert.deepEqual([...(await u.download({ ghosts: true }))], host.array("u", true, 2));
      assert.equal(await u.get([-1, -2, 10], 1), 1979);
      u.set([-1, 4, -1], 5);
      assert.equal(await u.get([-1, 4, -1]), 5);
      assert.throws(() => u.set([6, 0, 0], 1), /cell \[6,0,0\] is not an active cell .* nor a ghost/);
      u.fill(1);
      assert.equal(await u.get([-1, 4, -1]), 5);
      // A wider stencil has memory laid out anew.
      const before = await u.download({ ghosts: true });
      grid.container("wide", { u }, ({ u }, c) => {
        u[c][0] = u[c][1];
      });
      grid.require([[0, 0, -1]]);
      assert.deepEqual(await u.download({ ghosts: true }), before);
      u.fill(3, { ghosts: true });
      assert.ok((await u.download({ ghosts: true })).every((value) => value === 3));
      assert.throws(() => u.upload(new Float64Array(3), { ghosts: true }), /takes 1176, 2 for each cell of \[6,4,9\] and each ghost/);
      grid.free();
    }
  });

  it("are set once, and stay while fields are swapped, fused and run on several members", async () => {
    for (const count of [1, 3])
      for (const fuse of [true, false]) {
        const grid = dense(jsSet(count), [8, 9], { periodic: [true, false], ghosts: 1 });
        const [a, b] = [grid.field("a", f64), grid.field("b", f64)];
        a.fill((x, y) => 10 * y, { ghosts: true });
        // Alone, the second would be put into a second buffer, whose ghosts nobody has set.
        const steps = [
          grid.container("slope", { a, b }, ({ a, b }, c) => {
            b[c] = a.at(c, 0, 1) - a.at(c, 0, -1);
          }),
          grid.container("add", { a, b }, ({ a, b }, c) => {
            a[c] += b[c];
          }),
          grid.container("back", { a, b }, ({ a, b }, c) => {
            a[c] -= b[c];
          }),
        ];
        const plan = skeleton(grid.set, "slopes", steps, { fuse });
        await plan.run(4);
        assert.ok(
          (await b.download()).every((value) => value === 20),
          `${count} ${fuse}`,
        );
        plan.free();
        grid.free();
      }
  });

  it("of a plane, with what is written there read at once", async () => {
    const grid = dense(jsSet(2), [5, 6], { ghosts: { ymax: 2 } });
    const u = grid.field("u", f64, { cardinality: 2 });
    u.fill((x, y) => x + 10 * y);
    const wall = grid.container(
      "wall",
      { u },
      ({ u }, c) => {
        u[c][0] = -1;
        for (let l = 1; l <= 2; l++) u.at(c, 0, l)[1] = u.at(c, 1, -l)[0] + u.at(c, 0, l - 1)[1];
      },
      undefined,
      { on: [face("ymax"), slab("x", 1, 3)] },
    );
    await grid.run(wall);
    const values = await u.download({ ghosts: true });
    const row = (y: number, k: number) => Array.from({ length: 5 }, (_, x) => values[(y * 5 + x) * 2 + k]);
    assert.deepEqual(row(5, 0), [50, -1, -1, 53, 54]);
    assert.deepEqual(row(6, 1), [0, 51 + 42, 52 + 43, 0, 0]);
    assert.deepEqual(row(7, 1), [0, 51 + 42 + 32, 52 + 43 + 33, 0, 0]);
  });

  it("may be what a container runs over, beyond the ends of the cut axis, too", async () => {
    for (const count of [1, 2, 3, 7])
      for (const occ of sample(OCC_LEVELS)) {
        const grid = dense(jsSet(count), [4, 3, 14], { ghosts: 2 });
        const host = new HostGrid([4, 3, 14], [false, false, false], grid.ghosts);
        const u = grid.field("u", f64);
        const total = grid.scalar("total", f64);
        const parts: { body: ContainerBody<{ u: Plain; total: Total }, 3>; on: Region | readonly Region[] }[] = [
          { body: ({ u, total }, c) => { u[c] = 0.5 * u[c] + c.z; total.add(u[c]); }, on: slab("z", -2, 0) },
          { body: ({ u, total }, c) => { u[c] += c.z; total.add(u[c]); }, on: [slab("z", 13, 16), slab("x", -1, 6)] },
          { body: ({ u, total }, c) => { u.put(c, -2, 0, 0, u[c] + c.y + 0.25 * c.z); total.add(u[c] * c.z); }, on: face("xmin", { ghosts: true }) },
        ]; // prettier-ignore
        const steps = parts.map(({ body, on }, n) => grid.container(`part ${n}`, { u, total: sum(total) }, body, undefined, { on }));
        const smooth = grid.container("smooth", { u }, ({ u }, c) => void (u[c] = 0.5 * u[c]));
        u.fill(noise, { ghosts: true });
        host.fill("u", noise, true);
        const totals: number[] = [];
        for (const [n, { body, on }] of parts.entries()) {
          let expected = 0;
          host.run(["u"], body as never, on, { total: { add: (value: number) => (expected += value) } });
          host.run(["u"], (({ u }, c) => void (u[c] = 0.5 * u[c])) satisfies U as never);
          const plan = skeleton(grid.set, "part", [steps[n], smooth], { precision: "strict", occ });
          await plan.run(1);
          plan.free();
          totals.push(await total.get());
          assert.ok(Math.abs(totals[n] - expected) < 1e-9, `${count} members, ${occ}, part ${n}: ${totals[n]} ${expected}`);
          assert.deepEqual([...(await u.download({ ghosts: true }))], host.array("u", true), `${count} members, ${occ}, part ${n}`);
        }
        sums.add(totals.join());
        grid.free();
      }
    assert.equal(sums.size, 1, "strict sums have the same bits on any number of members");
  });

  it("that containers have written are brought to halos, whatever the host sets in cells", async () => {
    for (const set of [(u: Field) => u.fill(5), (u: Field) => u.fill(() => 5), (u: Field) => u.set([0, 0, 4], 5)]) {
      const grid = dense(jsSet(2), [4, 4, 8], { ghosts: { ymin: 1 } });
      const [u, v] = [grid.field("u", f64), grid.field("v", f64)];
      const wall = grid.container("wall", { u }, ({ u }, c) => u.put(c, 0, -1, 0, c.z), undefined, { on: face("ymin") });
      const corner = grid.container("corner", { u, v }, ({ u, v }, c) => void (v[c] = u.at(c, 0, -1, 1)));
      await grid.run(wall);
      set(u);
      await grid.run(corner);
      assert.equal(await v.get([0, 0, 3]), 4);
      grid.free();
    }
  });

  it("are read where a fused container would compute a cell's value", async () => {
    for (const fuse of [true, false]) {
      const grid = dense(jsSet(1), [4, 4], { ghosts: 1 });
      const [a, b, d] = ["a", "b", "d"].map((name) => grid.field(name, f64));
      for (const field of [a, b]) field.fill(3, { ghosts: true });
      const steps = [
        grid.container("twice", { a, b }, ({ a, b }, c) => void (b[c] = 2 * a[c])),
        grid.container("left", { b, d }, ({ b, d }, c) => void (d[c] = b.at(c, -1, 0))),
      ];
      const plan = skeleton(grid.set, "left of it", steps, { fuse });
      await plan.run(1);
      assert.deepEqual([...(await d.download())].slice(0, 4), [3, 6, 6, 6]);
    }
  });

  it("are no cells", async () => {
    const grid = dense(jsSet(1), [4, 4], { ghosts: 1 });
    const u = grid.field("u", f64);
    const mark = grid.container("mark", { u }, ({ u }, c) => {
      u[c] = u.isActive(c, 1, 0) ? 1 : 2;
    });
    await grid.run(mark);
    assert.deepEqual([...(await u.download())].slice(0, 4), [1, 1, 1, 2]);
    const onGhosts = grid.container("on ghosts", { u }, ({ u }, c) => void (u[c] = u.isActive(c) ? 1 : 2), undefined, {
      on: face("ymin", { ghosts: true }),
    });
    await grid.run(onGhosts);
    assert.deepEqual([...(await u.download({ ghosts: true }))].slice(6, 12), [2, 1, 1, 1, 1, 2]);
  });

  it("are refused where they cannot be", () => {
    const set = jsSet(1);
    for (const [make, problem] of [
      [() => dense(set, [4, 4], { ghosts: -1 }), /ghosts: -1 }: give a whole number of layers/],
      [() => dense(set, [4, 4], { ghosts: { zmin: 1 } }), /"zmin" is not a side of it; use xmin, xmax, ymin, ymax/],
      [() => dense(set, [4, 4], { periodic: true, ghosts: { xmin: 1 } }), /x is periodic, so the cells at the other end lie beyond xmin/],
      [() => dense(set, [4, 4], { packed: true, ghosts: 1 }), /ghosts along x cannot have packed rows/],
      [() => dense(set, [4, 4], { levels: 1, ghosts: 1 }), /coarser levels/],
      [() => dense(set, [4, 4], { ghosts: 1 }).coarsen(), /cannot be coarsened: it has ghosts/],
      [() => makeGrid(set, [4, 4], { kind: "sparse", ghosts: 1 }), /a sparse grid has no option "ghosts"/],
      [() => sparse(set, [4, 4], undefined, { ghosts: 1 } as never), /only dense grids can have them/],
      [() => bricks(set, [4, 4], undefined, { ghosts: 1 } as never), /only dense grids can have them/],
    ] as const)
      assert.throws(make, problem);
  });

  it("that are read or written beyond their layers, or by two cells, are refused with the author's line", () => {
    const grid = dense(jsSet(1), [6, 6], { ghosts: { ymin: 2 } });
    const masked = dense(jsSet(1), [6, 6], { ghosts: 1, active: (x) => x > 1 });
    const u = grid.field("u", f64);
    const total = grid.scalar("total", f64);
    const m = grid.axis("x", f64, [1, 2, 3, 4, 5, 6]);
    const run = (body: ContainerBody<{ u: typeof u }, 2>, on?: Region | readonly Region[]) => () =>
      grid.container("wall", { u }, body, undefined, on && { on });
    for (const [make, problem] of [
      [
        run(({ u }, c) => void (u[c] = u.at(c, 0, -3)), face("xmin")),
        /reads u at offset \[0,-3\], 3 layers beyond ymin, where the grid has 2 ghosts \(give the grid { ghosts: { ymin: 3 } }/,
      ],
      [run(({ u }, c) => u.put(c, 0, -3, 1), face("ymin")), /writes u at offset \[0,-3\], 3 layers beyond ymin/],
      [run(({ u }, c) => u.put(c, 0, 1, 1), face("ymax")), /writes u at offset \[0,1\] on ymax, beyond which the grid has 0 ghosts/],
      [
        run(({ u }, c) => u.put(c, 0, 1, 1), face("ymin")),
        /writes u at offset \[0,1\] on ymin \(write the own cell, or ghosts straight beyond it: at\(c, 0, -n\)\)/,
      ],
      [run(({ u }, c) => u.put(c, 1, -1, 1), face("ymin")), /writes u at offset \[1,-1\] on ymin/],
      [
        run(({ u }, c) => u.put(c, 0, -1, u.at(c, 1, -1)), face("ymin")),
        /reads u at offset \[1,-1\] while each cell writes it at \[0,-1\]/,
      ],
      [run(({ u }, c) => void (u[c] = u.at(c, 1, 0)), face("ymin")), /reads u at offset \[1,0\] while each cell writes it at \[0,0\]/],
      [run(({ u }, c) => u.put(c, 0, -1, 1)), /writes the field "u" at offset \[0,-1\] of a grid with ghosts/],
      [
        run(({ u }, c) => void (u[c] = u.at(c, 0, -1)), slab("y", -2, 0)),
        /reads u at offset \[0,-1\], 3 layers beyond ymin|while each cell writes/,
      ],
      [run(({ u }, c) => void (u[c] = 1), slab("y", -3, 0)), /it runs on y from -3 to 0, and coordinates of the grid go from -2 to 6/],
      [run(({ u }, c) => void (u[c] = 1), slab("z", 0, 1)), /which is not part of a grid of 2 dimensions/],
      [run(({ u }, c) => void (u[c] = 1), face("top" as never)), /which is not part of a grid/],
      [run(({ u }, c) => void (u[c] = 1), []), /it runs on an empty list/],
      [run(({ u }, c) => void (u[c] = 1), [face("xmin"), face("ymin")]), /several faces/],
      [run(({ u }, c) => void (u[c] = 1), [face("xmin"), slab("x", 1, 3)]), /no cell in common/],
      [() => grid.container("wall", { u, m }, ({ u, m }, c) => void (u[c] = m.at(c, 1))), /reads m at distance 1/],
      [() => grid.container("wall", { u }, ({ u }, c) => void (u[c] = 1), undefined, { at: 3 } as never), /have no option "at"/],
      [
        () => {
          const w = masked.field("w", f64);
          masked.container("wall", { w }, ({ w }, c) => void (w[c] = 1), undefined, { on: face("ymin", { ghosts: true }) });
        },
        /ghosts \(ymin\) of a grid with inactive cells/,
      ],
    ] as const)
      assert.throws(make, problem);
    const inside = grid.container("inside", { u, m, total: sum(total) }, ({ u, m, total }, c) => total.add(u[c] + m.at(c, 1)), undefined, {
      on: slab("x", 0, 5),
    });
    assert.equal(inside.reduces, true);
  });
});
