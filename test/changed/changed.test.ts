import assert from "node:assert/strict";
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { namesIn, SmallRepository } from "../small-repository.js";

/*
 * A small repository with this runner. Each of its test files reads something in another way.
 */
const TESTS: Readonly<Record<string, string>> = {
  leaf: 'import "../src/leaf.js";',
  lazy: 'const { x } = await import("../src/lazy.js"); if (!x) throw new Error("nothing");',
  text: 'import { readFileSync } from "node:fs"; readFileSync(new URL("../../data/text.txt", import.meta.url));',
  listing: 'import { readdirSync } from "node:fs"; readdirSync(new URL("../../data", import.meta.url));',
  missing: 'import { existsSync } from "node:fs"; existsSync(new URL("../../later.txt", import.meta.url));',
  child:
    'import { spawnSync } from "node:child_process"; ' +
    'spawnSync(process.execPath, [new URL("../src/child.js", import.meta.url).pathname], { env: {} });',
  worker:
    'import { once } from "node:events"; import { Worker } from "node:worker_threads"; ' +
    'await once(new Worker(new URL("../src/worker.js", import.meta.url), { execArgv: [] }), "exit");',
  shell: 'import { spawnSync } from "node:child_process"; spawnSync("sh", ["-c", "true"]);',
  fails: 'process.exitCode = process.env.CHANGED_TEST_FAILS ? 1 : 0; await import("../src/fails.js");',
};
const SHARED = 'import "./shared.js";\nexport const x = 1;\n';
const files: Readonly<Record<string, string>> = {
  "package-lock.json": "{}",
  "dist/src/shared.js": "",
  "dist/src/below-worker.js": "",
  "dist/src/worker.js": 'import "./below-worker.js";',
  "dist/src/child.js": "",
  "dist/src/fails.js": "",
  "dist/src/leaf.js": SHARED,
  "dist/src/lazy.js": SHARED,
  "data/text.txt": "a text",
};

const repository = new SmallRepository(TESTS, files);
const { root } = repository;
after(() => repository.remove());

/** Names of the test files that the runner ran, in alphabetic order. */
function ran(env: Readonly<Record<string, string>> = {}): string[] {
  const { stdout } = repository.run(["--changed"], env);
  const names = namesIn(stdout).sort();
  const all = Object.keys(TESTS).length;
  if (names.length < all)
    assert.match(stdout, new RegExp(`${all - names.length} {4}unchanged since they were green, in ${all - names.length} of ${all} files`));
  return names;
}

/** Changes a file as an editor would, some time after it was run. */
const change = (path: string): void => appendFileSync(join(root, path), "\n");

test("a file runs again when something that it read has changed, and only then", () => {
  const all = Object.keys(TESTS).sort();
  assert.deepEqual(ran(), all, "nothing is known");
  assert.deepEqual(ran(), [], "nothing has changed");
  for (const [path, expected] of Object.entries({
    "dist/src/leaf.js": ["leaf"],
    "dist/src/shared.js": ["lazy", "leaf"],
    "dist/src/below-worker.js": ["worker"],
    "dist/src/child.js": ["child"],
    "dist/test/text.test.js": ["text"],
    // A shell reads what it likes: all files count.
    "data/text.txt": ["shell", "text"],
    "data/new.txt": ["listing", "shell"],
    "later.txt": ["missing", "shell"],
    "package.json": all,
    "package-lock.json": all,
    "dist/test/tiers.js": all,
  })) {
    change(path);
    assert.deepEqual(ran(), expected, path);
  }
  assert.deepEqual(ran(), []);
});

test("other settings are another run, and a failure is not kept", () => {
  const all = Object.keys(TESTS).sort();
  assert.deepEqual(ran({ ISOFORM_TEST_DEVICES: "js" }), all);
  assert.deepEqual(ran({ ISOFORM_TEST_DEVICES: "js" }), []);
  change("dist/src/fails.js");
  assert.deepEqual(ran({ CHANGED_TEST_FAILS: "1" }), ["fails"]);
  assert.deepEqual(ran({ CHANGED_TEST_FAILS: "1" }), ["fails"]);
  assert.deepEqual(ran(), ["fails"]);
  assert.deepEqual(ran(), []);
});

test("a record that is damaged counts as none", () => {
  const folder = join(root, "dist/test/.green");
  const records = readdirSync(folder).filter((name) => name.startsWith("leaf "));
  assert.ok(records.length > 0);
  for (const name of records) writeFileSync(join(folder, name), "{");
  assert.deepEqual(ran(), ["leaf"]);
});
