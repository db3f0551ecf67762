import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { cachedBinary, cacheFolder, keepSource, recall } from "../../src/device/cache.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-cache-"));
test.after(() => rmSync(folder, { recursive: true }));

test("what was made once is found again, and only for the same parts", () => {
  let made = 0;
  const make = () => Uint8Array.of(++made, 2, 3);
  assert.deepEqual([...cachedBinary("cubin", ["a", "bc"], make, folder)], [1, 2, 3]);
  assert.deepEqual([...cachedBinary("cubin", ["a", "bc"], make, folder)], [1, 2, 3]);
  assert.deepEqual([...cachedBinary("cubin", ["ab", "c"], make, folder)], [2, 2, 3]);
  assert.deepEqual(
    readdirSync(folder).map((name) => name.replace(/^[0-9a-f]{40}/, "hash")),
    ["hash.cubin", "hash.cubin"],
  );
});

test("a file cut short by a full disk is made anew", () => {
  const parts = ["short"];
  cachedBinary("cubin", parts, () => Uint8Array.of(1), folder);
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "");
  assert.deepEqual([...cachedBinary("cubin", parts, () => Uint8Array.of(9), folder)], [9]);
});

test("a folder that cannot be written costs nothing but time", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.deepEqual([...cachedBinary("cubin", ["x"], () => Uint8Array.of(4), file)], [4]);
});

test("sources are kept where a folder is named", () => {
  keepSource("my kernel", "void f() {}\n", "strict", "c", join(folder, "kept"));
  const [name] = readdirSync(join(folder, "kept"));
  assert.match(name, /^my_kernel-strict-[0-9a-f]{8}\.c$/);
  assert.equal(readFileSync(join(folder, "kept", name), "utf8"), "void f() {}\n");
});

test("the folder is the user's cache", () => {
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "/cache" }), "/cache/isoform");
  assert.match(cacheFolder({}), /\.cache\/isoform$/);
});

test("what is recalled has memory of its own", () => {
  for (const part of ["a", "b"]) cachedBinary("clbin", [part], () => Uint8Array.of(part.charCodeAt(0)), folder);
  for (const part of ["a", "b"])
    assert.deepEqual(new Uint8Array(recall("clbin", [part], folder)!.buffer), Uint8Array.of(part.charCodeAt(0)));
});
