import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dense, slab, type ContainerOptions, type Grid } from "../../src/domain/index.js";
import { f32, f64, sum, table } from "../../src/kernel/declare/params.js";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { OCC_LEVELS, skeleton } from "../../src/skeleton/index.js";
import { NOT_ASKED, tested } from "../devices.js";
import { AXES, fluxes } from "./fluxes.js";
import { KINDS, sphere, type Active } from "./kinds.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

/* Containers that go cell by cell up columns: the same bits as those that compute everything at each cell. */

const EXTENTS = [37, 11, 29];
onEachBackend("marches", ({ of, all, some }) => {
  for (const axis of AXES)
    for (const periodic of [false, true])
      it(`along ${axis}${periodic ? ", on rings," : ""} give the bits of cells alone, on any number of members`, async () => {
        for (const count of some([1, 2, 3, 4, 7]))
          for (const stretch of count === 2 ? [1, 5, 100] : [undefined]) {
            const grid = dense(of(count), EXTENTS as [number, number, number], { periodic });
            const { plain, marched, twice, once } = fluxes(grid, axis, { stretch });
            assert.equal(once.march !== undefined, axis !== "x");
            for (const step of [twice, once]) await grid.run(step, { precision: "strict" });
            assert.deepEqual(await marched.download(), await plain.download(), `${count} members, stretches of ${stretch}`);
            grid.free();
          }
      });

  it("run at all levels of overlap, beside containers that they do not fuse with", async () => {
    for (const occ of sample(OCC_LEVELS))
      for (const axis of ["y", "z"] as const) {
        const set = of(3);
        const grid = dense(set, EXTENTS as [number, number, number], { periodic: [false, false, true] });
        const { u, plain, marched, twice, once } = fluxes(grid, axis);
        const results = [];
        for (const [step, du] of [
          [twice, plain],
          [once, marched],
        ] as const) {
          u.fill((x, y, z) => noise(x, y, z));
          const advance = grid.container("advance", { u, du }, ({ u, du }, c) => {
            u[c] -= 0.1 * du[c];
          });
          const steps = skeleton(set, "steps", [step, advance], { precision: "strict", occ });
          await steps.run(4);
          results.push(await u.download());
          steps.free();
        }
        assert.deepEqual(results[1], results[0], `${axis} at ${occ}`);
        grid.free();
      }
  });

  it("along any axis of any kind of grid, and of part of a box, are what cells alone give", async () => {
    const domains: [string, Active | undefined, ContainerOptions<3>][] = [
      ["box", undefined, {}],
      ["sphere", (x, y, z) => sphere(x % 20, y, z % 15), {}],
      ["slab", undefined, { on: [slab("y", 2, 9), slab("z", 5, 21)] }],
    ];
    for (const [name, active, options] of domains)
      for (const [kind, make] of Object.entries(KINDS))
        for (const axis of sample(AXES)) {
          const grid = make(of(2), EXTENTS, active) as unknown as Grid<3>;
          const { plain, marched, twice, once } = fluxes(grid, axis, options);
          for (const step of [twice, once]) await grid.run(step, { precision: "strict" });
          assert.deepEqual(await marched.download(), await plain.download(), `${axis} of the ${name}, ${kind}`);
          grid.free();
        }
  });

  it("carry several values, and windows of them in private arrays", async () => {
    const weights = table(f64, [0.25, 0.5, 0.25]);
    for (const set of all) {
      const grid = dense(set, [40, 21, 14]);
      const w = grid.field("w", f32, { cardinality: 3, layout: "aos" });
      const out = grid.field("out", f64, { cardinality: 3 });
      w.fill((x, y, z, k) => noise(x, y, z, k));
      const smooth = grid.container(
        "smooth",
        { w, out },
        ({ w, out }, c) => {
          const window = new Float64Array(9);
          for (let k = 0; k < 3; k++) for (let d = 0; d < 2; d++) window[3 * d + k] = w.at(c, 0, d - 1, 0)[k];
          c.march((cell) => {
            for (let k = 0; k < 3; k++) {
              window[6 + k] = w.at(cell, 0, 1, 0)[k];
              let sum = 0;
              for (let d = 0; d < 3; d++) sum += weights[d] * window[3 * d + k];
              if (sum > 0.25 && w.isActive(cell, 0, 1, 0)) out[cell][k] = sum;
              else out[cell][k] = -sum;
            }
            for (let n = 0; n < 6; n++) window[n] = window[n + 3];
          });
        },
        () => [weights],
        { march: "y" },
      );
      assert.ok(smooth.march);
      await grid.run(smooth, { precision: "strict" });
      const value = (x: number, y: number, z: number, k: number) => (y < 0 || y > 20 ? 0 : Math.fround(noise(x, y, z, k)));
      for (const [x, y, z] of [
        [0, 0, 0],
        [39, 20, 13],
        [17, 20, 6],
        [18, 9, 7],
      ] as const)
        for (let k = 0; k < 3; k++) {
          const sum = 0.25 * value(x, y - 1, z, k) + 0.5 * value(x, y, z, k) + 0.25 * value(x, y + 1, z, k);
          assert.equal(await out.get([x, y, z], k), sum > 0.25 && y < 20 ? sum : -sum, `cell ${[x, y, z]}, component ${k}`);
        }
      grid.free();
    }
  });

  it("go up planes of grids of two dimensions, and read scalars", async () => {
    for (const set of all) {
      const grid = dense(set, [50, 40]);
      const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
      const factor = grid.scalar("factor", f64);
      factor.set(3);
      u.fill((x, y) => noise(x, y));
      const march = grid.container(
        "march",
        { u, v, factor, shift: 0.5 },
        ({ u, v, factor, shift }, c) => {
          let below = factor * (u[c] - u.at(c, 0, -1)) + shift;
          c.march((cell) => {
            const above = factor * (u.at(cell, 0, 1) - u[cell]) + shift;
            v[cell] = above - below;
            below = above;
          });
        },
        undefined,
        { march: "y", stretch: 7 },
      );
      await grid.run(march, { precision: "strict" });
      const at = (x: number, y: number) => (y < 0 || y > 39 ? 0 : noise(x, y));
      const flux = (x: number, y: number) => 3 * (at(x, y) - at(x, y - 1)) + 0.5;
      const values = await v.download();
      for (let y = 0; y < 40; y++)
        for (let x = 0; x < 50; x++) assert.equal(values[y * 50 + x], flux(x, y + 1) - flux(x, y), `[${x}, ${y}]`);
      grid.free();
    }
  });
});

