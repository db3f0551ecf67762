import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("docs/glossary.md has each term once, in the order of the alphabet, with a meaning", () => {
  const text = readFileSync(new URL("../../../docs/glossary.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (?!term )([^|]+) \| ([^|]+) \|([^|]*)\|$/gm)].map(([, term, meaning]) => ({
    term: term.toLowerCase(),
    meaning,
  }));
  const terms = rows.map(({ term }) => term);
  assert.ok(terms.length > 50, "the table is read");
  assert.equal(terms.length, text.split("\n").filter((line) => line.startsWith("| ")).length - 1, "each row has three columns");
  assert.deepEqual(terms, [...new Set(terms)].sort());
  for (const { term, meaning } of rows) assert.match(meaning, /\.$/, term);
});
