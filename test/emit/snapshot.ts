import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The file of the source tree that belongs to a compiled test: `dist/test/x.js` runs, `test/...` is kept. */
const inSource = (path: string) => fileURLToPath(new URL(`../../../test/${path}`, import.meta.url));

/** Compares text with a file under test/; UPDATE_SNAPSHOTS=1 writes it, so that the change shows in the diff. */
export function matchesSnapshot(path: string, text: string): void {
  const file = inSource(path);
  if (process.env.UPDATE_SNAPSHOTS) writeFileSync(file, text);
  assert.ok(existsSync(file), `${file} is missing; UPDATE_SNAPSHOTS=1 writes it`);
  assert.equal(text, readFileSync(file, "utf8"));
}
