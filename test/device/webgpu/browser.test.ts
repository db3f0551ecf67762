import assert from "node:assert/strict";
import test from "node:test";
import { noBrowser, pageOf, visit } from "../browser/page.js";

/* The same backend in a browser, through navigator.gpu. */

const page = pageOf(`
    const { f32, f64, kernel, open, range, sum, view } = await import("/dist/src/index.js");
    const norm = kernel("norm", { x: view(f32), s: sum(f32) }, ({ x, s }, i) => { s.add(x[i] * 0.1); });
    const wide = kernel("wide", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => { s.add(x[i] / 3); });
    const values = Float32Array.from({ length: 30000 }, (_, k) => Math.sqrt(k));
    const run = async (name, kernel, type, options) => {
      const device = await open(name, options);
      const { s } = await device.run(kernel, { x: device.from(type, values) }, range(30000), { precision: "strict" });
      await device.close();
      return s;
    };
    await post({
      here: [await run("js", norm, f32), await run("js", wide, f64)],
      there: [await run("webgpu", norm, f32), await run("webgpu", wide, f64, { f64: "emulate" })],
    });`);

interface Report {
  here: [narrow: number, wide: number];
  there: [narrow: number, wide: number];
  error?: string;
}

const FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--disable-vulkan-surface"];

test("a page runs kernels on webgpu: f32 with the bits of js, f64 emulated", { skip: noBrowser }, async () => {
  const { here, there, error } = await visit<Report>(page, { isolated: false, flags: FLAGS });
  assert.equal(error, undefined);
  assert.equal(there[0], here[0]);
  assert.ok(Math.abs(there[1] / here[1] - 1) < 2 ** -40, `${there[1]} instead of ${here[1]}`);
});
