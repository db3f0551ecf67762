import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { assessmentSchema } from "../../src/portability/schema.js";
import { main } from "./isoform.js";

const FILES = ["--json", "out.json", "--report", "out.html"];

/** Many runs: an assessment of them takes hours, its first run less than a second. */
const MANY_RUNS = ["--repeats", "100000"];

/** Long runs: not even the first, which warms up, ends within an hour. */
const LONG_RUNS = ["--iterations", "100000000"];

/** An assessment that takes hours, ended by a signal when it has said that, or after a number of milliseconds. */
async function ended(signal: NodeJS.Signals, length: readonly string[], when: RegExp | number) {
  const folder = mkdtempSync(join(tmpdir(), "isoform-interrupt-"));
  const command = [main, "assess", "stream", "lbm", "--devices", "js", "--gib", "0.02", "--no-handwritten", ...length, ...FILES];
  const child = spawn(process.execPath, command, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (data) => (text[name] += String(data)));
  try {
    const end = once(child, "close");
    const said = (words: RegExp) => new Promise<void>((resolve) => child.stderr.on("data", () => words.test(text.stderr) && resolve()));
    await Promise.race([typeof when === "number" ? wait(when) : said(when), end]);
    assert.deepEqual([child.exitCode, child.signalCode], [null, null], `it has ended too early: ${text.stderr}`);
    child.kill(signal);
    const [code, by] = await end;
    const files = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
    return { code, by, files, ...text };
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  test(`${signal} ends an assessment with a report of the runs that are finished`, async () => {
    const { code, files, stdout, stderr } = await ended(signal, MANY_RUNS, /stream: \d+ of/);
    assert.equal(code, exitCode, stderr);
    assert.match(stderr, new RegExp(`isoform: ended by ${signal}: unfinished runs are missing\n$`));
    assert.deepEqual(Object.keys(files).sort(), ["out.html", "out.json"]);
    const { runs, missing } = assessmentSchema.parse(JSON.parse(files["out.json"]));
    assert.ok(runs.length > 0);
    assert.deepEqual(
      missing!.map(({ problem, reason }) => [problem, reason]),
      [["lbm", "the assessment ended before it ran"]],
    );
    assert.match(files["out.html"], /<caption>Missing/);
    assert.match(stdout, /Missing\n.*the assessment ended before it ran/s);
  });

test("what is ended before anything was measured writes nothing", async () => {
  const { code, by, files } = await ended("SIGINT", LONG_RUNS, 2000);
  assert.ok(by === "SIGINT" || code === 130, `code ${code}, signal ${by}`);
  assert.deepEqual(files, {});
});
