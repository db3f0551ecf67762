import assert from "node:assert/strict";
import { it } from "node:test";
import { OCC_LEVELS, skeleton, type SkeletonOptions } from "../../src/skeleton/index.js";
import { KINDS } from "../domain/kinds.js";
import { PlainBox } from "../domain/particles/plain-box.js";
import { cloud, cubes, plainCubes, plainSquares, squares } from "../domain/particles/plasmas.js";
import { isQuick } from "../random/share.js";
import { onEachBackend } from "../domain/sets.js";

const cube = new PlainBox([8, 6, 14], [true, true, true]);
const square = new PlainBox([12, 16], [true, false]);
const TURNS = 3;

await onEachBackend("a sequence of particles and fields", ({ backend, all: sets, of }) => {
  const js = backend === "js";
  const options: SkeletonOptions[] = [...OCC_LEVELS.map((occ) => ({ occ })), { occ: "two-way", fuse: false, unroll: 2 }];

  it("gives the bits of plain loops on any number of members", async () => {
    const expected = plainCubes(cube, cloud(150, cube), TURNS);
    for (const [n, set] of (js ? sets : [of(7)]).entries()) {
      const grid = KINDS[(["dense", "sparse", "bricks"] as const)[n % 3]](set, cube.extents, undefined, { periodic: true });
      const plasma = cubes(grid);
      plasma.start(cloud(150, cube));
      const all = skeleton(set, "plasma", plasma.steps, { precision: "strict" });
      await all.run(TURNS);
      assert.deepEqual(await plasma.results(), expected, set.name);
      grid.free();
    }
  });

  it("gives them at all OCC levels, fused and unrolled or not", async () => {
    const expected = plainSquares(square, cloud(150, square), TURNS);
    const set = of(3);
    const grid = KINDS.dense(set, square.extents, undefined, { periodic: [true, false] });
    const plasma = squares(grid, { leaving: "absorb", layout: "aos" });
    for (const option of js && !isQuick ? options : options.slice(-1)) {
      plasma.start(cloud(150, square));
      const all = skeleton(set, "plasma", plasma.steps, { ...option, precision: "strict" });
      await all.run(TURNS);
      assert.deepEqual(await plasma.results(), expected, JSON.stringify(option));
      all.free();
    }
    grid.free();
  });
});
