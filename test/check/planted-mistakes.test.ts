import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { compileKernel, KernelError, type Kernel } from "../../src/index.js";
import { checkFiles } from "../../src/check/check.js";
import { messageOf, problemsOf } from "../../src/check/problems.js";
import { typedProgram } from "../../src/check/program.js";
import { requireTypeScript } from "../../src/check/typescript.js";
import { mistakes } from "./planted-mistakes.js";

/* Mistakes planted in a file: each is found on its line, with the words of a run, and nothing else is. */

const file = fileURLToPath(new URL("../../../test/check/planted-mistakes.ts", import.meta.url));
const api = requireTypeScript(process.cwd());
const report = checkFiles(api, typedProgram(api, [file]), [file]);
const problems = problemsOf(report);

const planted = readFileSync(file, "utf8")
  .split("\n")
  .flatMap((text, n) => {
    const told = /\/\/ ! (.*)$/.exec(text)?.[1];
    return told === undefined ? [] : [{ line: n + 1, told }];
  });

test("30 mistakes and more are found on their lines, and no others", () => {
  assert.ok(planted.length >= 30, `${planted.length}`);
  const found = problems.map((problem) => problem.line).sort((a, b) => a - b);
  assert.deepEqual(
    found,
    planted.map(({ line }) => line),
    problems.map((problem) => `${problem.line}: ${messageOf(problem)}`).join("\n"),
  );
  for (const problem of problems) {
    const { told } = planted.find(({ line }) => line === problem.line)!;
    assert.ok(messageOf(problem).includes(told), `${problem.line}: ${messageOf(problem)}`);
  }
});

test("every kernel is checked", () => {
  const unknown = report.kernels.flatMap(({ name, unknown: why }) => (why === undefined ? [] : [`${name}: ${why}`]));
  assert.deepEqual(unknown, []);
});

test("a run says the same: problem, remedy, line and column", () => {
  for (const kernel of Object.values(mistakes) as readonly Kernel[]) {
    const told = problems.find(({ what }) => what === `kernel "${kernel.name}"`)!;
    assert.throws(
      () => compileKernel(kernel),
      (error: KernelError) => {
        const { problem, remedy, location } = error;
        const { problem: own, remedy: ownRemedy, ...place } = told;
        assert.deepEqual(
          { problem, remedy, line: location.line, column: location.column },
          { problem: own, remedy: ownRemedy, line: place.line, column: place.column },
        );
        return true;
      },
    );
  }
});
