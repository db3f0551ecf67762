import assert from "node:assert/strict";
import { test } from "node:test";
import { clearProgress, progress } from "../../src/cli/progress.js";

/** Collects what is written to standard error as if it were a terminal. */
function onTerminal(run: () => void): string[] {
  const { stderr } = process;
  const [write, isTTY] = [stderr.write, stderr.isTTY];
  const written: string[] = [];
  stderr.isTTY = true;
  stderr.write = ((text: string) => written.push(text) > 0) as typeof stderr.write;
  try {
    run();
  } finally {
    [stderr.write, stderr.isTTY] = [write, isTTY];
  }
  return written;
}

const CLEAR = "\r\x1b[2K";

test("a bar is cleared once, by its end or by an error that ends the command", () => {
  const written = onTerminal(() => {
    clearProgress();
    const task = progress("gsr");
    task.update(1, 2);
    clearProgress();
    clearProgress();
    task.done();
    const another = progress("lbm");
    another.update(1, 4, "steps");
    another.done();
    clearProgress();
  });
  assert.deepEqual(written, [
    `gsr ${"█".repeat(12)}${"░".repeat(12)} 50% `,
    CLEAR,
    `lbm ${"█".repeat(6)}${"░".repeat(18)} 25% steps`,
    CLEAR,
  ]);
});
