import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import { f32, f64, i32, kernel, open, range, scatter, sum, teamKernel, teams, view, type Device } from "../../../src/index.js";
import { lastLevelCache } from "../../../src/device/native/cache-size.js";
import { compileLibrary, findCompiler } from "../../../src/device/native/compiler.js";
import { backend } from "../../../src/device/native/native.js";

const { missing } = await backend.probe();
const skip = missing && `${missing.reason}; ${missing.remedy}`;

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

const untested = (): void => undefined;

/** Sets environment variables back to what they were. */
function restore(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

describe("native", { skip }, () => {
  let device: Device;
  let folder: string;
  const kept = { XDG_CACHE_HOME: process.env.XDG_CACHE_HOME, ISOFORM_THREADS: process.env.ISOFORM_THREADS };
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
    process.env.XDG_CACHE_HOME = folder;
    process.env.ISOFORM_THREADS = "3";
    device = await open("native");
  });
  after(async () => {
    await device.close();
    restore(kept);
    rmSync(folder, { recursive: true });
  });

  test("runs on memory that it shares with js, without a copy", async () => {
    const js = await open("js");
    const n = 100000;
    const x = js.from(
      f64,
      Float64Array.from({ length: n }, (_, i) => i),
    );
    const y = device.from(f64, new Float64Array(n).fill(1));
    await device.run(axpy, { a: 2, x, y }, range(n));
    await js.run(axpy, { a: -1, x, y }, range(n));
    assert.deepEqual((await device.queue.read(y)).slice(0, 4), Float64Array.of(1, 2, 3, 4));
    await js.close();
  });

  test("finds a compiled kernel in the cache again", () => {
    const compiler = findCompiler()!;
    const source = "void nothing(void *args) { (void)args; }\n";
    const first = compileLibrary(compiler, "nothing", source, "strict", untested);
    const again = compileLibrary(compiler, "nothing", source, "strict", untested);
    assert.equal(again, first);
    assert.ok(first.startsWith(folder));
    assert.notEqual(compileLibrary(compiler, "nothing", source, "fast", untested), first);
    assert.deepEqual(
      readdirSync(join(folder, "isoform")).filter((name) => !/^[0-9a-f]{40}\.so(\.sha256)?$|^\.looked$/.test(name)),
      [],
    );
  });

  test("tells the kernel's name and the compiler's words where C does not compile", () => {
    assert.throws(() => compileLibrary(findCompiler()!, "broken", "int f( {\n", "strict", untested), {
      name: "DeviceError",
      message: /could not compile kernel "broken":[\s\S]*kernel\.c:1:[\s\S]*ISOFORM_KEEP/,
    });
  });

  test("keeps the source where ISOFORM_KEEP says", () => {
    const keep = join(folder, "kept");
    process.env.ISOFORM_KEEP = keep;
    try {
      const x = device.array(f64, 10);
      const launch = device.prepare(axpy, { a: 1, x, y: device.array(f64, 10) }, range(10));
      const [name] = readdirSync(keep);
      assert.match(name, /^axpy-fast-[0-9a-f]{8}\.c$/);
      assert.equal(readFileSync(join(keep, name), "utf8"), launch.source());
    } finally {
      delete process.env.ISOFORM_KEEP;
    }
  });

  for (const [title, type, offset] of [
    ["aligned f64", f64, 0],
    ["f64 from the third element", f64, 3],
    ["f32 from the fifth element", f32, 5],
  ] as const)
    test(`streamed stores write what plain ones do: ${title}`, async () => {
      const shifted = kernel("shifted", { x: view(type, 2), y: view(type, 2) }, ({ x, y }, i, j) => {
        y[i][j] = x[i][j - 1] * 2 + j;
      });
      const [rows, columns] = [41, 1001 + 32];
      const x = device.from(
        type,
        Float64Array.from({ length: rows * columns }, (_, i) => i % 1000),
        [rows, columns],
      );
      const window = [
        [0, rows],
        [offset, offset + 1001],
      ] as const;
      const run = async (mode: string) => {
        process.env.ISOFORM_STREAMING = mode;
        const y = device.array(type, [rows, columns]);
        const launch = device.prepare(shifted, { x: x.slice(...window), y: y.slice(...window) }, range([1, rows], [1, 1001]), {
          precision: "strict",
        });
        assert.match(launch.remarks.join("\n"), mode === "always" ? /stores to "y": non-temporal/ : /through the caches/);
        device.queue.submit(launch);
        return device.queue.read(y);
      };
      try {
        assert.deepEqual(await run("always"), await run("never"));
      } finally {
        delete process.env.ISOFORM_STREAMING;
      }
    });

  test("nests the loops over left layouts with the contiguous axis innermost", async () => {
    const outer = kernel("outer", { x: view(f64, 3), y: view(f64, 3) }, ({ x, y }, i, j, k) => {
      y[i][j][k] = x[i][j][k] * 100 + 10 * i + j;
    });
    const shape = [37, 70, 41] as const;
    const run = async (layout: "left" | "right", mode: string) => {
      process.env.ISOFORM_STREAMING = mode;
      const x = device.from(
        f64,
        Float64Array.from({ length: 37 * 70 * 41 }, (_, n) => n % 17),
        shape,
        { layout },
      );
      const y = device.array(f64, shape, { layout });
      const launch = device.prepare(outer, { x, y }, range(...shape));
      device.queue.submit(launch);
      const order = launch.remarks.find((d) => d.startsWith("loops"));
      assert.equal(order, layout === "left" ? "loops: axes 2, 1, 0 from outermost to innermost, by the views' strides" : undefined);
      return device.queue.read(y);
    };
    try {
      const expected = await run("right", "never");
      assert.deepEqual(await run("left", "never"), expected);
      assert.deepEqual(await run("left", "always"), expected);
    } finally {
      delete process.env.ISOFORM_STREAMING;
    }
  });

  test("small launches take one thread, large ones all", () => {
    const decided = (n: number) => {
      const x = device.array(f64, n);
      return device.prepare(axpy, { a: 1, x, y: device.array(f64, n) }, range(n)).remarks;
    };
    assert.ok(decided(100).includes("threads: 1"));
    assert.ok(decided(100000).includes("threads: 3"));
  });

  test("scatters alike by each strategy, and again on the same launch", async () => {
    const count = kernel("count", { x: view(i32), h: scatter(i32, 1, "max"), s: scatter(f64) }, ({ x, h, s }, i) => {
      h.max(x[i], i);
      s.add(x[i], 1);
    });
    const n = 50000;
    const x = device.from(
      i32,
      Int32Array.from({ length: n }, (_, i) => (i * 7919) % 101),
    );
    const run = async (strategy: "sorted" | "duplicated" | "atomic") => {
      const [h, s] = [device.array(i32, 101), device.array(f64, 101)];
      const launch = device.prepare(count, { x, h, s }, range(n), { precision: "fast", scatter: strategy });
      assert.match(launch.remarks.join("\n"), new RegExp(`scatter "h": ${strategy}`));
      device.queue.submit(launch);
      device.queue.submit(launch);
      const results = [await device.queue.read(h), await device.queue.read(s)];
      launch.free();
      return results;
    };
    const expected = await run("sorted");
    assert.equal(
      Array.from(expected[1]).reduce((a, b) => a + b, 0),
      2 * n,
    );
    assert.deepEqual(await run("duplicated"), expected);
    assert.deepEqual(await run("atomic"), expected);
  });

  test("refuses arrays that a thread's stack cannot hold", () => {
    const wide = teamKernel("wide", { o: view(f64) }, ({ o }, team) => {
      const s = team.scratch("f64", 1000000);
      team.range(1000000, (j) => {
        s[j] = j;
      });
      team.single(() => {
        o[team.index] = s[999999];
      });
    });
    assert.throws(() => device.prepare(wide, { o: device.array(f64, 1) }, teams(1)), {
      name: "DeviceError",
      message: /kernel "wide".*MiB, too much for a thread's stack/,
    });
  });

  test("a reduction over more partials than one chunk", async () => {
    const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => {
      s.add(x[i]);
    });
    const n = 256 * 300 + 17;
    const x = device.from(f64, new Float64Array(n).fill(0.5));
    assert.deepEqual(await device.run(total, { x }, range(n)), { s: n / 2 });
  });
});

