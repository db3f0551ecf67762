import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("a field of 512 MiB is filled, searched, written and restored in 256 MiB beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
  try {
    const program = fileURLToPath(new URL("large-field.js", import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, folder, "1024"], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const { beyond, last, found } = JSON.parse(stdout) as { beyond: number; last: number; found: boolean };
    assert.deepEqual([last, found], [255 + 2 * 255 + 3 * 1023, false]);
    assert.ok(statSync(join(folder, "image.vti")).size > 2 ** 29);
    assert.ok(beyond < 2 ** 28, `${(beyond / 2 ** 20).toFixed()} MiB`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
