import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import { compiledTests, jobsOf } from "./jobs.js";
import { SmallRepository } from "./small-repository.js";
import { casesAt, jobsAt, keyOf, SECONDS, turnFrom } from "./turns.js";

const jobs = compiledTests(fileURLToPath(new URL("../..", import.meta.url))).flatMap(jobsOf);
const OF = 4;
const turns = Array.from({ length: OF }, (_, n) => jobsAt(jobs, { number: n + 1, of: OF }));

test("every long job runs in one turn, and all others in each", () => {
  for (const job of jobs) {
    const count = turns.filter((turn) => turn.includes(job)).length;
    assert.equal(count, keyOf(job) in SECONDS ? 1 : OF, keyOf(job));
  }
});

test("every long job is one of a test file", () => {
  const keys = jobs.map(keyOf);
  for (const key of Object.keys(SECONDS)) assert.ok(keys.includes(key), `"${key}" is no job`);
});

test("turns take about the same time", () => {
  const loads = turns.map((turn) => turn.reduce((sum, job) => sum + (SECONDS[keyOf(job)] ?? 0), 0));
  assert.ok(Math.max(...loads) < 1.05 * Math.min(...loads), loads.join(", "));
});

test("the conformance suite, random kernels and the pages run each time", () => {
  for (const key of Object.keys(SECONDS))
    assert.doesNotMatch(key, /^(device\/conformance|device\/hip\/conformance|random|site|docs|examples|structure|types)/);
});

test("cases of a list are shared out without loss", () => {
  const cases = Array.from({ length: 11 }, (_, n) => n);
  assert.deepEqual(casesAt(cases, undefined), cases);
  const parts = [1, 2, 3].flatMap((number) => casesAt(cases, { number, of: 3 }));
  assert.deepEqual(
    parts.toSorted((a, b) => a - b),
    cases,
  );
});

test("a turn is K/N", () => {
  assert.equal(turnFrom(undefined), undefined);
  assert.deepEqual(turnFrom("2/4"), { number: 2, of: 4 });
  for (const text of ["", "2", "0/4", "5/4", "1/0", "2/4/1", "a/b"]) assert.throws(() => turnFrom(text), /a turn is K\/N/, text);
});

test("the runner leaves long files to other turns, and tells tests their turn", () => {
  const text = 'import assert from "node:assert"; assert.match(process.env.ISOFORM_TEST_TURN, /^[1-4].4$/);';
  const repository = new SmallRepository({ "cli/port": text, good: text });
  after(() => repository.remove());
  const ran = [1, 2, 3, 4].map((number) => {
    const { status, stdout } = repository.run(["--tier=all", `--turn=${number}/4`]);
    assert.equal(status, 0, stdout);
    return Array.from(stdout.matchAll(/^ok .* s  (\S+)/gm), ([, name]) => name);
  });
  assert.ok(ran.every((names) => names.includes("good")));
  assert.equal(ran.filter((names) => names.includes("cli/port")).length, 1);
  assert.notEqual(repository.run(["--turn=5/4"]).status, 0);
});
