import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ContainerError, KernelError } from "../../../src/base/errors.js";

/** Asserts that a container is refused, at its place in the author's file. */
export function refused(declare: () => unknown, at: string, problem: RegExp, remedy: RegExp): void {
  try {
    declare();
  } catch (error) {
    assert.ok(error instanceof ContainerError && error instanceof KernelError, `${error}`);
    assert.match(error.problem, problem);
    assert.match(error.remedy ?? "", remedy);
    const { file, line, column } = error.location;
    assert.match(file, /\.test\.ts$/);
    const text = readFileSync(file, "utf8")
      .split("\n")
      [line - 1].slice(column - 1);
    assert.ok(text.trimStart().startsWith(at), `it points at ${text}`);
    assert.match(error.message, /^container "k", /);
    assert.ok(error.stack!.startsWith("ContainerError: "), "the stack begins with the name");
    return;
  }
  assert.fail("the container is accepted");
}
