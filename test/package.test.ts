import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { exportsOf } from "../scripts/docs/entry-points.js";

/* What `npm pack` would put into the package. `.ci/fresh-project` packs, installs and runs it. */

const root = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  imports: Record<string, Record<string, string>>;
};

interface Packed {
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}

describe("the package", () => {
  let packed: Packed;
  let files: string[];
  before(() => {
    const { stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], { cwd: root, encoding: "utf8" });
    const [only] = Object.values(JSON.parse(stdout || stderr) as Packed[]);
    packed = only;
    files = packed.files.map(({ path }) => path);
  });

  it("has what its entry points, imports and command name", () => {
    const imported = Object.values(manifest.imports).flatMap((target) => Object.values(target));
    const single = Object.values(manifest.exports).filter((target) => typeof target === "string");
    const entries = [...exportsOf(root).values()].flatMap((target) => [target.types, target.default]);
    const named = [...entries, ...single, ...imported, ...Object.values(manifest.bin)]
      .filter((path) => path !== "acorn")
      .map((path) => path.replace(/^\.\//, ""));
    assert.ok(named.length > 40);
    assert.deepEqual(
      named.filter((path) => !files.includes(path)),
      [],
    );
  });

  it("has the README, the licence, the pages and the examples", () => {
    for (const path of ["README.md", "LICENSE", "docs/getting-started.md", "examples/README.md", "examples/wave.ts"])
      assert.ok(files.includes(path), path);
  });

  it("has no tests, no maps, nothing of the site and no sources but the examples and the hand-written programs", () => {
    const others = files.filter(
      (path) =>
        !/^(dist\/(src|apps)\/.*\.(js|d\.ts)|docs\/.*\.(md|json)|examples\/[\w-]+\.(ts|f90|md)|dist\/src\/check\/language-service\.(cjs|d\.cts)|language-service\/package\.json|bench\/baselines\/[\w/-]+\.(c|cu|h|cuh)|[^/]+)$/.test(
          path,
        ),
    );
    assert.deepEqual(others, []);
    assert.deepEqual(
      files.filter((path) => /\.map$|\.test\.|^dist\/(test|bench|site|scripts)\//.test(path)),
      [],
    );
  });

  it("is small", () => {
    assert.ok(packed.size < 3.05e6, `${packed.size} bytes compressed`);
    assert.ok(packed.unpackedSize < 10.5e6, `${packed.unpackedSize} bytes`);
    assert.ok(files.length < 3200, `${files.length} files`);
  });
});
