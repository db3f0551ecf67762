import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { lowered, type Counts } from "./left.js";
import { findPhrases, PAGE_PHRASES, proseOf, SOURCE_PHRASES, type Finding } from "./plain-english.js";
import { sources } from "./sources.js";

/*
 * Pages have none of the phrases of plain-english.ts. Sources have those that LEFT counts, by folder and phrase, and the counts only shrink:
 * after rewording, `node dist/test/structure/plain-english.test.js --update` lowers them.
 */

const LEFT = "test/structure/plain-english-left.json";
const UPDATE = "node dist/test/structure/plain-english.test.js --update";
const ROOM = /^(?:src|apps|site\/src)(?:\/[^/.]+(?=\/))?/;

const betterOf = new Map([...SOURCE_PHRASES, ...PAGE_PHRASES].map(({ name, better }) => [name, better]));
const lineOf = ({ file, line, phrase, text }: Finding): string => `${file}:${line}: "${text}" (${phrase}); better: ${betterOf.get(phrase)}`;

function pages(): string[] {
  const below = ["docs", "apps", "site/src", "examples", "bench"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  return [...below, "README.md", "CONTRIBUTING.md", "SECURITY.md"].filter((file) => file.endsWith(".md"));
}

/** Findings by folder and phrase. */
function grouped(findings: readonly Finding[]): Map<string, Map<string, Finding[]>> {
  const rooms = new Map<string, Map<string, Finding[]>>();
  for (const finding of findings) {
    const [room] = finding.file.match(ROOM) ?? [dirname(finding.file)];
    const phrases = rooms.get(room) ?? new Map<string, Finding[]>();
    rooms.set(room, phrases.set(finding.phrase, [...(phrases.get(finding.phrase) ?? []), finding]));
  }
  return rooms;
}

/** Lines of a folder that may be the new ones, files changed last first. */
const newest = (findings: readonly Finding[], changed: (file: string) => number): string[] =>
  findings
    .toSorted((a, b) => changed(b.file) - changed(a.file))
    .slice(0, 12)
    .map((finding) => `  ${lineOf(finding)}`);

/** Differences from the counts that are left, a message each. */
function differences(findings: readonly Finding[], left: Counts, changed: (file: string) => number): string[] {
  const found = grouped(findings);
  return [...new Set([...Object.keys(left), ...found.keys()])].sort().flatMap((room) =>
    [...betterOf.keys()].flatMap((phrase) => {
      const now = found.get(room)?.get(phrase) ?? [];
      const before = left[room]?.[phrase] ?? 0;
      if (now.length > before)
        return [`${room}: ${now.length} times "${phrase}", ${before} before; reword the new one:`, ...newest(now, changed)];
      return now.length < before ? [`${room}: ${now.length} times "${phrase}", ${before} before; lower the count by ${UPDATE}`] : [];
    }),
  );
}

const countsOf = (findings: readonly Finding[]): Counts =>
  Object.fromEntries(
    [...grouped(findings)].map(([room, phrases]) => [
      room,
      Object.fromEntries([...phrases].map(([phrase, { length }]) => [phrase, length])),
    ]),
  );

const readLeft = (): Counts => JSON.parse(readFileSync(LEFT, "utf8")) as Counts;
const inSources = (): Finding[] =>
  ["src", "apps", "site/src"].flatMap(sources).flatMap((file) => findPhrases(file, readFileSync(file, "utf8"), SOURCE_PHRASES));

if (process.argv.includes("--update")) writeFileSync(LEFT, `${JSON.stringify(lowered(countsOf(inSources()), readLeft()), null, 2)}\n`);

describe("plain English", () => {
  it("is what pages are written in", () => {
    const found = pages().flatMap((file) => findPhrases(file, proseOf(readFileSync(file, "utf8")), PAGE_PHRASES));
    assert.ok(found.length === 0, found.map(lineOf).join("\n"));
  });
  it("comes to sources: counts of other phrases only shrink", () => {
    const found = differences(inSources(), readLeft(), (file) => statSync(file).mtimeMs);
    assert.ok(found.length === 0, found.join("\n"));
  });
  it("is told from what is not", () => {
    const phrases = (text: string): string[] => findPhrases("a.ts", text, SOURCE_PHRASES).map(({ phrase }) => phrase);
    assert.deepEqual(phrases("/** Of each cell, its list. */\n// What a cell has.\n/**\n * Where a list begins.\n */"), [
      'comment begins with "Of"',
      'comment begins with "What"',
      'comment begins with "Where"',
    ]);
    assert.deepEqual(phrases("throw new Error(`${name} is no loop`);\n// Sums are those\n  // of the device."), ["is no X", "those of"]);
    assert.deepEqual(phrases("// Runs behind the loop; there are so many\n * values, half of which stay."), [
      "behind",
      "so many",
      "of which",
    ]);
    assert.deepEqual(
      phrases("const behind = a.behind; // is no longer left behind, there is no other, so many that it ends, each of which"),
      [],
    );
    assert.equal(proseOf("a `is no b` c\n```\nthose of\n```\n"), `a ${"_".repeat(9)} c\n___\n________\n___\n`);
    assert.deepEqual(
      findPhrases("a.md", "## What it costs\n\nWhat is left is a loop. Of two, one. What now?", PAGE_PHRASES).map(({ line, phrase }) => [
        line,
        phrase,
      ]),
      [
        [3, 'sentence begins with "What"'],
        [3, 'sentence begins with "Of"'],
      ],
    );
  });
  it("has its findings counted by folder, and its counts lowered", () => {
    const at = (file: string, line: number): Finding => ({ file, line, phrase: "behind", text: "behind it" });
    const found = [at("src/ir/kernel-text.ts", 3), at("src/ir/passes/jam.ts", 7), at("src/index.ts", 1)];
    const changed = (file: string): number => (file.includes("passes") ? 2 : 1);
    assert.deepEqual(differences(found, { "src/ir": { behind: 2 }, src: { behind: 1 } }, changed), []);
    assert.deepEqual(differences(found, { "src/ir": { behind: 1 }, src: { behind: 2 } }, changed), [
      `src: 1 times "behind", 2 before; lower the count by ${UPDATE}`,
      'src/ir: 2 times "behind", 1 before; reword the new one:',
      '  src/ir/passes/jam.ts:7: "behind it" (behind); better: "after", for time and order',
      '  src/ir/kernel-text.ts:3: "behind it" (behind); better: "after", for time and order',
    ]);
    assert.deepEqual(lowered(countsOf(found), { "src/ir": { behind: 5, "so many": 1 }, src: {}, "src/io": { behind: 1 } }), {
      "src/ir": { behind: 2 },
    });
  });
});
