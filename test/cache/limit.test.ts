import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { recall, remember } from "../../src/cache/cache.js";
import { noteWritten } from "../../src/cache/limit.js";

const top = mkdtempSync(join(tmpdir(), "isoform-limit-"));
after(() => {
  delete process.env.ISOFORM_CACHE_MIB;
  rmSync(top, { recursive: true });
});
const newFolder = () => join(mkdtempSync(join(top, "x-")), "isoform");
const MIB = 1 << 20;
const setAge = (path: string, seconds: number): void => {
  const then = Date.now() / 1e3 - seconds;
  utimesSync(path, then, then);
};

let looks = 0;
/** Makes the cache look at a folder that may have this many bytes, as a process does at its first write. */
function prune(folder: string, limit: number): void {
  process.env.ISOFORM_CACHE_MIB = String(limit / MIB);
  rmSync(join(folder, ".looked"), { force: true });
  // Each name of a folder is as good as a process of its own.
  noteWritten(`${folder}${"/.".repeat(++looks)}`, 1);
}

/** Files of 256 KiB, the first used last. */
function filled(folder: string, count: number, step = 1000): string[] {
  delete process.env.ISOFORM_CACHE_MIB;
  return Array.from({ length: count }, (_, n) => {
    const path = remember("so", [`${n}`], new Uint8Array(MIB / 4).fill(n + 1), folder)!;
    setAge(path, (n + 1) * step);
    return path;
  });
}

test("what was used last stays, with its digest; the rest goes", () => {
  const folder = newFolder();
  const paths = filled(folder, 12);
  writeFileSync(join(folder, "notes"), "");
  // A use makes the oldest the youngest.
  assert.ok(recall("so", ["11"], folder));
  prune(folder, 2 * MIB);
  const left = paths.flatMap((path, n) => (existsSync(path) ? [n] : []));
  assert.deepEqual(left, [0, 1, 2, 3, 11]);
  for (const path of paths) assert.equal(existsSync(`${path}.sha256`), existsSync(path));
  assert.ok(existsSync(join(folder, "notes")));
  for (const n of left) assert.equal(recall("so", [`${n}`], folder)!.length, MIB / 4);
});

test("nothing goes from a cache within its limit, nor what was used within a minute", () => {
  const folder = newFolder();
  filled(folder, 12);
  prune(folder, 4 * MIB);
  assert.equal(readdirSync(folder).filter((name) => name.endsWith(".so")).length, 12);
  const busy = newFolder();
  filled(busy, 12, 1);
  prune(busy, MIB);
  assert.equal(readdirSync(busy).filter((name) => name.endsWith(".so")).length, 12);
});

test("what a process left half written goes after an hour", () => {
  const folder = newFolder();
  mkdirSync(folder, { mode: 0o700 });
  const [old, young, folderOfParts] = [".0123.partial", ".4567.partial", ".89ab.partial"].map((name) => join(folder, name));
  const orphan = join(folder, `${"0".repeat(40)}.so.sha256`);
  for (const path of [old, young, orphan]) writeFileSync(path, "");
  mkdirSync(folderOfParts);
  writeFileSync(join(folderOfParts, "part"), "");
  for (const path of [old, orphan, folderOfParts]) setAge(path, 4000);
  prune(folder, MIB);
  assert.deepEqual(
    [old, young, orphan, folderOfParts].map((path) => existsSync(path)),
    [false, true, false, false],
  );
});

test("the cache looks after itself while it is written to", () => {
  process.env.ISOFORM_CACHE_MIB = "1";
  const folder = newFolder();
  for (let n = 0; n < 40; n++) setAge(remember("so", [`${n}`], new Uint8Array(MIB / 8).fill(1), folder)!, 1000 - n);
  const files = readdirSync(folder).filter((name) => name.endsWith(".so"));
  assert.ok(files.length <= 9 && files.length >= 5, `${files.length} files`);
  assert.ok(recall("so", ["39"], folder));
  assert.equal(recall("so", ["0"], folder), undefined);
});

test("another process looks once a day", () => {
  process.env.ISOFORM_CACHE_MIB = "1";
  const folder = newFolder();
  mkdirSync(folder, { mode: 0o700 });
  const old = join(folder, `${"1".repeat(40)}.so`);
  for (const [age, stays] of [
    [100, true],
    [90_000, false],
  ] as const) {
    writeFileSync(old, new Uint8Array(2 * MIB));
    setAge(old, 5000);
    const marker = join(folder, ".looked");
    writeFileSync(marker, "");
    setAge(marker, age);
    // Each name of a folder is as good as a process of its own.
    remember("so", ["x"], Uint8Array.of(1), `${folder}${"/.".repeat(stays ? 1 : 2)}`);
    assert.equal(existsSync(old), stays);
  }
});

test("the limit is a number of MiB, and holds 3 MiB where none is named", () => {
  const folder = newFolder();
  filled(folder, 12);
  for (const wish of [undefined, ""]) {
    if (wish === undefined) delete process.env.ISOFORM_CACHE_MIB;
    else process.env.ISOFORM_CACHE_MIB = wish;
    noteWritten(folder, 500 * MIB);
    assert.equal(readdirSync(folder).filter((name) => name.endsWith(".so")).length, 12);
  }
  for (const wish of ["0", "-1", "much", "1.5", "NaN"]) {
    process.env.ISOFORM_CACHE_MIB = wish;
    assert.throws(() => noteWritten(folder, 1), {
      name: "IsoformError",
      message: `ISOFORM_CACHE_MIB is "${wish}": it needs a whole number from 1`,
    });
  }
});
