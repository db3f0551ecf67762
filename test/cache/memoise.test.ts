import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const top = mkdtempSync(join(tmpdir(), "isoform-memoise-"));
after(() => rmSync(top, { recursive: true }));
const program = fileURLToPath(new URL("memoised.js", import.meta.url));

function run(cache: string): { readonly made: readonly string[]; readonly same: boolean; readonly values: readonly string[] } {
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8", env: { ...process.env, XDG_CACHE_HOME: cache } });
  assert.equal(stderr, "");
  return JSON.parse(stdout) as ReturnType<typeof run>;
}

/** Made by each process: results of short inputs, one that others have taken the room of twice, and input that is not plain data. */
const EACH_TIME = ["short", "of short", "no data", "no data", "unkept", "unkept"];
const ONCE = ["first", "other", "short", "of short", "derived", "part", "no data", "no data", "unkept", "unkept"];

test("results are made once in a process, and found by the next one", () => {
  const cache = mkdtempSync(join(top, "x-"));
  const { made, same, values } = run(cache);
  assert.deepEqual([made, same], [ONCE, true]);
  assert.deepEqual(run(cache), { made: EACH_TIME, same: true, values });
  assert.deepEqual(values, ["NaN", "-0", "5"]);
});

test("what is damaged is made again", () => {
  const cache = mkdtempSync(join(top, "x-"));
  run(cache);
  const folder = join(cache, "isoform");
  const files = readdirSync(folder).filter((name) => name.endsWith(".test"));
  assert.equal(files.length, 4);
  for (const name of files) writeFileSync(join(folder, name), "damaged");
  assert.deepEqual(run(cache).made, ONCE);
});

test("without a folder to write to, results are made once in a process all the same", () => {
  const file = join(top, "file");
  writeFileSync(file, "");
  assert.deepEqual(run(file).made, ONCE);
  const open = mkdtempSync(join(top, "x-"));
  chmodSync(open, 0o777);
  assert.deepEqual(run(open).made, ONCE);
});
