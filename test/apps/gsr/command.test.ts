import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const isoform = (...words: string[]) => run(process.execPath, [main, ...words]);
const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-"));
after(() => rm(folder, { recursive: true }));

test("isoform gsr solves the system and writes JSON", async () => {
  const file = join(folder, "gsr.json");
  const { stdout } = await isoform(
    "gsr",
    "--gib",
    "0.002",
    "--devices",
    "js",
    "--iterations",
    "40",
    "--precision",
    "strict",
    "--form",
    "paper",
    "--json",
    file,
  );
  assert.match(stdout, /stopped after 40 iterations: the iteration limit was reached \(istop 7\)/);
  assert.match(stdout, /x\[0\] = (1\.0|0\.9)/);
  for (const name of ["a1Astro", "a1Att", "a1Instr", "a2Astro", "a2Att", "a2Instr"]) assert.match(stdout, new RegExp(`^${name} +\\d`, "m"));
  const result = JSON.parse(await readFile(file, "utf8"));
  assert.equal(result.solution.istop, 7);
  assert.ok(result.deviation.rms < 0.1);
  assert.equal(result.kernels.find((k: { name: string }) => k.name === "a1Att").flops, 25 * result.shape.observations);
});

test("isoform gsr takes the fastest form where none is asked for", async () => {
  const { stdout } = await isoform("gsr", "--gib", "0.002", "--devices", "js", "--iterations", "2");
  assert.match(stdout, /parallel generator, fused form/);
});

const BAD: [words: string[], message: RegExp][] = [
  [["--devices", "abacus"], /"abacus"/],
  [["--gib", "-1"], /greater than 0/],
  [["--gib", "nothing"], /number/],
  [["--gib", "1e-6"], /too few observations/],
  [["--gib", "100000", "--devices", "js"], /needs 90000 GiB of memory, and js has/],
  [["--gib", "5", "--devices", "wasm"], /needs \d\.\d+ GiB of memory, and wasm has \d(\.\d+)? GiB: choose a smaller --gib/],
  [["--generator", "dice"], /parallel, published/],
  [["--generator", "published", "--devices", "js"], /no size of 0\.25 GiB: ask for --gib 0\.556 or more, or for --generator parallel/],
  [["--iterations", "1.5"], /whole number/],
  [["--json", join(folder, "missing", "gsr.json"), "--devices", "abacus"], /cannot write .*missing.gsr\.json: there is no directory/],
];

for (const [words, message] of BAD)
  test(`isoform gsr ${words.slice(0, 2).join(" ").replace(folder, "")} says what is wrong and exits with 2`, async () => {
    await assert.rejects(isoform("gsr", ...words), (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, message);
      assert.equal(error.code, 2);
      return true;
    });
    assert.ok((await readdir(folder)).every((name) => name === "gsr.json"));
  });
