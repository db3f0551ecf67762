import assert from "node:assert/strict";
import { test } from "node:test";
import { bricks, dense, GRID_KINDS, makeGrid, sparse, type AnyGridOptions, type BrickGrid } from "../../src/domain/index.js";
import { f64 } from "../../src/kernel/declare/params.js";
import { sphere } from "./kinds.js";
import { jsSet } from "./sets.js";

const [one, two] = [1, 2].map(jsSet);
const EXTENTS = [17, 9, 13] as const;

const NAMED = {
  dense: () => dense(two, EXTENTS, { active: sphere }),
  sparse: () => sparse(two, EXTENTS, sphere),
  bricks: () => bricks(two, EXTENTS, sphere),
};

test("the kind is one option among others", () => {
  for (const kind of GRID_KINDS) {
    const made = makeGrid(two, EXTENTS, { kind, active: sphere, layout: "aos" });
    const named = NAMED[kind]();
    assert.equal(made.constructor, named.constructor);
    assert.deepEqual([made.kind, made.cells, made.partitions], [kind, named.cells, named.partitions]);
    assert.equal(made.field("u", f64).layout, "aos", "the grid's option is the default of its fields");
    assert.equal(made.field("v", f64, { layout: "soa" }).layout, "soa");
  }
  assert.equal(makeGrid(one, [5, 4]).kind, "dense");
  const bricks = makeGrid(one, [8, 8], { kind: "bricks", brick: [4, 2] });
  assert.deepEqual([bricks.kind, (bricks as BrickGrid).brick], ["bricks", [4, 2]]);
});

test("what cannot be made is refused with the author's line", () => {
  const here = /grid, [^ ]*test[/\\]domain[/\\]make-grid\.test\.ts:\d+:\d+: /;
  const make = (options: AnyGridOptions) => () => makeGrid(one, EXTENTS, options);
  const nobody = () => false;
  for (const [wrong, problem] of [
    [make({ kind: "round" as "dense" }), /a grid of kind "round"; use dense, sparse, bricks/],
    [make({ kind: "sparse", brick: [4, 4, 4] }), /a sparse grid has no option "brick": leave it out, or make a bricks grid/],
    [make({ kind: "bricks", levels: 2 }), /a bricks grid has no option "levels": leave it out, or make a dense or sparse grid/],
    [make({ kind: "bricks", brick: [3, 4, 4] }), /bricks of \[3,4,4\] cells/],
    [make({ levels: -1 }), /-1 coarser levels: give a whole number from 0/],
    [() => dense(one, EXTENTS, { active: nobody }), /none of them active: the domain is empty/],
    [() => sparse(one, EXTENTS, nobody), /none of them active: the domain is empty/],
    [() => bricks(one, EXTENTS, nobody), /none of them active: the domain is empty/],
    [() => makeGrid(jsSet(7), [20, 5]), /5 planes for 7 members: .*use fewer devices/],
    [() => makeGrid(one, [20]), /give two or three whole numbers/],
  ] as const) {
    assert.throws(wrong, problem);
    assert.throws(wrong, here);
  }
});
