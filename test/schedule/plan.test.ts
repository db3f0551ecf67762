import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { Names } from "../../src/base/names.js";
import { Code } from "../../src/emit/c/code.js";
import { JS_SPELLING, cSpelling, NumbersAsText } from "../../src/emit/standalone/plan-text.js";
import { blocksOfTeams, gridOverRange, groupsOverRange, linearGroups, type GridFacts } from "../../src/schedule/plan/grids.js";
import { planLaunch, type PlanRules, type RangeBatch } from "../../src/schedule/plan/launch.js";
import { PLAIN_NUMBERS, type PlanNumbers } from "../../src/schedule/plan/numbers.js";
import type { PlanSink, PlannedRun } from "../../src/schedule/plan/sink.js";
import type { Traversal } from "../../src/schedule/program.js";

/* Grids that devices compute are those that launch functions in files compute: their text is run here, as JavaScript, and as C with 64-bit integers. */

const extent = fc.oneof(fc.integer({ min: 0, max: 70 }), fc.constantFrom(255, 256, 257, 4095, 4096, 65535, 65536, 100_003, 2 ** 26));
const power = (most: number) => fc.integer({ min: 0, max: most }).map((n) => 2 ** n);

/** Names by which the text knows what is given, and their values. */
type Given = Readonly<Record<string, number>>;

/** The numbers that `make` gives, of text in JavaScript. */
function inJavaScript(given: Given, make: (on: PlanNumbers<string>) => readonly string[]): number[] {
  const names = new Names();
  const code = new Code();
  const results = make(new NumbersAsText(JS_SPELLING, code, (wish) => names.fresh(wish)));
  code.line(`return [${results.join(", ")}];`);
  return run(given, Object.values(given), String(code)).map(Number);
}

/** The same of text in C: its arithmetic is that of big integers as long as nothing overflows. */
function inLongs(given: Given, make: (on: PlanNumbers<string>) => readonly string[]): number[] {
  const names = new Names();
  const code = new Code();
  const results = make(new NumbersAsText(cSpelling("long long"), code, (wish) => names.fresh(wish)));
  code.line(`return [${results.join(", ")}];`);
  const big = String(code)
    .replaceAll("const long long", "const")
    .replaceAll("long long", "let")
    .replaceAll(/(?<![\w.])\d+\b/g, "$&n");
  return run(given, Object.values(given).map(BigInt), big).map(Number);
}

const run = (given: Given, values: readonly unknown[], text: string): unknown[] =>
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text is what files have
  (new Function(...Object.keys(given), text) as (...all: readonly unknown[]) => unknown[])(...values);

/** Gives by name as text, or as numbers. */
function alike(given: Given, make: <N>(on: PlanNumbers<N>, known: (name: string) => N) => readonly N[]): void {
  const wanted = make(PLAIN_NUMBERS, (name) => given[name]);
  assert.deepEqual(
    inJavaScript(given, (on) => make(on, (name) => name)),
    wanted,
  );
  assert.deepEqual(
    inLongs(given, (on) => make(on, (name) => name)),
    wanted,
  );
}

const codes = fc.record({
  traversal: fc.constantFrom<Traversal>("elements", "strided"),
  threads: power(8),
  row: power(8),
  elements: power(2),
  planes: fc.constantFrom(0, 0, 1, 4, 8),
});

test("grids over ranges are the same in numbers and in text", () => {
  fc.assert(
    fc.property(
      codes,
      fc.array(extent, { minLength: 1, maxLength: 4 }),
      fc.record({
        resident: fc.integer({ min: 1, max: 3000 }),
        cache: fc.integer({ min: 1, max: 2 ** 26 }),
        limit: fc.constantFrom(3, 65535),
      }),
      ({ planes, ...code }, extents, { resident, cache, limit }) => {
        const box = extents.length === 3 ? planes : 0;
        const given = { ...Object.fromEntries(extents.map((n, axis) => [`n${axis}`, n])), resident, cache };
        alike(given, (on, known) => {
          type N = ReturnType<typeof known>;
          const facts: GridFacts<N> = {
            limit,
            resident: () => known("resident"),
            cacheShare: () => known("cache"),
            rowBytes: (_depth, _rows, columns) => on.product(on.of(16), on.greatest(on.of(1), columns)),
          };
          const sizes = extents.map((_, axis) => known(`n${axis}`));
          const { grid, block, numbers } = gridOverRange(
            on,
            { ...code, row: Math.min(code.row, code.threads), planes: box },
            sizes,
            on.of(0),
            facts,
          );
          return [...grid, ...block, ...Object.values(numbers)] as N[];
        });
      },
    ),
    { numRuns: 1500 },
  );
});

