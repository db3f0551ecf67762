import assert from "node:assert/strict";
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { cachedBinary, discard, cacheName, recall, recallPath, remember } from "../../src/cache/cache.js";
import { cacheFolder } from "../../src/cache/folder.js";
import { keepSource } from "../../src/cache/keep-source.js";
import { damage, DAMAGES, numbers } from "./damage.js";

const top = mkdtempSync(join(tmpdir(), "isoform-cache-"));
after(() => rmSync(top, { recursive: true }));
const newFolder = () => join(mkdtempSync(join(top, "x-")), "isoform");
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Takes all code. */
const asIs = (code: Uint8Array): Uint8Array => code;

test("what was made once is found again, and only for the same parts", () => {
  const folder = newFolder();
  let made = 0;
  const make = () => Uint8Array.of(++made, 2, 3);
  assert.deepEqual([...cachedBinary("cubin", ["a", "bc"], make, asIs, folder)], [1, 2, 3]);
  assert.deepEqual([...cachedBinary("cubin", ["a", "bc"], make, asIs, folder)], [1, 2, 3]);
  assert.deepEqual([...cachedBinary("cubin", ["ab", "c"], make, asIs, folder)], [2, 2, 3]);
  const file = recallPath("cubin", ["a", "bc"], folder)!;
  assert.deepEqual([...readFileSync(file)], [1, 2, 3]);
  assert.match(readFileSync(`${file}.sha256`, "latin1"), /^[0-9a-f]{64}  [0-9a-f]{40}\.cubin\n$/);
  assert.equal(recallPath("cubin", ["abc"], folder), undefined);
});

test("code is kept once it has been loaded, and what does not load any more is made anew", () => {
  const folder = newFolder();
  const GARBAGE = Uint8Array.of(0);
  const load = (code: Uint8Array): string => {
    if (code[0] === 0) throw new Error("no code");
    return `code ${code[0]}`;
  };
  assert.throws(() => cachedBinary("cubin", ["a"], () => GARBAGE, load, folder), /no code/);
  assert.equal(recall("cubin", ["a"], folder), undefined);
  assert.equal(
    cachedBinary("cubin", ["a"], () => Uint8Array.of(7), load, folder),
    "code 7",
  );
  // As versions before this one kept it.
  remember("cubin", ["b"], GARBAGE, folder);
  for (const _ of [1, 2])
    assert.equal(
      cachedBinary("cubin", ["b"], () => Uint8Array.of(8), load, folder),
      "code 8",
    );
  assert.deepEqual([...recall("cubin", ["b"], folder)!], [8]);
});

test("only files of the cache are discarded", () => {
  const folder = newFolder();
  const file = remember("so", ["a"], Uint8Array.of(1), folder)!;
  const [notes, elsewhere] = [join(folder, "notes"), join(top, basename(file))];
  for (const path of [notes, elsewhere]) writeFileSync(path, "");
  for (const path of [file, notes, elsewhere]) discard(path, folder);
  assert.deepEqual(
    [file, `${file}.sha256`, notes, elsewhere].map((path) => existsSync(path)),
    [false, false, true, true],
  );
});

test("a folder that cannot be written costs nothing but time", () => {
  const file = join(top, "file");
  writeFileSync(file, "");
  for (const folder of [file, join(file, "below"), "/proc/isoform"])
    assert.deepEqual([...cachedBinary("cubin", ["x"], () => Uint8Array.of(4), asIs, folder)], [4]);
  // What others may write to, as files are with some masks, is left as it is, too.
  for (const mode of [0o644, 0o666]) {
    chmodSync(file, mode);
    assert.deepEqual([...cachedBinary("cubin", ["x"], () => Uint8Array.of(4), asIs, file)], [4]);
    assert.equal(modeOf(file), mode.toString(8));
  }
});

test("the folder is the user's cache", () => {
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "/cache" }), "/cache/isoform");
  assert.equal(cacheFolder({ HOME: "/home/me" }), "/home/me/.cache/isoform");
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "relative", HOME: "/home/me" }), "/home/me/.cache/isoform");
});

test("what is recalled has memory of its own", () => {
  const folder = newFolder();
  for (const part of ["a", "b"]) cachedBinary("clbin", [part], () => Uint8Array.of(part.charCodeAt(0)), asIs, folder);
  for (const part of ["a", "b"])
    assert.deepEqual(new Uint8Array(recall("clbin", [part], folder)!.buffer), Uint8Array.of(part.charCodeAt(0)));
});

describe("what was damaged is made anew", () => {
  const pick = numbers(1);
  for (const [kind, bytes] of [
    ["cubin", 20000],
    ["hsaco", 5000],
    ["clbin", 9000],
    ["tuning-3", 90],
  ] as const)
    test(`${kind}: 200 trials`, () => {
      const folder = newFolder();
      const contents = ["one", "two", "three"].map((part, n) => ({
        part,
        data: Uint8Array.from({ length: bytes }, (_, i) => i * (n + 1)),
      }));
      for (let trial = 0; trial < 200; trial++) {
        let made = 0;
        const ask = () => {
          for (const { part, data } of contents)
            assert.deepEqual(
              cachedBinary(kind, [part], () => (made++, data), asIs, folder),
              data,
              `trial ${trial}`,
            );
        };
        ask();
        const before = made;
        const what = damage(folder, trial, pick);
        ask();
        assert.ok(made > before, `${what} was not noticed`);
        assert.ok(trial > 0 || before === 3);
        assert.ok(trial === 0 || before === 0, `before ${what}, ${before} were made anew: the last damage was not put right`);
      }
    });
  test("there are ways enough", () => assert.ok(DAMAGES.length >= 16));
});

