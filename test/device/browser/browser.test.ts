import assert from "node:assert/strict";
import test from "node:test";
import { noBrowser as skip, pageOf, visit } from "./page.js";

/* The same build in a browser: workers, shared memory, SIMD. */

const page = pageOf(`
    const { f64, kernel, open, range, sum, view } = await import("/dist/src/index.js");
    const dot = kernel("dot", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => { s.add(x[i] * 0.1); });
    const results = {};
    let threads = 0;
    for (const name of ["js", "wasm"]) {
      const device = await open(name);
      threads = device.capabilities.parallelism;
      const x = device.from(f64, Float64Array.from({ length: 300000 }, (_, k) => Math.sqrt(k)));
      for (let turn = 0; turn < 50; turn++) results[name] = (await device.run(dot, { x }, range(300000), { precision: "strict" })).s;
      await device.close();
    }
    await post({ ...results, threads, cores: navigator.hardwareConcurrency });`);

interface Report {
  js: number;
  wasm: number;
  threads: number;
  cores: number;
  error?: string;
}

const open = (isolated: boolean): Promise<Report> => visit(page, { isolated, flags: ["--disable-gpu"] });

test("a browser page with shared memory runs kernels on all cores, with the same bits", { skip }, async () => {
  const { js, wasm, threads, cores, error } = await open(true);
  assert.equal(error, undefined);
  assert.equal(threads, cores);
  assert.equal(wasm, js);
});

test("a page without shared memory runs them on one thread", { skip }, async () => {
  const { js, wasm, threads, error } = await open(false);
  assert.equal(error, undefined);
  assert.equal(threads, 1);
  assert.equal(wasm, js);
});
