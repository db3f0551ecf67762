import assert from "node:assert/strict";
import { test } from "node:test";
import { D2Q9, D3Q19 } from "../../../apps/lbm/lattice.js";

/** The mean over the directions of the product of their components along some axes. */
const moment = ({ directions, weights }: typeof D2Q9, ...axes: number[]): number =>
  weights.reduce((sum, w, q) => sum + w * axes.reduce((product, axis) => product * directions[q][axis], 1), 0);

const same = (...axes: number[]): number => (axes.every((axis) => axis === axes[0]) ? 1 : 0);

for (const lattice of [D2Q9, D3Q19])
  test(`${lattice.name} is isotropic up to the fourth moment, of sound speed 1 / sqrt(3)`, () => {
    const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-15, `${a} for ${b}`);
    const axes = [0, 1, 2].slice(0, lattice.dimension);
    near(moment(lattice), 1);
    for (const a of axes) {
      near(moment(lattice, a), 0);
      for (const b of axes) {
        near(moment(lattice, a, b), same(a, b) / 3);
        for (const c of axes) {
          near(moment(lattice, a, b, c), 0);
          for (const d of axes)
            near(moment(lattice, a, b, c, d), (same(a, b) * same(c, d) + same(a, c) * same(b, d) + same(a, d) * same(b, c)) / 9);
        }
      }
    }
  });

for (const { name, directions } of [D2Q9, D3Q19])
  test(`the opposite of an odd direction of ${name} is the next one`, () => {
    for (let q = 1; q < directions.length; q += 2)
      assert.deepEqual(
        directions[q + 1],
        directions[q].map((d) => 0 - d),
      );
    assert.equal(new Set(directions.map(String)).size, name === "D2Q9" ? 9 : 19);
  });
