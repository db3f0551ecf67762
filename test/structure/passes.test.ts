import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { STAGES } from "./passes.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDER = "src/ir/passes";
const read = (file: string): string => readFileSync(`${root}${file}`, "utf8");

/** Files of passes, and what each exports. */
const files = readdirSync(root + FOLDER).map((file) => ({
  file: `${FOLDER}/${file}`,
  names: [...read(`${FOLDER}/${file}`).matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name),
}));
const fileOf = (pass: string): string | undefined => files.find(({ names }) => names.includes(pass))?.file;
/** Copies statements for passes; it changes nothing. */
const TOOL = "src/ir/passes/copy.ts";

test("each pass has its place in the list", () => {
  const listed = new Set(STAGES.flatMap(({ passes }) => passes.map((pass) => fileOf(pass) ?? `no file exports ${pass}`)));
  listed.add(TOOL);
  assert.deepEqual([...listed].sort(), files.map(({ file }) => file).sort());
});

test("each stage's passes are called where it says so", () => {
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file: `src/${file}`, text: read(`src/${file}`) }));
  for (const { when, by, passes } of STAGES)
    for (const pass of passes) {
      const own = fileOf(pass);
      const callers = sources.filter(
        ({ file, text }) => file !== own && by.some((place) => file.startsWith(place)) && new RegExp(`\\b${pass}\\(`).test(text),
      );
      assert.ok(callers.length > 0, `${when}: nobody in ${by.join(", ")} calls ${pass}`);
    }
});

test("docs/ir.md shows the list", () => {
  const page = read("docs/ir.md");
  const rows = STAGES.map(({ when, passes }) => `| ${when} | ${passes.map((pass) => `\`${pass}\``).join(", ")} |`);
  const table = page
    .match(/\| when \| passes, in order \|\n\|[^\n]*\n((?:\|[^\n]*\n)+)/)?.[1]
    .trim()
    .split("\n");
  const plain = (row: string): string => row.replaceAll(/\s+/g, " ");
  assert.deepEqual(table?.map(plain), rows.map(plain));
});
