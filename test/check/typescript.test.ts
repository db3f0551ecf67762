import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findTypeScript } from "../../src/check/typescript.js";

/* TypeScript is an optional peer: what is said where it is missing, too old or without an API. */

const folder = mkdtempSync(join(tmpdir(), "isoform-typescript-"));
const nowhere = join(mkdtempSync(join(tmpdir(), "isoform-nowhere-")), "x.js");
const remedy = "npm install --save-dev typescript@6";

function installed(version: string): ReturnType<typeof findTypeScript> {
  const at = join(mkdtempSync(join(folder, "project-")), "node_modules/typescript");
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), JSON.stringify({ name: "typescript", version }));
  return findTypeScript(join(at, "../.."), nowhere);
}

test("a missing TypeScript is named, with the command that installs it", () => {
  const reason = "the package typescript, whose checker tells the types of kernels, is not installed";
  assert.deepEqual(findTypeScript(folder, nowhere), { reason, remedy });
});

test("versions without an API and old ones are refused", () => {
  const [seven, four] = ["7.0.2", "4.9.5"].map(installed);
  assert.ok("reason" in seven && "reason" in four);
  assert.match(seven.reason, /is TypeScript 7\.0\.2, which ships no API to ask for types: 5 and 6 do$/);
  assert.match(four.reason, /is TypeScript 4\.9\.5, and 5 or 6 is needed$/);
});

test("another one is taken where the project's cannot be used", () => {
  const found = findTypeScript(folder);
  assert.ok("api" in found && /^[56]\./.test(found.version));
});
