import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const checked = fileURLToPath(new URL("../../bench/checked.js", import.meta.url));
const run = (...words: string[]) => spawnSync(process.execPath, [checked, ...words], { encoding: "utf8" });

test("benchmarks tell their options, and no stacks", () => {
  const help = run("--help");
  assert.equal(help.status, 0);
  assert.match(help.stdout, /--rounds 15/);
  const wrong = run("--rouns", "1");
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /^Unknown option '--rouns'/);
  assert.doesNotMatch(wrong.stderr, /\n {4}at /);
});
