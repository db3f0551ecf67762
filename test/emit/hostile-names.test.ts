import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { TARGETS } from "../../src/emit/standalone/index.js";
import { commentText, keyText, stringText } from "../../src/emit/text.js";
import { Names } from "../../src/base/names.js";
import { f32, f64, i32, kernel, open, range, view } from "../../src/index.js";
import { KernelBuilder } from "../../src/ir/builder.js";
import { add, extent, index, load, mul, sub } from "../../src/ir/expressions.js";
import { kernelFromIR } from "../../src/ir-api.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { NODE_DEVICES } from "../devices.js";
import { hostileNames, kernelOf, kernelsOf, requestOf } from "./hostile.js";
import { cudaSource, openclSource } from "./sources.js";

const SIZE = 24;
const COUNT = 240;

/** The code without its comments, with `#` in place of the kernel's own names. */
function skeletonOf(text: string): string {
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\*[^]*?\*\/|(?:\/\/|;;)[^\n\r\u2028\u2029]*/g, (part) => (part.startsWith('"') ? '""' : ""))
    .replace(/\s+/g, " ")
    .replace(/(?<=[{,] )(?:[A-Za-z_$][\w$]*|\[?""\]?): /g, "key: ")
    .replace(/[A-Za-z]\w*_(?:kernel|launch|allocate|compile|load|build)(?:_[a-z]+)?\b/g, "#")
    .replace(/[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*_(?![A-Za-z0-9])/g, "#");
}

describe("hostile names", () => {
  const names = hostileNames(COUNT);
  const kernels = kernelsOf(names, SIZE);
  const plain = kernelOf(Array.from({ length: SIZE }, (_, n) => `name${n}q`));

  for (const [target, emit] of Object.entries(TARGETS))
    it(`leave the code for ${target} as it is with others`, () => {
      for (const precision of ["strict", "fast"] as const) {
        const expected = emit(requestOf(plain.ir, precision)).map(({ text }) => skeletonOf(text));
        for (const { ir } of kernels) {
          const files = emit(requestOf(ir, precision));
          files.forEach(({ name, text }, n) => {
            assert.match(name, /^[A-Za-z]\w{0,70}\.[\w.]+$/);
            const found = skeletonOf(text);
            let at = 0;
            while (at < found.length && found[at] === expected[n][at]) at++;
            assert.equal(found.slice(at, at + 80), expected[n].slice(at, at + 80), JSON.stringify([name, ir.name, ir.location.file]));
          });
        }
      }
    });

  for (const name of NODE_DEVICES)
    it(`are none that a backend makes for itself: ${name}`, async () => {
      const device = await open(name);
      for (const local of ["n stop", "index:0", "scalar:n", "stopscalar:n", "n_stop"]) {
        const b = new KernelBuilder("derived");
        const y = b.view("y", "i32");
        const count = b.scalar("count", "i32");
        const kept = b.let(local, add(count, 100));
        b.for("n", 0, count, (n) => b.store(y, index(0), add(kept, n)));
        const results = device.array(i32, 2);
        await device.run(kernelFromIR(b.finish()), { y: results, count: 3 }, range(2));
        assert.deepEqual([...(await device.queue.read(results))], [105, 105], local);
      }
      await device.close();
    });

  for (const name of NODE_DEVICES)
    it(`may have colons in indices and bounds on ${name}`, async () => {
      const device = await open(name);
      const b = new KernelBuilder("colons");
      const y = b.view("y:1", "f64", 1, { disjoint: true });
      const x = b.view("x:0", "f64");
      const first = b.scalar("n:0", "i32");
      b.for("k:2", 0, first, (k) => {
        const at = b.let("at:k", add(k, first));
        b.store(y, add(mul(index(0), 8), k), add(load(x, add(at, index(0))), load(x, sub(extent(x, 0), add(k, 1)))));
      });
      const made = kernelFromIR(b.finish());
      const [from, to] = [
        device.from(
          f64,
          Array.from({ length: 16 }, (_, n) => n),
        ),
        device.array(f64, 16),
      ];
      await device.run(made, { "y:1": to, "x:0": from, "n:0": 7 } as never, range(2));
      const expected = Array.from({ length: 16 }, (_, n) => (n % 8 === 7 ? 0 : (n % 8) + 7 + Math.floor(n / 8) + 15 - (n % 8)));
      assert.deepEqual([...(await device.queue.read(to))], expected);
      assert.throws(() => device.prepare(made, { "y:1": to, "x:0": from, "n:0": 12 } as never, range(2)), /x:0/);
      await device.close();
    });

  for (const name of NODE_DEVICES)
    it(`are those of arguments and results on ${name}`, async () => {
      const device = await open(name);
      for (const { ir, args } of kernels) {
        const [a, x, y, s] = args;
        const [from, to] = [device.from(f32, [1, 2, 3, 4, 5, 6, 7, 8]), device.array(f32, 8)];
        const given = Object.fromEntries([
          [a, 2],
          [x, from],
          [y, to],
        ]);
        const result = (await device.run(kernelFromIR(ir), given, range(8))) as Record<string, number>;
        assert.deepEqual(Object.entries(result), [[s, 8]]);
        // A local adds 1 each, and the table 7.
        const added = 2 + (SIZE - 9) + 7;
        assert.deepEqual(
          [...(await device.queue.read(to))],
          [1, 2, 3, 4, 5, 6, 7, 8].map((n) => n + added),
        );
        from.free();
        to.free();
      }
      await device.close();
    });
});

it("a kernel's name with a newline and a constructor behind it runs nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-name-"));
  const mark = join(folder, "PWN");
  const text = `x\n#include <stdlib.h>\n__attribute__((constructor)) static void go(void){ system("touch ${mark}"); }\n//`;
  const evil = kernel(text, { x: view(f64) }, ({ x }, i) => {
    x[i] = 2 * x[i];
  });
  for (const source of [cudaSource(compileKernel(evil), "fast"), openclSource(compileKernel(evil), "fast")])
    assert.doesNotMatch(source, /^\s*(#include|__attribute__)/m);
  for (const name of ["js", "wasm", "native"]) {
    const device = await open(name).catch(() => undefined);
    if (!device) continue;
    const x = device.from(f64, [1, 2]);
    await device.run(evil, { x }, range(2));
    assert.deepEqual([...(await device.queue.read(x))], [2, 4]);
    await device.close();
  }
  assert.ok(!existsSync(mark));
  rmSync(folder, { recursive: true });
});

describe("foreign text", () => {
  it("ends no comment, begins none, and goes on no line", () => {
    for (const name of hostileNames(2000)) {
      const text = commentText(name);
      assert.doesNotMatch(text, /[\p{C}\p{Zl}\p{Zp}\\]|\*\/|\/\*|\?\?|\(;|;\)/u);
      assert.ok(text.length <= 203);
    }
    assert.equal(commentText("naïve π [2] a*b"), "naïve π [2] a*b");
    assert.equal(commentText("a\nb */ ??/ \u202e"), "a<U+000A>b * / ? ? / <U+202E>");
  });

  it("is the same text again as a string or a property", () => {
    for (const name of hostileNames(2000)) {
      assert.match(stringText(name), /^"[ -~]*"$/);
      assert.equal(new Function(`return ${stringText(name)}`)(), name);
      assert.deepEqual(Object.keys(new Function(`return { ${keyText(name)}: 1 }`)() as object), [name]);
    }
  });

  it("gives identifiers that end in an underscore, each its own", () => {
    const all = new Names();
    const given = hostileNames(2000).map((name) => all.of("local", name));
    assert.equal(new Set(given).size, given.length);
    for (const name of given) assert.match(name, /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*_$/);
  });
});
