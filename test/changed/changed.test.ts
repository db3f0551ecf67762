import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

/*
 * A small repository with this runner. Each of its test files reads something in another way.
 */
const compiled = fileURLToPath(new URL("..", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "isoform-changed-"));
after(() => rmSync(root, { recursive: true }));

const RUNNER = [
  "run.js",
  "jobs.js",
  "tiers.js",
  "devices.js",
  ...["append", "green", "hooks", "inputs", "record"].map((name) => `changed/${name}.js`),
];
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
  "package.json": '{"type":"module"}',
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

before(() => {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  for (const [name, text] of Object.entries(TESTS)) {
    write(`test/${name}.test.ts`, "");
    write(`dist/test/${name}.test.js`, `import { test } from "node:test"; test("it", async () => {});\n${text}`);
  }
  for (const path of RUNNER) {
    mkdirSync(dirname(join(root, "dist/test", path)), { recursive: true });
    copyFileSync(join(compiled, path), join(root, "dist/test", path));
  }
});

/** Names of the test files that the runner ran, in alphabetic order. */
function ran(env: Readonly<Record<string, string>> = {}): string[] {
  // What runs this file has a recorder of its own.
  const own = {
    ...process.env,
    NODE_OPTIONS: "",
    ISOFORM_INPUTS: undefined,
    ISOFORM_TEST_DEVICES: undefined,
    NODE_TEST_CONTEXT: undefined,
  };
  const args = [join(root, "dist/test/run.js"), "--changed", "--jobs=2"];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...own, ...env } });
  const names = [...stdout.matchAll(/^(?:ok|FAIL) .* s {2}(\w+) {2}/gm)].map(([, name]) => name).sort();
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
