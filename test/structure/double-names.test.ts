import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { declaredNames } from "./exports.js";
import { lowered, type Counts } from "./left.js";
import { sources } from "./sources.js";

/*
 * One exported name, one thing: a name that several files export means the same in all of them (`sameThing`), or LEFT counts its files, by the
 * part of the repository where they are. The counts only shrink: after a change `node dist/test/structure/double-names.test.js --update` lowers them.
 */

const LEFT = "test/structure/double-names-left.json";
const UPDATE = "node dist/test/structure/double-names.test.js --update";

/** Names that are found by the name of their file: each backend, each application has its own. */
const ROLES: ReadonlySet<string> = new Set(["backend", "command", "application", "makeSkeleton"]);

/** Files for the same nodes of two languages: the kernel's IR and the scheduled IR, and of expressions and statements also Fortran's trees. */
const LANGUAGES =
  /^src\/(ir\/(expressions|types|scalars)|schedule\/(build|nodes|entry|frame)|fortran\/tree\/(expressions|statements))\.ts$/;

/**
 * Whether files export a name for one thing: for one role, as a page's replacement of another file, or each for its own application, as
 * applications do not import each other.
 */
function sameThing(name: string, files: readonly string[]): boolean {
  if (ROLES.has(name) || files.every((file) => LANGUAGES.test(file))) return true;
  const [own, others] = [files.filter((file) => file.includes("/browser/")), files.filter((file) => !file.includes("/browser/"))];
  if (own.length > 0) return sameThing(name, others);
  const applications = new Set(files.map((file) => /^apps\/\w[^/]*\//.exec(file)?.[0] ?? "no application"));
  return files.length < 2 || (applications.size === files.length && !applications.has("no application"));
}

/** Files by the name that they export, where it stands for several things. */
function doubles(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const [file, text] of sources) for (const name of declaredNames(text)) byName.set(name, [...(byName.get(name) ?? []), file]);
  return new Map([...byName].filter(([name, files]) => !sameThing(name, files)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const countsOf = (found: ReadonlyMap<string, readonly string[]>): Counts =>
  Object.fromEntries([...found].map(([name, files]) => [name, { files: files.length }]));

/** Differences from the counts that are left, a message each. */
function differences(found: ReadonlyMap<string, readonly string[]>, left: Counts): string[] {
  return [...new Set([...Object.keys(left), ...found.keys()])].sort().flatMap((name) => {
    const files = found.get(name) ?? [];
    const before = left[name]?.files ?? 0;
    if (files.length === before) return [];
    if (files.length < before) return [`${name}: ${files.length} files export it, ${before} before; lower the count by ${UPDATE}`];
    return [`${name} stands for several things: rename the new one (${files.join(", ")})`];
  });
}

const readLeft = (): Counts => JSON.parse(readFileSync(LEFT, "utf8")) as Counts;
const found = doubles(
  new Map(
    ["src", "apps", "bench", "site/src"]
      .flatMap(sources)
      .filter((file) => !file.includes("node_modules"))
      .map((file) => [file.replaceAll("\\", "/"), readFileSync(file, "utf8")]),
  ),
);

if (process.argv.includes("--update")) writeFileSync(LEFT, `${JSON.stringify(lowered(countsOf(found), readLeft()), null, 2)}\n`);

describe("names that several files export", () => {
  it("stand for one thing, but for the ones that are left", () => {
    const problems = differences(found, readLeft());
    assert.ok(problems.length === 0, problems.join("\n"));
  });
  it("are told apart from replacements, roles and words of both IRs", () => {
    const sources = new Map([
      ["src/a.ts", "export interface Part {}\nexport const only = 1;\nexport function f(): void {}\n"],
      ["src/b.ts", "export class Part {}\nexport const backend = 1;\n"],
      ["src/c/browser/a.ts", "export function f(): void {}\n"],
      ["src/d.ts", "export const backend = 2;\n"],
      ["src/ir/expressions.ts", "export const add = 1;\n"],
      ["src/schedule/build.ts", "export const add = 1;\n"],
      ["apps/one/a.ts", "export const DEFAULTS = 1;\n"],
      ["apps/two/a.ts", "export const DEFAULTS = 1;\nexport const add = 1;\n"],
    ]);
    const some = doubles(sources);
    assert.deepEqual(
      [...some],
      [
        ["Part", ["src/a.ts", "src/b.ts"]],
        ["add", ["src/ir/expressions.ts", "src/schedule/build.ts", "apps/two/a.ts"]],
      ],
    );
    assert.deepEqual(differences(some, { Part: { files: 2 }, add: { files: 3 } }), []);
    assert.deepEqual(differences(some, { Part: { files: 3 } }), [
      `Part: 2 files export it, 3 before; lower the count by ${UPDATE}`,
      "add stands for several things: rename the new one (src/ir/expressions.ts, src/schedule/build.ts, apps/two/a.ts)",
    ]);
  });
});
