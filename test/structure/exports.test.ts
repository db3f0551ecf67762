import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { entryPoints } from "../../scripts/docs/entry-points.js";
import { exportsOf } from "./exports.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Names that tests alone import; there may be fewer. */
const FOR_TESTS = 32;
/** Files that `cli/commands.ts` finds by their names, and replacements for pages. */
const FOUND = /^apps\/[^/]+\/(command|application|explained)\.ts$|\/browser\//;

const packaged = new Map<string, string>();
for (const [name, file] of entryPoints(root)) packaged.set(name, file.replace(root, ""));
const sources = new Map(
  ["src", "apps", "test", "bench", "site", "scripts", "examples"].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.d)\.m?ts$/.test(file) && !file.includes("node_modules"))
      .map((file) => [`${folder}/${file}`, readFileSync(`${root}${folder}/${file}`, "utf8")] as const),
  ),
);
/** Files that stand for `#engine` and its like. */
const { imports: aliases } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { imports: Record<string, unknown> };
const replaced = [...JSON.stringify(aliases).matchAll(/"\.\/dist\/([^"]+)\.js"/g)].map(([, path]) => `${path}.ts`);
/** Declared in text that is written to files. */
const IN_TEXT = new Set(["NAME_compile"]);
const files = new Set([...packaged.values(), ...replaced]);
const exported = exportsOf(sources, packaged).filter(
  ({ file, name }) => /^(src|apps)\//.test(file) && !files.has(file) && !FOUND.test(file) && !IN_TEXT.has(name),
);

test("names that a file exports are imported by another", () => {
  assert.ok(exported.length > 1500, `${exported.length}`);
  assert.deepEqual(
    exported.filter(({ users }) => users.length === 0).map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});

test("names that tests alone import only become fewer", () => {
  const forTests = exported.filter(({ users }) => users.length > 0 && users.every((user) => user.startsWith("test/")));
  assert.ok(forTests.length <= FOR_TESTS, `${forTests.length}: ${forTests.map(({ file, name }) => `${file}: ${name}`).join(", ")}`);
});

test("an export that nobody imports is found", () => {
  const found = exportsOf(
    new Map([
      ["src/a.ts", "export const a = 1;\nexport interface B { n: number }\nexport function c(): void {}\nexport class D {}\n"],
      ["src/b.ts", 'import { a, type B as Other } from "./a.js";\nexport const e: Other = { n: a };'],
      ["src/c.ts", 'import * as all from "./b.js";\nexport { c } from "isoform/a";\nconsole.log(all);'],
    ]),
    new Map([["isoform/a", "src/a.ts"]]),
  );
  assert.deepEqual(
    found.map(({ name, users }) => [name, users.length]),
    [
      ["a", 1],
      ["B", 1],
      ["c", 1],
      ["D", 0],
    ],
  );
});
