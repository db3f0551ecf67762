import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { entryPoints } from "../../scripts/docs/entry-points.js";
import { circles, circular, deep, importsOf, misplaced, type Aliases, type Sources } from "./imports.js";
import { EXCEPTIONS, LAYERS, PUBLIC_ONLY, TYPE_CIRCLES } from "./layers.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { imports: aliases } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { imports: Aliases };
const exported = new Set(entryPoints(root).keys());

const sources: Sources = new Map(
  ["src", "apps", "site/src", "bench"].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.d)\.ts$/.test(file))
      .map((file) => [`${folder}/${file}`, readFileSync(`${root}${folder}/${file}`, "utf8")] as const),
  ),
);
const imports = importsOf(sources, aliases);

test("all imports are found", () => {
  assert.ok(imports.length > 2000 && imports.some(({ type }) => type), `${imports.length}`);
  for (const { from, specifier, to } of imports)
    // What is imported as text is no module.
    for (const file of to)
      assert.ok(
        file.endsWith("?raw") ? existsSync(root + file.slice(0, -4)) : sources.has(file),
        `${from} imports "${specifier}", and there is no ${file}`,
      );
});

test("folders import in the order of the layers", () => {
  assert.deepEqual(misplaced(sources, imports, LAYERS, EXCEPTIONS), []);
});

test("applications, site and benchmarks use the public API", () => {
  assert.deepEqual(deep(imports, PUBLIC_ONLY, exported), []);
});

test("what an application exports runs in a page: it imports parts of isoform that do, and nothing else", () => {
  const indexes = [...exported]
    .filter((name) => name.startsWith("isoform/apps/"))
    .map((name) => `${name.replace("isoform/", "")}/index.ts`);
  assert.ok(indexes.length > 8);
  const reached = new Set(indexes);
  const running = imports.filter(({ type }) => !type);
  const beyond = new Set<string>();
  for (const file of reached)
    for (const { from, specifier, usual } of running)
      if (from === file && usual !== undefined) reached.add(usual);
      else if (from === file && (!specifier.startsWith("isoform") || specifier === "isoform/io")) beyond.add(`${from}: ${specifier}`);
  assert.deepEqual([...beyond], []);
});

test("no files import each other", () => {
  assert.deepEqual(circular(imports, TYPE_CIRCLES), []);
});

