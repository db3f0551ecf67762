import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Capabilities, OpenOptions } from "../../src/index.js";
import { suite, type ConformanceCase } from "../../src/testing/index.js";
import { testCases } from "./run-suite.js";

/* The exported suite in a browser, bundled and minified as the site is, in a browser that has WebGPU on the CPU. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const tools = await Promise.all([import("vite"), import("playwright-core")]).catch(() => undefined);
const skip = !chromium ? "no Chromium found" : !tools ? "vite and playwright-core are not installed" : false;

/**
 * What is run on each. Cases without floats of their own run once for WebGPU here, and both ways by Dawn in Node. Emulated f64 is arithmetic in
 * WGSL, which Dawn in Node runs whole on the same adapter: here `each` fourth case shows that it gets through bundlers and the browser.
 */
const devices: { title: string; name: string; options: OpenOptions; reals?: readonly ConformanceCase["real"][]; each?: number }[] = [
  { title: "wasm", name: "wasm", options: {} },
  { title: "webgpu, in f32", name: "webgpu", options: {}, reals: [undefined, "f32"] },
  { title: "webgpu, in emulated f64", name: "webgpu", options: { f64: "emulate" }, reals: ["f64"], each: 4 },
];

/** What the page has for the test. */
interface Runner {
  /** Opens another device: what it can do, or why it is not there. */
  open(name: string, options: OpenOptions): Promise<Capabilities | string>;
  /** Lets the device run a case, both by their numbers in order. */
  run(device: number, testCase: number): Promise<{ skipReason?: string; error?: string }>;
  /** Submits long work to a pool that is new, and settles it before the page has its turn. */
  settleLong(): Promise<number>;
}
declare const runner: Runner;

const script = `
import { f64, kernel, open, range, view } from ${JSON.stringify(join(root, "dist/src/index.js"))};
import { suite, runSuite } from ${JSON.stringify(join(root, "dist/src/testing/index.js"))};
const devices = [];
const long = kernel("long", { x: view(f64) }, ({ x }, i) => {
  for (let k = 0; k < 2000; k++) x[i] = x[i] + 1;
});
globalThis.runner = {
  async settleLong() {
    const device = await open("wasm");
    const [x, other] = [device.array(f64, 20000), device.array(f64, 1)];
    device.queue.submit(device.prepare(long, { x }, range(20000)));
    other.free();
    const [first] = await device.queue.read(x);
    await device.close();
    return first;
  },
  async open(name, options) {
    devices.push(await open(name, options).catch((error) => error));
    return devices.at(-1).capabilities ?? devices.at(-1).message;
  },
  async run(device, testCase) {
    const [{ skipReason, error }] = await runSuite(devices[device], [suite[testCase]]);
    return { skipReason, error: error?.stack };
  },
};`;

async function openPage() {
  const [{ build, preview }, { chromium: launcher }] = tools!;
  const folder = mkdtempSync(join(tmpdir(), "isoform-suite-"));
  writeFileSync(join(folder, "runner.js"), script);
  writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="./runner.js"></script>');
  const settings = { root: folder, configFile: join(root, "site/vite.config.js"), logLevel: "error" } as const;
  await build(settings);
  const server = await preview({ ...settings, preview: { port: 0 } });
  const browser = await launcher.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  });
  after(async () => {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const page = await browser.newPage();
  await page.goto(server.resolvedUrls!.local[0]);
  await page.waitForFunction(() => "runner" in globalThis);
  return page;
}

describe("in a browser", { skip }, async () => {
  if (skip) return;
  const page = await openPage();

  it("there is shared memory, so that wasm has threads", async () => {
    assert.ok(await page.evaluate(() => crossOriginIsolated));
  });

  it("long work of a pool that is new can be settled before its other threads have started", async () => {
    const late = new Promise<string>((resolve) => setTimeout(() => resolve("the page does not answer"), 60_000).unref());
    for (let n = 0; n < 3; n++) assert.equal(await Promise.race([page.evaluate(() => runner.settleLong()), late]), 2000);
  });

  for (const [index, { title, name, options, reals, each = 1 }] of devices.entries()) {
    const found = await page.evaluate(([name, options]) => runner.open(name, options), [name, options] as const);
    const cases = suite.filter(({ real, number }) => (!reals || reals.includes(real)) && number % each === 0);
    describe(`the suite on ${title}`, { skip: typeof found === "string" ? found : false }, () => {
      testCases(
        title,
        cases,
        () => found as Capabilities,
        async (testCase) => {
          const { skipReason, error } = await page.evaluate(([device, n]) => runner.run(device, n), [
            index,
            suite.indexOf(testCase),
          ] as const);
          return { skipReason, error: error === undefined ? undefined : new Error(error) };
        },
      );
    });
  }
});