const opencl = tested("opencl") ? await devices("opencl*3").catch((error: Error) => error.message) : NOT_ASKED;

it("marches on opencl give the bits of cells alone", { skip: typeof opencl === "string" ? opencl : false }, async () => {
  const set = opencl as DeviceSet;
  for (const axis of ["y", "z"] as const)
    for (const periodic of [false, true]) {
      const grid = dense(set, EXTENTS as [number, number, number], { periodic });
      const { plain, marched, twice, once } = fluxes(grid, axis, { stretch: periodic ? undefined : 4 });
      for (const step of [twice, once]) await grid.run(step, { precision: "strict" });
      assert.deepEqual(await marched.download(), await plain.download(), axis);
      grid.free();
    }
  await set.close();
});

describe("a march", () => {
  const grid = dense(jsSet(1), [8, 8, 8]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  const total = grid.scalar("total", f64);

  it("goes one by one where it reduces", async () => {
    u.fill(1);
    const reduce = grid.container(
      "reduce",
      { u, total: sum(total) },
      ({ u, total }, c) => {
        let below = u.at(c, 0, -1, 0);
        c.march((cell) => {
          total.add(u[cell] - below);
          below = u[cell];
        });
      },
      undefined,
      { march: "y" },
    );
    assert.equal(reduce.march, undefined);
    await grid.run(reduce);
    assert.equal(await total.get(), 64);
  });

  const refusals: [string, () => unknown, RegExp, RegExp][] = [
    [
      "without an axis",
      () => grid.container("k", { v }, ({ v }, c) => c.march((cell) => void (v[cell] = 1))),
      /c\.march in a container without an axis/,
      /\{ march: "y" \}/,
    ],
    [
      "of which there is none",
      () => grid.container("k", { v }, ({ v }, c) => void (v[c] = 1), undefined, { march: "y" }),
      /its body does not end in c\.march/,
      /write c\.march\(\(cell\) => \.\.\.\) last/,
    ],
    [
      "in a branch",
      () =>
        grid.container(
          "k",
          { v },
          ({ v }, c) => {
            if (c.x > 2) c.march((cell) => void (v[cell] = 1));
          },
          undefined,
          { march: "y" },
        ),
      /its body does not end in c\.march/,
      /outside of branches/,
    ],
    [
      "that uses the cell where it began",
      () => grid.container("k", { u, v }, ({ u, v }, c) => c.march((cell) => void (v[cell] = u[c])), undefined, { march: "y" }),
      /the cell where the march began/,
      /the cell that the function of c\.march is given/,
    ],
    [
      "with values of the cell where it began",
      () =>
        grid.container(
          "k",
          { u, v },
          ({ u, v }, c) => {
            const below = u.at(c, 0, -1, 0);
            c.march((cell) => void (v[cell] = u[cell] - below));
          },
          undefined,
          { march: "y" },
        ),
      /"below" is computed where the march begins/,
      /give it there the value for the next cell/,
    ],
    [
      "that counts cells",
      () =>
        grid.container(
          "k",
          { u, v },
          ({ u, v }, c) => {
            let total = 0;
            c.march((cell) => {
              total += u[cell];
              v[cell] = total;
            });
          },
          undefined,
          { march: "y" },
        ),
      /"total" has the same value wherever a march begins, and changes further on/,
      /what the body would compute at the next cell/,
    ],
    [
      "in a march",
      () => grid.container("k", { v }, ({ v }, c) => c.march((a) => a.march((b) => void (v[b] = 1))), undefined, { march: "y" }),
      /c\.march inside of c\.march/,
      /march once/,
    ],
    [
      "along an axis that is not there",
      () => dense(jsSet(1), [4, 4]).container("k", {}, () => undefined, undefined, { march: "z" as "y" }),
      /marches along "z" on a grid of 2 dimensions/,
      /march along x or y/,
    ],
    [
      "in stretches of no cells",
      () => grid.container("k", { v }, ({ v }, c) => c.march((cell) => void (v[cell] = 1)), undefined, { march: "y", stretch: 0 }),
      /stretches of 0 cells/,
      /a whole number of cells/,
    ],
    [
      "in stretches alone",
      () => grid.container("k", { v }, ({ v }, c) => void (v[c] = 1), undefined, { stretch: 8 }),
      /stretches of 8 cells and no axis to march along/,
      /march: "y"/,
    ],
  ];
  for (const [title, make, problem, remedy] of refusals)
    it(`is refused ${title}`, () => {
      assert.throws(make, (error: Error & { problem: string; remedy: string }) => {
        assert.match(error.problem, problem);
        assert.match(error.remedy, remedy);
        return true;
      });
    });
});
