import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchError } from "isoform";
import { GRID_KINDS } from "isoform/grid";
import { DEFAULTS, Life, type LifeSettings } from "../../../apps/life/life.js";
import type { PatternName } from "../../../apps/life/patterns.js";
import { OCC_LEVELS } from "../../../src/skeleton/index.js";
import { jsSet, noise, onEachBackend } from "../../domain/sets.js";

type Start = PatternName | ((x: number, y: number) => number);

async function after(generations: number, start: Start, settings: Partial<LifeSettings> = {}, set = jsSet(1)) {
  const life = new Life(set, { ...DEFAULTS, ...settings }, start);
  await life.run(generations);
  const [picture, population] = [await life.picture(), await life.population()];
  life.free();
  return { picture, population };
}

/** Living cells as [x, y], counted from the first column and row that have any. */
function alive(picture: readonly string[]): { cells: string[]; left: number; top: number } {
  const found = picture.flatMap((row, y) => [...row].flatMap((cell, x) => (cell === "#" ? [[x, y]] : [])));
  const [left, top] = [0, 1].map((axis) => Math.min(...found.map((cell) => cell[axis])));
  return { cells: found.map(([x, y]) => `${x - left},${y - top}`), left, top };
}

test("a block stays and a blinker comes back every second generation", async () => {
  assert.deepEqual(await after(5, "block"), await after(0, "block"));
  assert.deepEqual(await after(6, "blinker"), await after(0, "blinker"));
  assert.notDeepEqual(await after(5, "blinker"), await after(0, "blinker"));
});

test("a glider moves by one cell along both axes in four generations, and turns into a block at the edge", async () => {
  const [start, later] = [await after(0, "glider"), await after(20, "glider")].map(({ picture }) => alive(picture));
  assert.deepEqual(later, { cells: start.cells, left: start.left + 5, top: start.top + 5 });
  assert.equal((await after(200, "glider")).population, 4);
});

test("the glider gun sends out a glider every 30 generations", async () => {
  const populations = await Promise.all([0, 30, 60].map(async (n) => (await after(n, "glider-gun", { width: 80, height: 60 })).population));
  assert.deepEqual(populations, [36, 41, 46]);
});

test("diehard is gone after 130 generations", async () => {
  const size = { width: 96, height: 96 };
  assert.ok((await after(129, "diehard", size)).population > 0);
  assert.equal((await after(130, "diehard", size)).population, 0);
});

test("patterns that do not fit are refused", async () => {
  await assert.rejects(() => after(0, "glider-gun", { width: 30 }), LaunchError);
});

test("a start that is neither 0 nor 1 in a cell is refused with the cell", async () => {
  await assert.rejects(
    () => after(0, (x, y) => (x === 3 && y === 2 ? 2 : 0)),
    /life: cell 3, 2 starts as 2: give 1 where a cell lives, else 0/,
  );
});

/** A third of the cells. */
const soup = (x: number, y: number): number => (noise(x, y) < -1 / 3 ? 1 : 0);

/** The rule in plain JavaScript. */
function plain(generations: number, width: number, height: number): string[] {
  let rows = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => soup(x, y)));
  for (let n = 0; n < generations; n++)
    rows = rows.map((row, y) =>
      row.map((own, x) => {
        const around = [y - 1, y, y + 1].flatMap((v) => [x - 1, x, x + 1].map((u) => rows[v]?.[u] ?? 0));
        const neighbours = around.reduce((a, b) => a + b) - own;
        return neighbours === 3 || (neighbours === 2 && own) ? 1 : 0;
      }),
    );
  return rows.map((row) => row.map((on) => (on ? "#" : ".")).join(""));
}

await onEachBackend("soups live by the rule", ({ backend, all, of }) => {
  const [width, height] = [37, 64];
  const expected = plain(12, width, height);
  for (const set of backend === "js" ? all : [of(3)])
    test(set.name, async () => {
      const options = [...OCC_LEVELS.map((occ) => ({ occ })), ...GRID_KINDS.map((grid) => ({ grid }))];
      for (const option of options)
        assert.deepEqual((await after(12, soup, { width, height, ...option }, set)).picture, expected, JSON.stringify(option));
    });
});

await onEachBackend("the R-pentomino settles in generation 1103 with 116 cells", ({ backend, of }) => {
  test(backend, { skip: backend === "js" && "it takes long" }, async () => {
    const life = new Life(of(1), { ...DEFAULTS, width: 640, height: 640 }, "r-pentomino");
    const populations = [];
    for (const generations of [1102, 1, 1, 10]) {
      await life.run(generations);
      populations.push(await life.population());
    }
    life.free();
    assert.deepEqual(populations.slice(1), [116, 116, 116]);
    assert.notEqual(populations[0], 116);
  });
});
