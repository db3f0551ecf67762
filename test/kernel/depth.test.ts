import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { TARGETS } from "../../src/emit/standalone/index.js";
import { f32, open, range } from "../../src/index.js";
import { KernelBuilder } from "../../src/ir/builder.js";
import { add, constant, index } from "../../src/ir/expressions.js";
import type { Expr, Stmt } from "../../src/ir/types.js";
import { kernelFromIR } from "../../src/ir-api.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { parseExpressionAt } from "../../src/kernel/read/browser/parser.js";
import { tooDeep } from "../../src/kernel/read/depth.js";
import { NODE_DEVICES } from "../devices.js";
import { requestOf } from "../emit/hostile.js";
import { around, chainOf, CHAINS, kernelOf, longChain, MADE, mostOf, NESTS } from "./nests.js";

describe("a chain of 1,000 terms", () => {
  for (const name of NODE_DEVICES)
    it(`has the bits of a loop on ${name}`, async () => {
      const device = await open(name);
      device.precision = "strict";
      const values = [1.1, -0.37, 1e-3, 3];
      const [x, y] = [device.from(f32, values), device.array(f32, 4)];
      for (const operator of name === "js" ? ["+", "-", "*"] : ["-"]) {
        await device.run(kernelOf(longChain(operator)), { x, y }, range(4));
        const expected = values.map((value) => {
          const v = Math.fround(value);
          let total = v;
          for (let n = 1; n < 1000; n++) total = Math.fround(operator === "+" ? total + v : operator === "-" ? total - v : total * v);
          return total;
        });
        assert.deepEqual([...(await device.queue.read(y))], expected);
      }
      await device.close();
    });
  for (const [target, emit] of Object.entries(TARGETS))
    it(`is written for ${target} in lines that do not nest`, () => {
      const [{ text: code }] = emit(requestOf(compileKernel(kernelOf(longChain("+"))).ir, "strict"));
      if (target !== "wat") assert.ok(Math.max(...code.split("\n").map((line) => line.length)) < 8000);
    });
});

