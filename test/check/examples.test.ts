import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkFiles } from "../../src/check/check.js";
import { messageOf, problemsOf } from "../../src/check/problems.js";
import { typedProgram, sourceFiles } from "../../src/check/program.js";
import { requireTypeScript } from "../../src/check/typescript.js";

/* What runs is found right: examples have no mistakes, and their kernels are checked. */

const api = requireTypeScript(process.cwd());

const fixture = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

test("examples have no mistakes, and all kernels are checked", () => {
  const files = sourceFiles([fixture("examples"), fixture("test/check/own-objects.ts")]);
  const report = checkFiles(api, typedProgram(api, files), files);
  assert.deepEqual(problemsOf(report).map(messageOf), []);
  const unknown = report.kernels.filter((kernel) => kernel.unknown !== undefined);
  assert.ok(report.kernels.length >= 26, `${report.kernels.length} kernels`);
  assert.deepEqual(
    unknown.map(({ name, unknown: why }) => `${name}: ${why}`),
    [],
  );
});
