import assert from "node:assert/strict";
import { it } from "node:test";
import { f64 } from "../../../src/kernel/declare/params.js";
import { dense } from "../../../src/domain/index.js";
import { jsSet } from "../sets.js";

const [three, seven] = [3, 7].map(jsSet);

it("partitions with fewer planes than a stencil is wide are named with container, field and line", () => {
  const grid = dense(seven, [4, 4, 13]);
  const p = grid.field("p", f64),
    s = grid.field("s", f64);
  const declare = () =>
    grid.container("far", { p, s }, ({ p, s }, c) => {
      s[c] = p.at(c, 0, 0, -2);
    });
  assert.throws(declare, {
    name: "ContainerError",
    message:
      /^container "far", .*refused-stencils\.test\.ts:14:\d+: reads the field "p" at offset \[0,0,-2\], but js\*7\[\d\] has 1 of the grid's 13 planes \(use fewer devices or a larger grid\)$/,
  });
});

it("partitions become wide enough before the first use, and not after", () => {
  const active = (x: number, y: number, z: number): boolean => z < 2 || z === 8;
  const declare = (grid: ReturnType<typeof make>) => {
    const p = grid.field("p", f64),
      s = grid.field("s", f64);
    return grid.container("far", { p, s }, ({ p, s }, c) => {
      s[c] = p.at(c, 0, 0, 3);
    });
  };
  const make = () => dense(three, [4, 4, 9], { active });
  const early = make();
  assert.deepEqual(
    early.partitions.map(({ planes }) => planes),
    [1, 7, 1],
  );
  declare(early);
  assert.deepEqual(
    early.partitions.map(({ planes }) => planes),
    [3, 3, 3],
  );
  const late = make();
  late.field("x", f64).fill(1);
  assert.throws(() => declare(late), {
    message:
      /but js\*3\[\d\] has \d of the grid's 9 planes \(declare this container before the first use of the grid, or use fewer devices\)/,
  });
});

it("offsets beyond the grid", () => {
  const grid = dense(three, [4, 4, 9]);
  assert.throws(() => grid.require([[5, 0, 0]]), {
    name: "LaunchError",
    message: "a stencil reads at offset [5,0,0], beyond the grid of [4,4,9] cells; use a larger grid or nearer neighbours",
  });
  assert.throws(
    () => grid.require([[0, 0, 4]]),
    /a stencil reads at offset \[0,0,4\], but js\*3\[0\] has 3 of the grid's 9 planes; use fewer devices/,
  );
});

it("more members than planes", () => {
  assert.throws(() => dense(seven, [10, 6]), {
    name: "LaunchError",
    message:
      /^grid, .*refused-stencils\.test\.ts:65:\d+: 6 planes for 7 members: each needs at least 1; use fewer devices or a longer last axis$/,
  });
});

it("a neighbour's component that the container writes, or may write", () => {
  const grid = dense(three, [4, 4, 9]);
  const u = grid.field("u", f64, { cardinality: 2 });
  const refused = /container "mix", .*: reads u at offset \[0,1,0\] while each cell writes its own u \(line \d+\)/;
  const one = () => grid.container("mix", { u }, ({ u }, c) => void (u[c]![0] = u.at(c, 0, 1, 0)[0]!));
  const computed = () => grid.container("mix", { u }, ({ u }, c) => void (u[c]![c.x & 1] = u.at(c, 0, 1, 0)[1]!));
  const looked = () => grid.container("mix", { u }, ({ u }, c) => void (u[c]![0] = u.at(c, 0, 1, 0)[c.x & 1]!));
  for (const declare of [one, computed, looked]) assert.throws(declare, refused);
  grid.container("mix", { u }, ({ u }, c) => void (u[c]![0] = u.at(c, 0, 1, 0)[1]!));
});