test("a compiler without OpenMP gives one thread", { skip: skip || process.platform === "win32" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
  const wrapper = join(folder, "cc-alone");
  const { command } = findCompiler()!;
  writeFileSync(
    wrapper,
    `#!/bin/sh\ncase "$*" in *-fopenmp*) echo "unsupported option -fopenmp" >&2; exit 1;; esac\nexec ${command} "$@"\n`,
    { mode: 0o755 },
  );
  const { CC, PATH, XDG_CACHE_HOME } = process.env;
  // CC is divided at spaces, which the folder may have.
  Object.assign(process.env, { CC: "cc-alone", PATH: `${folder}:${PATH}`, XDG_CACHE_HOME: folder });
  try {
    const device = await open("native");
    const n = 100000;
    const y = device.array(f64, n);
    const launch = device.prepare(axpy, { a: 2, x: device.from(f64, new Float64Array(n).fill(1)), y }, range(n));
    device.queue.submit(launch);
    assert.ok(launch.remarks.includes("threads: 1"));
    assert.deepEqual(await device.queue.read(y), new Float64Array(n).fill(2));
    await device.close();
  } finally {
    restore({ CC, PATH, XDG_CACHE_HOME });
    rmSync(folder, { recursive: true });
  }
});

test("a compiler that is missing is reported with the reason and a remedy", { skip: process.platform === "win32" }, async () => {
  const { PATH, CC } = process.env;
  process.env.PATH = "/nonexistent";
  process.env.CC = "no-such-compiler";
  try {
    assert.match((await backend.probe()).missing?.reason ?? "", /^CC is "no-such-compiler", which does not answer to --version$/);
    await assert.rejects(open("native"), {
      name: "DeviceError",
      message: /CC is "no-such-compiler".*name a C compiler in CC, or leave CC out/,
    });
  } finally {
    restore({ PATH, CC });
  }
});

test("the largest cache is found, or a default is taken", () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
  assert.equal(lastLevelCache(join(folder, "none")), 32 << 20);
  assert.ok(lastLevelCache() >= 1 << 18);
  writeFileSync(join(folder, "index0"), "");
  assert.equal(lastLevelCache(folder), 32 << 20);
  rmSync(folder, { recursive: true });
});