test("docs/architecture.md tells the folders in their order, and draws their imports", () => {
  const page = readFileSync(`${root}docs/architecture.md`, "utf8");
  const levels = LAYERS.src.map((level) => [level].flat().filter((name) => name !== "*"));
  const listed = [...page.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    listed.map((name) => levels.findIndex((level) => level.includes(name))),
    levels.flatMap((level, n) => level.map(() => n)),
  );
  assert.deepEqual(new Set(listed), new Set(levels.flat()));

  const [, diagram] = page.match(/```mermaid\n(flowchart BT\n[^]*?)```/)!;
  const drawn = [...diagram.matchAll(/^ *([\w &]+) --> ([\w &]+)$/gm)].flatMap(([, from, to]) =>
    from.split(" & ").flatMap((a) => to.split(" & ").map((b) => ({ from: a, to: [b] }))),
  );
  const partOf = (file: string | undefined) => file?.match(/^src\/(\w+)\//)?.[1];
  const real = imports.flatMap(({ from, usual }) => {
    const [a, b] = [partOf(from), partOf(usual)];
    return a && b && a !== b ? [`${a} --> ${b}`] : [];
  });
  for (const { from, to } of drawn) assert.ok(real.includes(`${from} --> ${to}`), `no import stands for ${from} --> ${to}`);
  const reached = (from: string): Set<string> =>
    new Set(drawn.filter((arrow) => arrow.from === from).flatMap(({ to: [to] }) => [to, ...reached(to)]));
  for (const arrow of new Set(real)) {
    const [from, to] = arrow.split(" --> ");
    assert.ok(reached(from).has(to), `no arrows lead from ${from} to ${to}`);
  }
});

/** The imports of files that are not there. */
const given = (files: Record<string, string>) => {
  const all = new Map(Object.entries(files));
  return { all, found: importsOf(all, aliases) };
};
const orderOf = (files: Record<string, string>) => {
  const { all, found } = given(files);
  return misplaced(all, found, LAYERS, []);
};

test("imports are read as they are written", () => {
  const { found } = given({
    "src/set/a.ts": [
      '// import { no } from "./comment.js";',
      'import type { A } from "./b.js";',
      'import { type B } from "./c.js";',
      "import {",
      "  C,",
      "  type D,",
      '} from "./d.js";',
      'import "./e.js";',
      'export * from "./f.js";',
      'export type { G } from "./g.js";',
      'const h = () => import("./h.js");',
      'import type from "./i.js";',
      'import { recall } from "#cache";',
      'import { readFileSync } from "node:fs";',
    ].join("\n"),
  });
  const cache = ["src/cache/browser/cache.ts", "src/cache/cache.ts"];
  assert.deepEqual(
    found.map(({ to, type }) => [to.length > 1 ? to : (to[0]?.slice(8) ?? ""), type]),
    [
      ["b.ts", true],
      ["c.ts", false],
      ["d.ts", false],
      ["e.ts", false],
      ["f.ts", false],
      ["g.ts", true],
      ["i.ts", false],
      [cache, false],
      ["", false],
      ["h.ts", false],
    ],
  );
});

test("an import of a later layer is refused, of types, too", () => {
  for (const line of [
    'import { kernel } from "../kernel/declare/kernel.js";',
    'import type { Kernel } from "../kernel/declare/kernel.js";',
  ])
    assert.deepEqual(orderOf({ "src/ir/wrong.ts": line }), [
      'src/ir/wrong.ts imports "../kernel/declare/kernel.js": in src, ir stands before kernel and may not import it (test/structure/layers.ts)',
    ]);
  assert.match(orderOf({ "src/kernel/lower/wrong.ts": 'export * from "../../emit/text.js";' })[0], /in src, kernel stands beside emit/);
  assert.match(
    orderOf({ "src/domain/grid/wrong.ts": 'const m = await import("../base-grid.js");' })[0],
    /in src\/domain, grid stands before/,
  );
  assert.match(orderOf({ "src/domain/dense/wrong.ts": 'import "../sparse/sparse.js";' })[0], /dense stands beside sparse/);
  assert.match(orderOf({ "src/ir/wrong.ts": 'import { remember } from "#cache";' })[0], /imports "#cache": in src, ir stands before cache/);
  assert.match(orderOf({ "src/set/wrong.ts": 'import "../../apps/heat/heat.js";' })[0], /in the repository, src stands before apps/);
  assert.match(orderOf({ "src/emit/wgsl.ts": 'import "./wgsl/kernel.js";' })[0], /in src\/emit, wgsl.ts stands before wgsl/);
});

test("an import of an earlier layer, or of the own folder, is not", () => {
  const imported = ['import "./dense.js";', 'import "../base-grid.js";', 'import "../../base/errors.js";', 'import "acorn";'].join("\n");
  assert.deepEqual(orderOf({ "src/domain/dense/right.ts": imported }), []);
  assert.deepEqual(orderOf({ "src/emit/code.ts": 'import "./slots.js";' }), []);
});

test("a folder without a place is named, and an exception that nothing needs", () => {
  assert.match(orderOf({ "src/domain/moving/moving.ts": "" })[0], /src\/domain\/moving stands on no level/);
  const { all, found } = given({ "src/cli/main.ts": 'import "../../apps/heat/heat.js";' });
  const exception = { from: "src/cli/", to: "apps/", why: "" };
  assert.deepEqual(misplaced(all, found, LAYERS, [exception]), []);
  assert.match(misplaced(all, [], LAYERS, [exception])[0], /nothing needs the exception of src\/cli\/ for apps\//);
});

test("an application that reaches into src is refused", () => {
  const refused = (line: string, from = "apps/heat/wrong.ts") => deep(given({ [from]: line }).found, PUBLIC_ONLY, exported).length;
  assert.equal(refused('import { kernel } from "../../src/kernel/kernel.js";'), 1);
  assert.equal(refused('import type { View } from "../../src/device/memory/view.js";', "site/src/wrong.ts"), 1);
  assert.equal(refused('import "#cache";'), 1);
  assert.equal(refused('import "isoform/kernel";'), 1);
  assert.equal(refused('import "isoform/grid";\nimport "isoform";\nimport "../grids.js";\nimport "node:fs";\nimport "d3-scale";'), 0);
  assert.equal(refused('import "../../src/kernel/kernel.js";', "src/cli/right.ts"), 0);
});

test("circles are found", () => {
  const circle = { "src/set/a.ts": 'import { b } from "./b.js";', "src/set/b.ts": 'import type { A } from "./c.js";' };
  const { found } = given({ ...circle, "src/set/c.ts": 'import "./a.js";', "src/set/d.ts": 'import "./a.js";' });
  assert.deepEqual(circles(found), [["src/set/a.ts", "src/set/b.ts", "src/set/c.ts"]]);
  assert.match(circular(found, [])[0], /each other's types: src\/set\/a.ts, src\/set\/b.ts, src\/set\/c.ts/);
  const allowed = { folder: "src/set", files: ["a.ts", "b.ts", "c.ts"], why: "" };
  assert.deepEqual(circular(found, [allowed]), []);
  assert.match(circular([], [allowed])[0], /correct TYPE_CIRCLES/);
  const running = found.map((each) => ({ ...each, type: false }));
  assert.match(circular(running, [allowed])[0], /at run time/);
});
