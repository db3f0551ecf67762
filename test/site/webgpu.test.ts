import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { choose, colours, DRAWING, frames, shoot, Site, skip, type VisitOptions } from "./page.js";

let site: Site;
before(async () => {
  if (!skip) site = await Site.open(DRAWING);
});
after(() => site?.close());

/** A page that shows heat on WebGPU, on a small grid. */
const onWebGpu = (options: VisitOptions = {}): Promise<[Page, string[]]> =>
  site.visit({ ...options, at: "?device=webgpu&cells=128x64#heat" });

/** Waits for a sentence on where it runs, or why it does not. */
const says = (page: Page, words: string): Promise<unknown> =>
  page.waitForFunction((words) => document.querySelector("#status")?.textContent?.includes(words), words);

/** Asks how large the residual is, or what time it is. */
const ASKING = ["Poisson", "Shear layer", "Shock tube"];

test("exhibits are drawn on the GPU, and no picture is read back", { skip }, async () => {
  const [page, errors] = await onWebGpu({
    before: () => {
      const { prototype } = GPUBuffer;
      const { mapAsync } = prototype;
      prototype.mapAsync = function (...args) {
        document.documentElement.dataset.reads = String(Number(document.documentElement.dataset.reads ?? 0) + 1);
        return mapAsync.apply(this, args);
      };
    },
  });
  for (const title of ["Heat", "Wind tunnel", "Scanning law", "Four streams", ...ASKING]) {
    await choose(page, title);
    await frames(page, title, 4);
    const { size } = await colours(page);
    assert.ok(size > 20, `${title} shows ${size} colours`);
    await shoot(page, `${title} WebGPU`);
    const reads = Number(await page.getAttribute("html", "data-reads"));
    assert.equal(reads > 0, ASKING.includes(title), `${title}: ${reads} reads`);
  }
  assert.deepEqual(errors, []);
});

test("a device that is lost is reported, and another is offered", { skip }, async () => {
  const [page] = await onWebGpu({
    before: () => {
      const { prototype } = GPUAdapter;
      const { requestDevice } = prototype;
      prototype.requestDevice = async function (...args) {
        const device = await requestDevice.apply(this, args);
        Object.assign(globalThis, { lose: () => device.destroy() });
        return device;
      };
    },
  });
  await frames(page, "Heat", 1);
  await page.evaluate(() => (globalThis as unknown as { lose(): void }).lose());
  await says(page, "it was lost");
  assert.match((await page.textContent("#status"))!, /does not run on WebGPU: .*it was lost: .*open it again with new arrays/);
  await page.getByRole("button", { name: "Try again" }).click();
  await says(page, "Heat: WebGPU on");
  await frames(page, "Heat", 1);
  await page.evaluate(() => (globalThis as unknown as { lose(): void }).lose());
  await page.getByRole("button", { name: "Run on WebAssembly" }).click();
  await says(page, "Heat: WebAssembly on");
  await frames(page, "Heat", 1);
  assert.equal(await page.inputValue("#device"), "wasm");
});

test("a shader that the driver rejects is reported with its kernel", { skip }, async () => {
  const [page] = await onWebGpu({
    before: () => {
      const { prototype } = GPUDevice;
      const { createShaderModule } = prototype;
      prototype.createShaderModule = function (descriptor) {
        const { code } = descriptor;
        const broken = code.includes('Kernel "step"') ? code.replace(/^.*\/\/ line \d+$/m, "nonsense; $&") : code;
        return createShaderModule.call(this, { ...descriptor, code: broken });
      };
    },
  });
  await says(page, "refuses the shader");
  assert.match((await page.textContent("#status"))!, /refuses the shader .* of kernel "step" \(.*heat-.*\.js:\d+\): .* at "next/);
  assert.ok(await page.getByRole("button", { name: "Run on WebAssembly" }).isVisible());
});

test("a browser without an adapter says why in the list of devices", { skip }, async () => {
  const [page, errors] = await site.visit({ before: () => (navigator.gpu.requestAdapter = async () => null), at: "#heat" });
  await frames(page, "Heat", 1);
  const option = page.locator("#device option[value=webgpu]");
  assert.equal(await option.isDisabled(), true);
  assert.equal(await option.textContent(), "WebGPU: WebGPU finds no adapter");
  assert.match((await page.textContent("#status"))!, /Heat: WebAssembly on/);
  assert.deepEqual(errors, []);
});
