import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkFiles } from "../../src/check/check.js";
import { messageOf, problemsOf } from "../../src/check/problems.js";
import { typedProgram, sourceFiles } from "../../src/check/program.js";
import { requireTypeScript } from "../../src/check/typescript.js";

/* What runs is found right: examples have no mistakes, and their kernels are checked. */

const api = requireTypeScript(process.cwd());

test("examples have no mistakes, and nine of ten kernels are checked", () => {
  const files = sourceFiles([fileURLToPath(new URL("../../../examples", import.meta.url))]);
  const report = checkFiles(api, typedProgram(api, files), files);
  assert.deepEqual(problemsOf(report).map(messageOf), []);
  const unknown = report.kernels.filter((kernel) => kernel.unknown !== undefined);
  assert.ok(report.kernels.length >= 26, `${report.kernels.length} kernels`);
  assert.ok(unknown.length <= 0.1 * report.kernels.length, unknown.map(({ name, unknown: why }) => `${name}: ${why}`).join("\n"));
});
