import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { entryPoints } from "../../scripts/docs/entry-points.js";
import { importedNames, mentioned, publicNames, wordsOfPages } from "./public-names.js";

/*
 * A public name is used by a program, explained on a page or tested; a type may also be public because the signature of such a name mentions it,
 * so that users can declare variables of it.
 */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((file) => ending.test(file) && !file.includes("node_modules"))
    .map((file) => `${root}${folder}/${file}`);

const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config, ts.sys, root);
const programOf = (files: readonly string[]): ts.Program =>
  ts.createProgram([...files], { ...options, incremental: false, tsBuildInfoFile: undefined });

test("public names are used, explained or tested, but for types that signatures mention", () => {
  const entries = new Map([...entryPoints(root)].map(([name, file]) => [name, root + file]));
  const program = programOf([...entries.values()]);
  const names = publicNames(program, entries);
  assert.ok(names.length > 800, `${names.length}`);
  const pages = [
    `${root}README.md`,
    `${root}bench/README.md`,
    ...["docs", "apps", "examples"].flatMap((folder) => filesOf(folder, /\.md$/)),
  ];
  const explained = wordsOfPages(pages.map((path) => readFileSync(path, "utf8")));
  const programs = ["examples", "apps", "bench", "site"].flatMap((folder) => filesOf(folder, /(?<!\.d)\.m?[jt]s$/));
  const used = importedNames(programs, (specifier) => /^isoform(\/|$)/.test(specifier));
  const tested = importedNames(filesOf("test", /(?<!\.d)\.ts$/), () => true);
  const [known, unknown] = [true, false].map((wanted) =>
    names.filter(({ name }) => (explained.has(name) || used.has(name) || tested.has(name)) === wanted),
  );
  const reached = mentioned(
    program.getTypeChecker(),
    known.map(({ symbol }) => symbol),
  );
  assert.deepEqual(
    unknown.filter(({ isType, symbol }) => !isType || !reached.has(symbol)).map(({ entry, name }) => `${entry}: ${name}`),
    [],
    "make the name private, or use it in an example or explain it on a page",
  );
});

test("signatures mention parameters, results and members, but no bodies", () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-"));
  try {
    const path = join(folder, "a.ts");
    writeFileSync(
      path,
      `export interface Given { readonly part: Part }
export interface Part { readonly n: number }
export interface Made { readonly n: number }
export interface Inside { readonly n: number }
export interface Nobody { readonly n: number }
interface Hidden { readonly n: number }
export function make(given: Given): Made { const inside: Inside = given.part; return inside; }
export class Kept { private readonly inside: Inside | undefined; constructor(private readonly hidden: Hidden) {} }
`,
    );
    const program = programOf([path]);
    const names = publicNames(program, new Map([["a", path]]));
    const of = names.filter(({ name }) => name === "make" || name === "Kept").map(({ symbol }) => symbol);
    const reached = mentioned(program.getTypeChecker(), of);
    assert.deepEqual(
      new Set(names.filter(({ symbol }) => reached.has(symbol)).map(({ name }) => name)),
      new Set(["Given", "Part", "Made", "make", "Kept"]),
    );
    assert.deepEqual(
      names.filter(({ isType }) => !isType).map(({ name }) => name),
      of.map(({ name }) => name),
    );
    assert.deepEqual([...wordsOfPages(["`make(a)` or make\n```ts\nnew Kept();\n```\nNobody"])], ["make", "a", "ts", "new", "Kept"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