test("files and folder are the user's alone, whatever umask says", (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const folder = newFolder();
  const file = remember("so", ["x"], Uint8Array.of(1), folder)!;
  assert.deepEqual([folder, file, `${file}.sha256`].map(modeOf), ["700", "600", "600"]);
});

test("a folder that others could read is closed, one that they could write to is emptied", () => {
  const folder = newFolder();
  const file = remember("so", ["x"], Uint8Array.of(1), folder)!;
  chmodSync(folder, 0o755);
  assert.equal(recallPath("so", ["x"], folder), file);
  assert.equal(modeOf(folder), "700");
  for (const mode of [0o777, 0o770, 0o702]) {
    remember("so", ["x"], Uint8Array.of(1), folder);
    writeFileSync(join(folder, "notes"), "");
    chmodSync(folder, mode);
    assert.equal(recallPath("so", ["x"], folder), undefined, `mode ${mode.toString(8)}`);
    assert.equal(modeOf(folder), "700");
    assert.deepEqual(
      readdirSync(folder).filter((name) => name !== ".looked"),
      ["notes"],
    );
  }
});

describe("folders of another user", { skip: process.geteuid?.() !== 0 && "only root can give a folder away" }, () => {
  const OTHER = 54321;
  const parts = ["x"];
  const all = (folder: string) => [
    () => recall("so", parts, folder),
    () => recallPath("so", parts, folder),
    () => remember("so", parts, Uint8Array.of(1), folder),
    () => cachedBinary("so", parts, () => Uint8Array.of(1), asIs, folder),
  ];
  const refusal = {
    name: "IsoformError",
    message: /^the cache folder \/.*\/isoform belongs to user 54321, not to user 0 .*XDG_CACHE_HOME$/,
  };

  for (const mode of [0o700, 0o755, 0o777])
    test(`are refused with mode ${mode.toString(8)}`, () => {
      const folder = newFolder();
      remember("so", parts, Uint8Array.of(1), folder);
      chownSync(folder, OTHER, OTHER);
      chmodSync(folder, mode);
      const before = readdirSync(folder);
      for (const call of all(folder)) assert.throws(call, refusal);
      assert.deepEqual(readdirSync(folder), before);
      assert.equal(modeOf(folder), mode.toString(8));
    });

  test("are refused behind a link, and so is another user's link", () => {
    const [theirs, mine] = [newFolder(), newFolder()];
    mkdirSync(theirs);
    chownSync(theirs, OTHER, OTHER);
    symlinkSync(theirs, mine);
    for (const call of all(mine)) assert.throws(call, refusal);
    const link = newFolder();
    symlinkSync(join(top), link);
    lchownSync(link, OTHER, OTHER);
    for (const call of all(link)) assert.throws(call, refusal);
  });
});

test("a link of the user's own to another folder is followed", () => {
  const [real, link] = [newFolder(), newFolder()];
  mkdirSync(real, { mode: 0o700 });
  symlinkSync(real, link);
  assert.deepEqual([...cachedBinary("so", ["x"], () => Uint8Array.of(7), asIs, link)], [7]);
  assert.deepEqual([...recall("so", ["x"], real)!], [7]);
});

test("writing follows no link, neither under the final name nor under one that could be guessed", () => {
  const folder = newFolder();
  mkdirSync(folder, { mode: 0o700 });
  const victim = join(top, "victim");
  writeFileSync(victim, "mine");
  const name = cacheName("so", ["x"]);
  for (const planted of [name, `${name}.sha256`, `${name}.${process.pid}`, `${name}.tmp`, `${name}.partial`])
    symlinkSync(victim, join(folder, planted));
  assert.equal(recall("so", ["x"], folder), undefined);
  remember("so", ["x"], Uint8Array.of(1, 2), folder);
  assert.equal(readFileSync(victim, "utf8"), "mine");
  assert.deepEqual([...recall("so", ["x"], folder)!], [1, 2]);
});

for (const code of ["ENOSPC", "EIO", "EDQUOT"])
  test(`a write that fails with ${code} costs the cache, not the result, and leaves nothing`, (t) => {
    const folder = newFolder();
    mkdirSync(folder, { mode: 0o700 });
    let calls = 0;
    // The digest, then the file itself.
    for (const works of [0, 1]) {
      const { writeFileSync: real } = fs;
      calls = 0;
      fs.writeFileSync = ((...args: Parameters<typeof real>) => {
        if (calls++ < works) return real(...args);
        throw Object.assign(new Error(`${code}: no space left`), { code });
      }) as typeof real;
      syncBuiltinESMExports();
      t.after(() => {
        fs.writeFileSync = real;
        syncBuiltinESMExports();
      });
      assert.deepEqual([...cachedBinary("so", ["x"], () => Uint8Array.of(5), asIs, folder)], [5]);
      fs.writeFileSync = real;
      syncBuiltinESMExports();
      assert.ok(calls > works);
      assert.deepEqual(readdirSync(folder), []);
    }
    assert.deepEqual([...cachedBinary("so", ["x"], () => Uint8Array.of(6), asIs, folder)], [6]);
  });

test("sources are kept where a folder is named", () => {
  const folder = join(top, "kept");
  keepSource("my kernel", "void f() {}\n", "strict", "c", folder);
  const [name] = readdirSync(folder);
  assert.match(name, /^my_kernel-strict-[0-9a-f]{8}\.c$/);
  assert.equal(readFileSync(join(folder, name), "utf8"), "void f() {}\n");
  keepSource("k".repeat(300), "", "strict", "c", folder);
  writeFileSync(join(top, "no-folder"), "");
  assert.throws(() => keepSource("k", "", "strict", "c", join(top, "no-folder")), {
    name: "IsoformError",
    message: /^ISOFORM_KEEP is ".*no-folder", where /,
  });
});
