import assert from "node:assert/strict";
import fs, { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { askCompiler } from "../../../src/device/native/compiler.js";
import { backend } from "../../../src/device/native/native.js";
import { f64, kernel, open, range, view } from "../../../src/index.js";
import { isoform } from "../../cli/isoform.js";

/* What a machine's tools and disks do wrong gives one clear error, or costs time alone. */

const { missing } = await backend.probe();
const top = mkdtempSync(join(tmpdir(), "isoform-toolchain-"));

/** The name of a program in `top` as CC has it, which is divided at spaces, and folders for temporary files may have them. */
function onPath(name: string): string {
  if (!process.env.PATH!.startsWith(top)) process.env.PATH = `${top}:${process.env.PATH}`;
  return name;
}
const kept = { ...process.env };
const { writeFileSync: write } = fs;

// A compiler that was started beside the tests may still write there.
after(() => rmSync(top, { recursive: true, maxRetries: 10, retryDelay: 100 }));
beforeEach(() => {
  process.env.XDG_CACHE_HOME = mkdtempSync(join(top, "cache-"));
  process.env.TMPDIR = mkdtempSync(join(top, "tmp-"));
});
afterEach(() => {
  for (const name of ["CC", "TMPDIR", "XDG_CACHE_HOME"])
    if (kept[name] === undefined) delete process.env[name];
    else process.env[name] = kept[name];
  fs.writeFileSync = write;
  syncBuiltinESMExports();
});

const triple = kernel("triple", { x: view(f64) }, ({ x }, i) => {
  x[i] = 3 * x[i];
});

/** Runs a kernel on a device that has not seen it. */
async function tripled(): Promise<number[]> {
  const device = await open("native");
  try {
    const x = device.from(f64, [1, 2]);
    await device.run(triple, { x }, range(2));
    return [...(await device.queue.read(x))];
  } finally {
    await device.close();
  }
}

const refused = (message: RegExp) => assert.rejects(tripled, { name: "DeviceError", message });

/** Has writes of files whose path, where it is known, and content `full` says true of fail as on a full disk. */
function fillDisk(full: (path: unknown, data: unknown) => boolean): void {
  fs.writeFileSync = ((...args: Parameters<typeof write>) => {
    if (full(args[0], args[1])) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    write(...args);
  }) as typeof write;
  syncBuiltinESMExports();
}

describe("native", { skip: missing?.reason ?? false }, () => {
  test("a compiler that writes nothing is named", async () => {
    process.env.CC = "/bin/true";
    await refused(/^device "native": \/bin\/true ended without an error, and wrote no library \(name a C compiler in CC, such as gcc\)$/);
  });

  test("a compiler that writes garbage without an error is named, and what it wrote is not kept", async () => {
    const [compiler, bad] = [join(top, "sometimes"), join(top, "bad")];
    const out = 'while [ "$1" != -o ]; do shift; done';
    for (const garbage of ['echo garbage > "$2"', 'echo "int other;" | gcc -shared -x c - -o "$2"']) {
      const script = `#!/bin/sh\n[ "$1" = --version ] && echo "some compiler" && exit\n[ -e "${bad}" ] || exec gcc "$@"\n${out}\n${garbage}\n`;
      writeFileSync(compiler, script, { mode: 0o755 });
      writeFileSync(bad, "");
      process.env.CC = onPath("sometimes");
      await refused(
        /sometimes ended without an error, and wrote a library that does not load: .* \(name a C compiler in CC, such as gcc\)$/,
      );
      assert.deepEqual(
        readdirSync(join(process.env.XDG_CACHE_HOME!, "isoform")).filter((name) => name.endsWith(".so")),
        [],
      );
      rmSync(bad);
      assert.deepEqual(await tripled(), [3, 6]);
      process.env.XDG_CACHE_HOME = mkdtempSync(join(top, "cache-"));
    }
  });

  test("a compiler that is not there, or does not answer, is named", async () => {
    for (const name of ["isoform-has-no-such-compiler --fast", "/", "/bin/false", " "]) {
      process.env.CC = name;
      await refused(/^device "native": CC is ".*", which does not answer to --version \(name a C compiler in CC, or leave CC out\)$/);
    }
    assert.equal(askCompiler(""), undefined);
  });

  test("a compiler that is killed says by what", async () => {
    const compiler = join(top, "killed");
    writeFileSync(compiler, '#!/bin/sh\n[ "$1" = --version ] && echo some compiler || kill -9 $$\n', { mode: 0o755 });
    process.env.CC = onPath("killed");
    await refused(/could not compile kernel "triple":\nit ended by SIGKILL \(/);
  });

  test("no folder for temporary files", async () => {
    process.env.TMPDIR = "/nonexistent";
    await refused(
      /^device "native": files of the compiler cannot be written: ENOENT: .*\/nonexistent\/.* \(name a folder with space for them in TMPDIR\)$/,
    );
  });

  test("no folder for temporary files where all is compiled", async () => {
    assert.deepEqual(await tripled(), [3, 6]);
    process.env.TMPDIR = "/nonexistent";
    assert.deepEqual(await tripled(), [3, 6]);
  });

  test("a full disk for temporary files", async () => {
    fillDisk((path) => typeof path === "string" && path.startsWith(process.env.TMPDIR!));
    await refused(/files of the compiler cannot be written: ENOSPC: no space left/);
    assert.deepEqual(readdirSync(process.env.TMPDIR!), []);
  });

  test("a cache that cannot be made, written to, or held", async () => {
    process.env.XDG_CACHE_HOME = join(top, "a-file");
    writeFileSync(process.env.XDG_CACHE_HOME, "");
    assert.deepEqual(await tripled(), [3, 6]);
    process.env.XDG_CACHE_HOME = "/proc/nope";
    assert.deepEqual(await tripled(), [3, 6]);
    // One folder for what this process keeps for itself, once what was begun early is compiled.
    for (let look = 0; look < 200 && readdirSync(process.env.TMPDIR!).length !== 1; look++) await setTimeout(50);
    assert.equal(readdirSync(process.env.TMPDIR!).length, 1);
    process.env.XDG_CACHE_HOME = mkdtempSync(join(top, "cache-"));
    // The cache writes to open files.
    fillDisk((path) => typeof path === "number");
    assert.deepEqual(await tripled(), [3, 6]);
    assert.deepEqual(readdirSync(join(process.env.XDG_CACHE_HOME, "isoform")), []);
  });

  test(
    "a library in a folder of another user is refused",
    { skip: process.geteuid?.() !== 0 && "only root can give a folder away" },
    async () => {
      const folder = join(process.env.XDG_CACHE_HOME!, "isoform");
      mkdirSync(folder);
      fs.chownSync(folder, 54321, 54321);
      fs.chmodSync(folder, 0o777);
      await assert.rejects(tripled, { name: "IsoformError", message: /belongs to user 54321, not to user 0/ });
    },
  );

  test("the command prints one line, and no stack", () => {
    for (const [name, value, line] of [
      ["CC", "/bin/true", /wrote no library/],
      ["CC", "isoform-has-no-such-compiler", /does not answer to --version/],
      ["TMPDIR", "/nonexistent", /cannot be written: ENOENT/],
      ["ISOFORM_KEEP", "/proc/nope", /ISOFORM_KEEP is "\/proc\/nope", where sources cannot be written: ENOENT/],
    ] as const) {
      const before = process.env[name];
      process.env[name] = value;
      try {
        const { status, stderr } = isoform(["heat", "--size", "16", "--steps", "1", "--devices", "native"]);
        assert.equal(status, 2, stderr);
        assert.match(stderr, line);
        assert.equal(stderr.trim().split("\n").length, 1, stderr);
      } finally {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      }
    }
  });
});
