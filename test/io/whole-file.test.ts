import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeStale, writeWhole } from "../../src/io/index.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-whole-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "file");

test("a file is replaced once all of it is written, with its mode, and nothing else stays", async () => {
  writeFileSync(path, "old", { mode: 0o600 });
  await writeWhole(path, ["new", Uint8Array.of(33)], async () => assert.equal(readFileSync(path, "utf8"), "old"));
  assert.equal(readFileSync(path, "utf8"), "new!");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  async function* broken() {
    yield "half";
    throw new Error("it stops here");
  }
  await assert.rejects(writeWhole(path, broken()), /it stops here/);
  assert.deepEqual([readFileSync(path, "utf8"), readdirSync(folder)], ["new!", ["file"]]);
  await assert.rejects(writeWhole(join(folder, "no", "file"), ["x"]), /ENOENT/);
});

test("a device is written to, not replaced", { skip: existsSync("/dev/full") ? false : "there is no /dev/full" }, async () => {
  await assert.rejects(writeWhole("/dev/full", ["x"]), /ENOSPC/);
  assert.ok(statSync("/dev/full").isCharacterDevice());
});

test("what ended processes have left goes, and nothing else", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const host = hostname()
    .replace(/[^\w-]/g, "_")
    .slice(0, 40);
  const left = `.file.${host}.${pid}.0123456789abcdef.tmp`;
  const others = [
    `.file.${host}.${process.pid}.0123456789abcdef.tmp`,
    `.file.elsewhere.${pid}.0123456789abcdef.tmp`,
    `.other.${host}.${pid}.0123456789abcdef.tmp`,
    `.file.${host}.${pid}.tmp`,
    `file.${pid}.tmp`,
  ];
  for (const name of [left, ...others]) writeFileSync(join(folder, name), "");
  await removeStale(path);
  assert.deepEqual(readdirSync(folder).sort(), [...others, "file"].sort());
});
