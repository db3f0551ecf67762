import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import type { Shell } from "isoform/portability";
import { command } from "../../../apps/navier-stokes/command.js";
import { CASES, KEYS, type CaseName } from "../../../apps/navier-stokes/config/config-keys.js";
import { flagOf } from "../../../apps/navier-stokes/config/config.js";
import { parseConfig } from "./parse-config.js";
import { QUANTITIES } from "../../../apps/navier-stokes/results/planes.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const README = "apps/navier-stokes/README.md";
const pages = [
  "README.md",
  README,
  "bench/README.md",
  ...readdirSync(`${root}docs`)
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];
const textOf = (page: string): string => readFileSync(root + page, "utf8");

/** Parses a line's options as the command does, and runs nothing. */
function parse(...words: string[]): void {
  const program = new Command();
  command(program, {} as Shell);
  const [all] = program.commands;
  for (const own of [program, all, ...all.commands]) own.exitOverride().configureOutput({ writeErr: () => {} });
  for (const own of all.commands) own.action(() => {});
  program.parse(["navier-stokes", ...words], { from: "user" });
}

/** Command lines of a page that name a case: in blocks, where a backslash continues a line, and in the code of the solver's own tables. */
function linesOf(page: string): string[][] {
  const text = textOf(page).replace(/\\\n\s*/g, "");
  const lines = [...text.matchAll(/isoform navier-stokes ([^\n`#|]+)/g)].map(([, line]) => line);
  const own = page === README ? [...text.matchAll(/`((?:channel|layer|shock|box|tube) --[^`]+)`/g)].map(([, line]) => line) : [];
  return [...lines, ...own].map((line) => line.trim().split(/\s+/)).filter(([name]) => (CASES as readonly string[]).includes(name));
}

test("commands in pages have options of their case", () => {
  let found = 0;
  for (const page of pages)
    for (const words of linesOf(page)) {
      found++;
      assert.doesNotThrow(() => parse(...words), `${page}: ${words.join(" ")}`);
    }
  assert.ok(found > 25, `${found}`);
  assert.throws(() => parse("box", "--re-tau", "180"), /unknown option/);
  assert.throws(() => parse("channel", "--layout", "auto"), /Allowed choices are soa, aos/);
});

test("options that the README names alone are options of a case", () => {
  const program = new Command();
  command(program, {} as Shell);
  const known = new Set(program.commands[0].commands.flatMap(({ options }) => options.map(({ long }) => long)));
  for (const { name } of KEYS) assert.ok(known.has(flagOf(name)), name);
  const named = [...textOf(README).matchAll(/`(--[a-z0-9-]+)/g)].map(([, flag]) => flag);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((flag) => !known.has(flag)),
    [],
  );
});

test("configurations in the README have keys of their case, and its pictures show all quantities", async () => {
  const blocks = [...textOf(README).matchAll(/```toml\n([^`]+)```/g)].map(([, text]) => text);
  assert.ok(blocks.length > 0);
  for (const text of blocks) {
    const name = /^case = "(\w+)"/m.exec(text)![1] as CaseName;
    assert.ok(Object.keys(await parseConfig(text, "readme.toml", name)).length > 0);
  }
  for (const quantity of Object.keys(QUANTITIES)) assert.match(textOf(README), new RegExp(`pictures of a plane:[^\\n]*\\b${quantity}\\b`));
});
