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

/** What each device says in a page of this policy: "works", or why it cannot be opened. */
const underPolicy = (script: string): Promise<Record<string, string>> =>
  visit(
    pageOf(`
    const { f64, kernel, open, range, sum, view } = await import("/dist/src/index.js");
    const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => { s.add(x[i]); });
    const tried = async (name) => {
      const device = await open(name);
      const { s } = await device.run(total, { x: device.from(f64, [1, 2, 3]) }, range(3));
      await device.close();
      return s === 6 ? "works" : "gives " + s;
    };
    const said = {};
    for (const name of ["wasm", "js", "js-debug"]) said[name] = await tried(name).catch((error) => error.message);
    await post(said);`),
    { isolated: true, policy: `script-src 'self' 'unsafe-inline' ${script}`, flags: ["--disable-gpu"] },
  );

test("a page whose policy allows WebAssembly, and no code from text, has wasm; js says what it lacks", { skip }, async () => {
  const { wasm, js, "js-debug": debug } = await underPolicy("'wasm-unsafe-eval'");
  assert.equal(wasm, "works");
  for (const message of [js, debug]) assert.match(message, /Content-Security-Policy lacks 'unsafe-eval'.*use the device wasm/);
});

test("a page whose policy allows neither is told so by each device", { skip }, async () => {
  const { wasm, js } = await underPolicy("");
  assert.match(wasm, /Content-Security-Policy lacks 'wasm-unsafe-eval'/);
  assert.match(js, /Content-Security-Policy lacks 'unsafe-eval'/);
});
