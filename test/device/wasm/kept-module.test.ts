import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const cache = mkdtempSync(join(tmpdir(), "isoform-modules-"));
after(() => rmSync(cache, { recursive: true }));
const program = fileURLToPath(new URL("kept-module.js", import.meta.url));

/** What the program prints, and the modules in the cache afterwards. */
function run(): { readonly printed: string; readonly kept: readonly (readonly [name: string, written: number])[] } {
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8", env: { ...process.env, XDG_CACHE_HOME: cache } });
  assert.equal(stderr, "");
  const folder = join(cache, "isoform");
  const names = readdirSync(folder).filter((name) => name.endsWith(".module"));
  return { printed: stdout, kept: names.map((name) => [name, statSync(join(folder, name)).ino]) };
}

test("a long kernel's module is emitted once, for all devices and processes", () => {
  const first = run();
  assert.equal(first.kept.length, 1);
  const value = Array.from({ length: 200 }).reduce((y: number, _, n) => y * 0.5 + n, 0);
  assert.equal(first.printed, `${JSON.stringify(Array.from({ length: 5 }, () => value))}\n`.repeat(2));
  assert.deepEqual(run(), first);
});
