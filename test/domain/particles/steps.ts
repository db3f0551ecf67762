import assert from "node:assert/strict";
import { it } from "node:test";
import type { BaseGrid } from "../../../src/domain/base-grid.js";
import type { SpeciesOptions } from "../../../src/domain/particles/index.js";
import { KINDS, type Active } from "../kinds.js";
import { isQuick } from "../../random/share.js";
import { onEachBackend } from "../sets.js";
import { PlainBox, type PlainParticle } from "./plain-box.js";
import { cloud, type Plasma } from "./plasmas.js";

const TURNS = 2;
export interface Case {
  readonly title: string;
  /** Whole bricks along each axis. */
  readonly extents: readonly number[];
  readonly periodic: readonly boolean[];
  readonly active?: Active;
  readonly options?: SpeciesOptions;
  make(grid: BaseGrid, options?: SpeciesOptions): Plasma;
  plain(box: PlainBox, all: readonly PlainParticle[], turns: number): number[][];
}

const ALL_KINDS = ["dense", "sparse", "bricks"] as const;

/** Steps of particles on every kind of grid and backend give the bits of plain loops. */
export const stepsLikePlainLoops = (title: string, cases: readonly Case[]): Promise<void> =>
  onEachBackend(title, ({ backend, all: sets, some, of }) => {
    const js = backend === "js";
    for (const [n, { title, extents, periodic, active, options, make, plain }] of cases.entries()) {
      const box = new PlainBox(extents, periodic, active);
      // Code is made anew for each member: elsewhere, and in quick runs, one kind of grid has to do for each case.
      for (const kind of js && !isQuick ? ALL_KINDS : [ALL_KINDS[(js ? n + 1 : n) % 3]])
        it(`${title}, ${kind}: the bits of plain loops`, async () => {
          const expected = plain(box, cloud(200, box), TURNS);
          for (const set of js ? (kind === "dense" ? sets : [of(3)]) : some([1, 3]).map(of)) {
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
