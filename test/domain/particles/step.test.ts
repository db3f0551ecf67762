import assert from "node:assert/strict";
import { it } from "node:test";
import type { BaseGrid } from "../../../src/domain/base-grid.js";
import type { SpeciesOptions } from "../../../src/domain/particles/index.js";
import { KINDS, type Active } from "../kinds.js";
import { onEachBackend } from "../sets.js";
import { PlainBox, type PlainParticle } from "./plain-box.js";
import { cloud, cubes, plainCubes, plainSquares, squares, type Plasma } from "./plasmas.js";

const TURNS = 2;
const ball: Active = (x, y, z) => (x - 3.5) ** 2 + (y - 2.5) ** 2 + (z - 6.5) ** 2 < 40;
const disc: Active = (x, y) => 2 * (x - 6) ** 2 + (y - 8) ** 2 < 60;

interface Case {
  readonly title: string;
  /** Whole bricks along each axis. */
  readonly extents: readonly number[];
  readonly periodic: readonly boolean[];
  readonly active?: Active;
  readonly options?: SpeciesOptions;
  make(grid: BaseGrid, options?: SpeciesOptions): Plasma;
  plain(box: PlainBox, all: readonly PlainParticle[], turns: number): number[][];
}

const cube = { extents: [8, 6, 14], make: cubes, plain: plainCubes };
const square = { extents: [12, 16], make: squares, plain: plainSquares };
const all = [true, true, true];
const CASES: Case[] = [
  { title: "a box whose ends absorb", ...cube, periodic: [false, false, false], options: { leaving: "absorb" } },
  { title: "a box without ends", ...cube, periodic: all, options: { layout: "aos" } },
  {
    title: "a ball in a box that is periodic along z",
    ...cube,
    periodic: [false, false, true],
    active: ball,
    options: { leaving: "absorb" },
  },
  { title: "a wide deposit of several components, without ends", ...square, periodic: [true, true] },
  {
    title: "a wide deposit of several components in a disc",
    ...square,
    periodic: [true, false],
    active: disc,
    options: { leaving: "absorb", layout: "aos" },
  },
];

const ALL_KINDS = ["dense", "sparse", "bricks"] as const;

await onEachBackend("particles", ({ backend, all: sets, of }) => {
  const js = backend === "js";
  for (const [n, { title, extents, periodic, active, options, make, plain }] of CASES.entries()) {
    const box = new PlainBox(extents, periodic, active);
    // Code is made anew for each member: elsewhere one kind of grid has to do for each case.
    for (const kind of js ? ALL_KINDS : [ALL_KINDS[n % 3]])
      it(`${title}, ${kind}: the bits of plain loops`, async () => {
        const expected = plain(box, cloud(200, box), TURNS);
        for (const set of js ? (kind === "dense" ? sets : [of(3)]) : [of(1), of(3)]) {
          const grid = KINDS[kind](set, extents, active, { periodic });
          const plasma = make(grid, options);
          plasma.start(cloud(200, box));
          for (let turn = 0; turn < TURNS; turn++) for (const step of plasma.steps) await grid.run(step, { precision: "strict" });
          assert.deepEqual(await plasma.results(), expected, set.name);
          grid.free();
        }
      });
  }
});
