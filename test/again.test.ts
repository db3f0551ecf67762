import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { namesIn, SmallRepository } from "./small-repository.js";

/* What the runner does with files that fail, once or always. */

/** Fails where `path`, which it makes, is not there yet. */
const FAILS_FIRST = `import { existsSync, writeFileSync } from "node:fs";
const path = new URL("../../ran-" + import.meta.url.split("/").at(-1), import.meta.url);
if (!existsSync(path)) {
  writeFileSync(path, "");
  test("the first time", () => assert.fail("too early"));
}
import assert from "node:assert/strict";`;
const FAILS = 'test("each time", () => { throw new Error("wrong value"); });';

/** Runs files with these texts, all at once. */
function ran(tests: Readonly<Record<string, string>>, ...words: string[]) {
  const repository = new SmallRepository(tests, { "package-lock.json": "{}" });
  after(() => repository.remove());
  return { ...repository.run(words), repository };
}

test("a file that passes the second time is called unsteady, with the whole output of its first run, and fails nothing", () => {
  const { status, stdout } = ran({ late: FAILS_FIRST, good: "" }, "--again");
  assert.equal(status, 0, stdout);
  assert.deepEqual(namesIn(stdout).sort(), ["good", "late", "late"]);
  assert.equal(namesIn(stdout).at(-1), "late", "the second run comes at the end");
  assert.match(stdout, /^unsteady: late, failed 1 of 2$/m);
  assert.match(stdout, /AssertionError.*too early/);
  assert.match(stdout, /^2 passed, 0 failed, 0 skipped, 1 unsteady in /m);
});

test("a file that fails twice fails the run", () => {
  const { status, stdout } = ran({ late: FAILS_FIRST, wrong: FAILS }, "--again");
  assert.equal(status, 1, stdout);
  assert.deepEqual(namesIn(stdout).sort(), ["late", "late", "wrong", "wrong"]);
  assert.match(stdout, /^failed \(their output is above\)\n +wrong\n/m);
  assert.match(stdout, /^unsteady: late, failed 1 of 2$/m);
  assert.match(stdout, /, 1 failed, /);
});

test("more than three files are not run again", () => {
  const { status, stdout } = ran(Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, FAILS_FIRST])), "--again");
  assert.equal(status, 1, stdout);
  assert.deepEqual(namesIn(stdout).sort(), ["a", "b", "c", "d"]);
  assert.match(stdout, /^4 files failed: none runs again/m);
  assert.doesNotMatch(stdout, /unsteady:/);
});

test("three are, and what ends its process without a word is", () => {
  const dies = FAILS_FIRST.replace(/test\("the first.*/, 'process.kill(process.pid, "SIGKILL");');
  const { status, stdout } = ran({ a: FAILS_FIRST, b: FAILS_FIRST, dies }, "--again");
  assert.equal(status, 0, stdout);
  assert.equal(stdout.match(/^unsteady: /gm)!.length, 3);
  assert.match(stdout, /ended by SIGKILL after/);
});

test("without the option nothing runs again", () => {
  const { status, stdout } = ran({ late: FAILS_FIRST });
  assert.equal(status, 1, stdout);
  assert.deepEqual(namesIn(stdout), ["late"]);
});

test("an unsteady file counts as changed", () => {
  const { repository, stdout } = ran({ late: FAILS_FIRST, good: "" }, "--again", "--changed");
  assert.match(stdout, /^unsteady: late/m);
  const records = readdirSync(join(repository.root, "dist/test/.green"));
  assert.equal(records.filter((name) => name.startsWith("late ")).length, 0);
  assert.deepEqual(namesIn(repository.run(["--again", "--changed"]).stdout), ["late"]);
});

test("a file that takes too long is ended with what it has started", () => {
  const hangs = `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
writeFileSync(new URL("../../pid", import.meta.url), String(child.pid));
test("waits", () => new Promise(() => setInterval(() => {}, 1000)));`;
  const { status, stdout, repository } = ran({ hangs }, "--limit=2");
  assert.equal(status, 1, stdout);
  assert.match(stdout, /ended by SIGKILL after 2 s/);
  const pid = readFileSync(join(repository.root, "pid"), "utf8");
  // It is gone, or waits for its parent to take note
  const state = existsSync(`/proc/${pid}`) ? /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] : undefined;
  assert.ok([undefined, "Z"].includes(state), `it is in state ${state}`);
});