describe("what nests", () => {
  for (const [what, body] of Object.entries(NESTS)) {
    const most = mostOf(what);
    it(`${most} deep is compiled for every target, and runs: ${what}`, async () => {
      const deep = kernelOf(body(most));
      const { ir } = compileKernel(deep);
      for (const emit of Object.values(TARGETS)) emit(requestOf(ir, "strict"));
      for (const name of ["js", "wasm"]) {
        const device = await open(name);
        await device.run(deep, { x: device.from(f32, [1, 2]), y: device.array(f32, 2) }, range(2));
        await device.close();
      }
    });
    for (const n of [300, 900])
      it(`${n} deep is refused with place and remedy: ${what}`, () =>
        assert.throws(
          () => compileKernel(kernelOf(body(n))),
          /KernelError: kernel "deep", .+:\d+:\d+: (\w+ nest more than \d+ deep|its text nests deeper than the parser can follow) \(/,
        ));
  }

  it("is refused from one level beyond the limit on", () => {
    for (const [problem, most, code] of [
      ["blocks", 40, (n: number) => `() => { ${around("{", "x;", "}", n)} }`],
      ["branches", 100, (n: number) => `() => { if (x) y; ${"else if (x) y;".repeat(n)} }`],
      ["expressions", 100, (n: number) => `() => { ${"!".repeat(n)}x; }`],
    ] as const) {
      assert.equal(tooDeep(parseExpressionAt(code(most), 0)), undefined, problem);
      assert.equal(tooDeep(parseExpressionAt(code(most + 1), 0))?.problem, `${problem} nest more than ${most} deep`);
    }
  });

  it("in parentheses alone, 500 deep, is as without them", () => {
    compileKernel(kernelOf(`y[i] = ${around("(", "x[i]", ")", 500)};`));
  });

  it("is counted the same in what the parser of browsers makes", () => {
    for (const [what, body] of Object.entries(NESTS)) {
      const parsed = (n: number) => parseExpressionAt(`({ x, y }, i) => { ${body(n)} }`, 0);
      assert.equal(tooDeep(parsed(mostOf(what))), undefined, what);
      assert.match(tooDeep(parsed(300))!.problem, /nest more than/, what);
    }
  });

  it("in code made by a program is refused without a stack", () => {
    const b = new KernelBuilder("made");
    const y = b.view("y", "f32");
    let value: Expr = constant("f32", 1);
    assert.throws(() => {
      for (let n = 0; n < 20_000; n++) value = add(value as never, 1);
      b.store(y, index(0), value as never);
      compileKernel(kernelFromIR(b.finish()));
    }, /IRError: invalid code for kernel "made".*nests more than 500 deep; put parts into locals/);
  });

  for (const name of NODE_DEVICES)
    it(`in code made by a program runs on ${name} to the greatest depth`, async () => {
      const device = await open(name);
      device.precision = "strict";
      for (const made of Object.values(MADE)) {
        const y = device.array(f32, 2);
        await device.run(kernelFromIR(made(497)), { x: device.from(f32, [1, 1]), y }, range(2));
        assert.deepEqual([...(await device.queue.read(y))], [1, 1]);
      }
      await device.close();
    });

  it("in blocks made by a program is refused without a stack", () => {
    assert.throws(() => compileKernel(kernelFromIR(MADE.blocks(600))), /IRError: .*kernel "made".*blocks nest more than 500 deep/);
    const ir = MADE.blocks(1);
    for (let n = 0; n < 50_000; n++) ir.body = [{ ...ir.body[0], then: ir.body } as Stmt];
    assert.throws(() => compileKernel(kernelFromIR(ir)), /(KernelError|IRError): .*"made".* (deep|deeper) /);
  });

  it("compiles on a worker's stack", async () => {
    const url = new URL("../../src/index.js", import.meta.url).href;
    const worker = new Worker(
      `import(${JSON.stringify(url)}).then(async ({ open, kernel, view, f32, range }) => {
        const device = await open("js");
        for (const body of ${JSON.stringify(Object.entries(NESTS).map(([what, body]) => body(mostOf(what))))}) {
          const deep = new Function("kernel", "params", "return kernel('deep', params, ({ x, y }, i) => { " + body + " });")(kernel, { x: view(f32), y: view(f32) });
          await device.run(deep, { x: device.from(f32, [1]), y: device.array(f32, 1) }, range(1));
        }
        await device.close();
        require("node:worker_threads").parentPort.postMessage("done");
      });`,
      { eval: true },
    );
    const message = await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
    assert.equal(message, "done");
    await worker.terminate();
  });
});

describe("functions that call functions", () => {
  for (const [what, form] of Object.entries(CHAINS))
    it(`may do so 60 deep, and are refused at 300 and 3,000 with place and remedy: ${what}`, async () => {
      for (const name of NODE_DEVICES) {
        const device = await open(name);
        const y = device.array(f32, 2);
        await device.run(chainOf(form, 60), { x: device.from(f32, [1, 2]), y }, range(2));
        assert.deepEqual([...(await device.queue.read(y))], [61, 62]);
        for (const n of what === "an argument" ? [3000] : [300, 3000])
          await assert.rejects(
            device.run(chainOf(form, n), { x: y, y: device.array(f32, 2) }, range(2)),
            /KernelError: kernel "chained", .+:\d+:\d+: (in h\d+: )?calls of functions nest too deep \(put parts into locals\)/,
          );
        await device.close();
      }
    });
});

it("a launch that is prepared at the end of the stack is refused by name", async () => {
  for (const name of ["js", "wasm"]) {
    const device = await open(name);
    const args = { x: device.from(f32, [1, 2]), y: device.array(f32, 2) };
    const outcomes = new Set<string>();
    // Each deeper than the one before it, until no stack is left even for the error.
    const down = (): void => {
      try {
        down();
      } catch {
        try {
          device.prepare(kernelOf(NESTS.calls(60)), args, range(2));
          outcomes.add("prepared");
        } catch (error) {
          outcomes.add(error instanceof Error ? error.name : "");
          throw error;
        }
      }
    };
    down();
    await device.close();
    assert.ok(outcomes.has("KernelError") && outcomes.has("prepared"), [...outcomes].join());
  }
});
