import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changelogProblems, compareVersions, notesOf, packedProblems, versionProblems } from "../../scripts/release/checks.js";

const files = {
  version: "0.2.0",
  locked: "0.2.0",
  changelog: "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-12-01\n\n- New.\n\n## 0.1.0 - 2026-11-01\n\n- Old.\n",
  citation: "cff-version: 1.2.0\nversion: 0.2.0\n",
  tags: ["v0.1.0", "nightly"],
};

describe("a release", () => {
  it("may have these files", () => {
    assert.deepEqual(versionProblems(files), []);
    assert.deepEqual(changelogProblems(files), []);
    assert.equal(notesOf(files.changelog, "0.2.0"), "- New.");
  });

  it("has one version everywhere, behind all that are released", () => {
    assert.match(versionProblems({ ...files, version: "0.2" })[0], /"0\.2"; write one such as 1\.2\.3/);
    assert.match(versionProblems({ ...files, locked: "0.1.0" })[0], /package-lock\.json has version 0\.1\.0/);
    assert.match(versionProblems({ ...files, citation: "cff-version: 1.2.0" })[0], /CITATION\.cff has version none/);
    assert.match(versionProblems({ ...files, tags: ["v0.2.0"] })[0], /v0\.2\.0 is released already/);
    assert.match(versionProblems({ ...files, tags: ["v0.10.0"] })[0], /v0\.10\.0 is released already/);
  });

  it("has a dated section of the changelog, and leaves nothing unreleased", () => {
    assert.match(changelogProblems({ ...files, version: "0.3.0" })[0], /says nothing of 0\.3\.0/);
    assert.match(changelogProblems({ ...files, changelog: "## 0.2.0\n\n- New.\n" })[0], /no date for 0\.2\.0/);
    const undated = "## 0.2.0 - unreleased\n\n- New.\n";
    assert.match(changelogProblems({ ...files, changelog: undated })[0], /no date for 0\.2\.0/);
    assert.deepEqual(changelogProblems({ ...files, changelog: undated }, true), []);
    const left = files.changelog.replace("## Unreleased\n", "## Unreleased\n\n- More.\n");
    assert.match(changelogProblems({ ...files, changelog: left })[0], /under Unreleased; move them to 0\.2\.0/);
  });

  it("packs no code whose source is gone", () => {
    const exists = (path: string): boolean => path === "src/a.ts";
    assert.deepEqual(packedProblems(["dist/src/a.js", "dist/src/a.d.ts", "README.md"], exists), []);
    assert.match(packedProblems(["dist/src/b.js"], exists)[0], /1 files without a source, such as dist\/src\/b\.js/);
  });

  it("comes before and after others", () => {
    const inOrder = ["0.2.0", "0.10.0-alpha", "0.10.0-beta", "0.10.0", "1.0.0"];
    assert.deepEqual([...inOrder].reverse().sort(compareVersions), inOrder);
  });
});
