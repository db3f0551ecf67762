import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { run, WAYS } from "./builds.js";

/*
 * Kernels survive the tools that compile, bundle and minify them. ISOFORM_TOOLCHAINS names a folder in which these were installed
 * (`npm install --prefix FOLDER ...`, see `.ci/run`).
 */
const tools = process.env.ISOFORM_TOOLCHAINS;
const compiled = join(dirname(fileURLToPath(import.meta.url)), "program");
const root = join(compiled, "../../../..");

interface Results {
  js: unknown;
  debug: unknown;
  /** A message where it failed. */
  across: unknown;
  /** Where a mistake is. */
  place: string;
}

const resultsIn = (output: string): Results => JSON.parse(/RESULTS (\{.*\})/.exec(output)![1]) as Results;

describe("what kernels capture survives", { skip: !tools && "ISOFORM_TOOLCHAINS names no folder with the tools" }, () => {
  let at: string;
  let expected: Results;
  before(() => {
    at = mkdtempSync(join(tools!, "work-"));
    // The packages of the folder, and this Isoform: others may use the same folder for another one.
    mkdirSync(join(at, "node_modules"));
    for (const name of readdirSync(join(tools!, "node_modules")).filter((name) => name !== "isoform"))
      symlinkSync(join(tools!, "node_modules", name), join(at, "node_modules", name));
    symlinkSync(root, join(at, "node_modules/isoform"));
    cpSync(join(root, "test/toolchains/program"), join(at, "src"), { recursive: true });
    cpSync(compiled, join(at, "js"), { recursive: true });
    cpSync(join(tools!, "package.json"), join(at, "package.json"));
    expected = resultsIn(run(compiled, [process.execPath, join(compiled, "main.js")]));
    assert.deepEqual(expected.debug, expected.js);
    assert.equal(typeof expected.across, "object");
    assert.match(expected.place, /^program\.ts:\d+:12$/);
  });
  after(() => rmSync(at, { recursive: true, force: true }));

  const versionOf = (name: string): string => {
    const file = [tools!, root].map((folder) => join(folder, "node_modules", name, "package.json")).find((path) => existsSync(path))!;
    return `${name} ${(JSON.parse(readFileSync(file, "utf8")) as { version: string }).version}`;
  };

  for (const [n, { title, packages, apart, unwritten, build }] of WAYS.entries())
    it(title, async (t) => {
      const out = join(at, `out-${n}`);
      mkdirSync(out);
      const { js, debug, across, place } = resultsIn(run(at, await build(at, out), { ISOFORM_THREADS: "1" }));
      assert.deepEqual({ js, debug }, { js: expected.js, debug: expected.debug });
      // A function without a list of its own means things by names that only its module knows; nobody is left with wrong numbers.
      if (apart)
        assert.match(String(across), /captures "[\w$]+", which is neither a parameter nor listed \(the code is minified, .* helper\(fn/);
      else assert.deepEqual(across, expected.across);
      if (unwritten) assert.equal(place, expected.place);
      t.diagnostic(packages.map(versionOf).join(", "));
    });
});