test("grids of workgroups and of teams are the same in numbers and in text", () => {
  fc.assert(
    fc.property(
      fc.array(extent, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom(3, 65535),
      fc.integer({ min: 1, max: 3000 }),
      (extents, folding, limit, resident) => {
        const given = { ...Object.fromEntries(extents.map((n, axis) => [`n${axis}`, n])), resident };
        alike(given, (on, known) => {
          const sizes = extents.map((_, axis) => known(`n${axis}`));
          return [
            ...groupsOverRange(on, { folding, limit, workgroup: [64, 4] }, sizes),
            ...linearGroups(on, sizes[0], limit),
            ...blocksOfTeams(on, { blocks: sizes[0], rows: sizes.at(-1)!, resident: known("resident"), limit }),
          ];
        });
      },
    ),
    { numRuns: 600 },
  );
});

/* The order of what runs. */

/** Takes notes of a plan of numbers. */
class Notes implements PlanSink<number, string, string, RangeBatch<number>> {
  readonly on = PLAIN_NUMBERS;
  readonly lines: string[] = [];

  want({ kind }: { kind: string }, _type: string, count: number): void {
    this.lines.push(`want ${kind} ${count}`);
  }
  run(entry: string, grid: string, { numbers, swapped }: PlannedRun<number, RangeBatch<number>>): void {
    this.lines.push(`${entry} ${grid} ${JSON.stringify(numbers)}${swapped ? " swapped" : ""}`);
  }
  clear(name: string, count: number): void {
    this.lines.push(`clear ${name} ${count}`);
  }
  sort({ name, count, tiles }: { name: string; count: number; tiles: number }): void {
    this.lines.push(`sort ${name} ${count} ${tiles}`);
  }
  swap(): void {}
  when(count: number, make: () => void): void {
    if (count > 0) make();
  }
  whileAbove(_wish: string, start: number, most: number, make: (count: number) => number): number {
    let count = start;
    while (count > most) count = make(count);
    return count;
  }
}

const RULES: PlanRules<number, string, RangeBatch<number>> = {
  sortTile: 100,
  sortDigits: 16,
  batches: () => [{ extents: [300] }, { extents: [0] }, { extents: [50] }],
  teamBatches: () => [{ first: 0, size: 3 }],
  overElements: (batch) => ({ grid: `elements ${batch?.extents[0] ?? "all"}`, blocks: 7, numbers: {} }),
  overChunks: (chunks) => `chunks ${chunks}`,
  overPartials: (chunks) => `partials ${chunks}`,
  overTeams: (blocks) => `teams ${blocks}`,
  overItems: (count) => `items ${count}`,
  last: "last",
  serial: "serial",
};

function noted(traversal: Traversal, extents: readonly number[], more: object = {}, rules = RULES): readonly string[] {
  const notes = new Notes();
  const program = { main: "main", traversal, reduces: [], sorted: [], ...more };
  const launch = { extents, league: 3, rows: 3, folds: true, sizeOf: () => 1000 };
  planLaunch(notes, launch, { program, serial: false, abreast: 1, slots: { t: 2 } }, rules);
  return notes.lines;
}

const reduces = { reduces: [{ name: "s", type: "f64" as const }], fold: "fold", finish: "finish" };

test("many partials are folded by grids first, to and fro", () => {
  const lines = noted("chunks", [2 ** 16, 2 ** 16], reduces).filter((line) => /^(fold|finish)/.test(line));
  assert.deepEqual(lines, [
    'fold partials 65536 {"partialCount":16777216}',
    'fold partials 256 {"partialCount":65536} swapped',
    'finish last {"partialCount":256}',
  ]);
});

test("contributions are written and sorted a batch at a time, and empty batches are left out", () => {
  const sorted = { sorted: [{ name: "t", type: "f64" as const, apply: "apply" }] };
  const lines = noted("elements", [350], sorted).filter((line) => !line.startsWith("want"));
  assert.deepEqual(lines, [
    "clear t 600",
    "main elements 300 {}",
    "sort t 600 6",
    'apply items 600 {"contributionCount":600}',
    "clear t 100",
    "main elements 50 {}",
    "sort t 100 1",
    'apply items 100 {"contributionCount":100}',
  ]);
});

test("an empty range runs nothing, and its reductions have one partial's place", () => {
  const empty = noted("chunks", [0], reduces, { ...RULES, batches: () => [{ extents: [0] }] });
  assert.deepEqual(empty, ["want results 1", "want partials 1", "want folded 1", 'finish last {"partialCount":0}']);
});
