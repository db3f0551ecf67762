import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command, Option } from "commander";
import { addConfig } from "../../apps/config.js";
import { count } from "../../apps/options.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-config-"));
after(() => rm(folder, { recursive: true }));

/** The options of a small command with this file, and these words after it. */
async function optionsWith(text: string, ...words: string[]): Promise<Record<string, unknown>> {
  const file = join(folder, "own.toml");
  await writeFile(file, text);
  let found: Record<string, unknown> = {};
  const own = addConfig(new Command("own"))
    .option("--cell-count <n>", "", count, 7)
    .addOption(new Option("--wall <name>", "").choices(["soft", "hard"]).default("soft"))
    .option("--drifts <list>", "", (list: string) => list.split(",").map(Number))
    .option("--hot", "", false)
    .addOption(new Option("--secret <x>", "").hideHelp())
    .action((options: Record<string, unknown>) => {
      const { config: _, ...others } = options;
      found = others;
    });
  await own.parseAsync(["--config", file, ...words], { from: "user" });
  return found;
}

test("a file has options by their names with underscores; the command line takes precedence", async () => {
  const text = 'cell_count = 12\nwall = "hard"\ndrifts = [3, -3.5]\nhot = true\n';
  assert.deepEqual(await optionsWith(text), { cellCount: 12, wall: "hard", drifts: [3, -3.5], hot: true });
  assert.deepEqual(await optionsWith(text, "--wall", "soft", "--cell-count", "3"), {
    cellCount: 3,
    wall: "soft",
    drifts: [3, -3.5],
    hot: true,
  });
  assert.deepEqual(await optionsWith('drifts = "1,2"'), { cellCount: 7, wall: "soft", drifts: [1, 2], hot: false });
});

for (const [text, message] of [
  ["cells = 1", /own\.toml: unknown option "cells": choose from cell_count, wall, drifts, hot$/],
  ["secret = 1", /unknown option "secret"/],
  ['config = "a"', /unknown option "config"/],
  ["cell_count = 0", /own\.toml: cell_count = 0: It needs a whole number from 1/],
  ['wall = "rubber"', /own\.toml: wall = "rubber": Allowed choices are soft, hard/],
  ["hot = 1", /hot = 1: It needs true or false/],
  ["wall = true", /wall = true: It needs a number, a text or an array of these/],
  ["cell_count = ", /own\.toml: Invalid TOML/],
] as const)
  test(`the file ${JSON.stringify(text)} is refused`, () => assert.rejects(optionsWith(text), { name: "IsoformError", message }));

test("a file that is not there is named", async () => {
  const own = addConfig(new Command("own")).action(() => undefined);
  await assert.rejects(own.parseAsync(["--config", join(folder, "absent.toml")], { from: "user" }), /cannot read .*absent\.toml: ENOENT/);
});
