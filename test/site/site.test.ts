import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import type { Rolldown } from "vite";

/* The page as it is built, in a real browser. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const tools = await Promise.all([import("vite"), import("playwright-core")]).catch(() => undefined);
const skip = !chromium ? "no Chromium found" : !tools ? "vite and playwright-core are not installed" : false;

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

const folder = mkdtempSync(join(tmpdir(), "isoform-site-"));
const servers: Server[] = [];
let browser: Browser;

before(async () => {
  if (skip) return;
  const [{ build }, { chromium: launcher }] = tools!;
  await build({ root: join(root, "site"), build: { outDir: join(folder, "dist"), emptyOutDir: true }, logLevel: "error" });
  browser = await launcher.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  });
});

after(async () => {
  await browser?.close();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Serves the built page; returns its address. */
async function serve(headers: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url!, "http://localhost").pathname);
    const file = join(folder, "dist", path === "/" ? "index.html" : path);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, ready));
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

/** A page of its own whose errors are noted. */
async function visit(address: string, options: { width?: number; colorScheme?: "light" | "dark" } = {}): Promise<[Page, string[]]> {
  const { width = 1280, colorScheme = "light" } = options;
  const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error.stack)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(address);
  return [page, errors];
}

/** Waits for so many frames of the exhibit `title`. */
async function frames(page: Page, title: string, count: number): Promise<void> {
  await page.waitForFunction(
    ([title, count]) =>
      document.querySelector("h2")?.textContent === title && Number(document.querySelector("canvas")?.dataset.frames ?? 0) >= +count,
    [title, String(count)] as const,
  );
}

/** How many colours the picture has. */
const colours = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas")!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

/** Takes a picture of the page, for people, where SITE_SHOTS names a folder. */
async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SITE_SHOTS) await page.screenshot({ path: join(process.env.SITE_SHOTS, `${name}.png`), fullPage: true });
}

const choose = (page: Page, link: string): Promise<void> => page.getByRole("link", { name: link }).click();

const EXHIBITS = ["Wind tunnel", "Stars", "Heat", "Poisson"];

test("every exhibit runs on WebAssembly with threads", { skip }, async () => {
  const [page, errors] = await visit(await serve(ISOLATED), { colorScheme: "dark" });
  for (const title of EXHIBITS) {
    await choose(page, title);
    await frames(page, title, 5);
    assert.ok((await colours(page)) > 20, `${title} shows ${await colours(page)} colours`);
    await shoot(page, `${title} dark`);
  }
  assert.match((await page.textContent("#status"))!, /WebAssembly on .*, (\d\d|[2-9]) threads|, 1 thread/);
  assert.equal(await page.isVisible("#threads"), false);
  assert.deepEqual(errors, []);
});

test("a drawn obstacle is seen, by the pointer and by the keyboard", { skip }, async () => {
  const [page, errors] = await visit(await serve(ISOLATED));
  await frames(page, "Wind tunnel", 1);
  const grey = (): Promise<number> =>
    page.evaluate(() => {
      const canvas = document.querySelector("canvas")!;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      return new Uint32Array(data.buffer).filter((pixel) => pixel === 0xffaaa096).length;
    });
  const at = async (least: number): Promise<number> => {
    for (let turn = 0; turn < 50 && (await grey()) <= least; turn++) await page.waitForTimeout(50);
    return grey();
  };
  const first = await at(0);
  assert.ok(first > 0);
  const { x, y, width, height } = (await page.locator("canvas").boundingBox())!;
  await page.mouse.move(x + 0.6 * width, y + 0.3 * height);
  await page.mouse.down();
  await page.mouse.move(x + 0.6 * width, y + 0.5 * height, { steps: 5 });
  await page.mouse.up();
  const second = await at(first);
  assert.ok(second > first);
  await page.focus("canvas");
  for (const key of [" ", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
  assert.ok((await at(second)) > second);
  assert.deepEqual(errors, []);
});

test("without shared memory the page says so, and a service worker gives it", { skip }, async () => {
  const [page, errors] = await visit(await serve({}), { width: 390 });
  await frames(page, "Wind tunnel", 3);
  assert.match((await page.textContent("#threads"))!, /no shared memory.* one thread/);
  assert.match((await page.textContent("#status"))!, /, 1 thread,/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await shoot(page, "Wind tunnel narrow");
  await page.getByRole("button", { name: "Load again with threads" }).click();
  await page.waitForFunction(() => crossOriginIsolated);
  await frames(page, "Wind tunnel", 3);
  assert.equal(await page.isVisible("#threads"), false);
  assert.deepEqual(errors, []);
});

test("the exhibits run on WebGPU", { skip }, async (context) => {
  const [page, errors] = await visit(await serve({}));
  await frames(page, "Wind tunnel", 1);
  const option = page.locator("#device option[value=webgpu]");
  if (await option.isDisabled()) return context.skip((await option.textContent())!);
  await page.selectOption("#device", "webgpu");
  await page.waitForFunction(() => document.querySelector("#status")?.textContent?.includes("WebGPU"));
  for (const title of ["Poisson", "Wind tunnel"]) {
    await choose(page, title);
    await frames(page, title, 2);
    assert.ok((await colours(page)) > 2);
  }
  assert.deepEqual(errors, []);
});

test("the playground compiles as one types, tells problems with their lines, and runs", { skip }, async () => {
  const [page, errors] = await visit(`${await serve(ISOLATED)}#playground`);
  await page.waitForSelector("#text-IR");
  assert.match((await page.textContent("#cost"))!, /2,000,000 FLOPs, 12,000,000 bytes, 0\.167/);
  for (const target of ["c", "cuda", "hip", "js", "opencl", "wat", "wgsl"])
    assert.match((await page.textContent(`#text-${target} pre`))!, /axpy/, target);

  const source = await page.inputValue("#source");
  await page.fill("#source", source.replace("a * x[i] + y[i]", "a * x[j] + y[i]"));
  await page.waitForSelector("#problem:not(:empty)");
  assert.match((await page.textContent("#problem"))!, /^Line 4, column 16: .*\bj\b/);
  assert.equal(await page.textContent("li.wrong"), "4");
  assert.equal(await page.isDisabled("#run"), true);
  await page.fill("#source", source.replace("y[i] =", "y[i] = ="));
  await page.waitForFunction(() => document.querySelector("#problem")!.textContent!.startsWith("Line 4, column 10"));

  await page.selectOption("#example", "2");
  await page.waitForSelector("#text-IR:has-text('energy')");
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  assert.match((await page.textContent("#result"))!, /wasm: .* [um]s a launch, .*GB\/s\ntotal = \d/);
  await shoot(page, "Playground");
  assert.deepEqual(errors, []);
});

test("the page is small, and shows its first frame soon", { skip }, async () => {
  const assets = join(folder, "dist/assets");
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js") && !name.startsWith("playground"));
  const total = scripts.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0);
  assert.ok(total < 1e6, `${total} bytes of script without the playground`);
  const [page] = await visit(await serve({}));
  await frames(page, "Wind tunnel", 1);
  const milliseconds = await page.evaluate(() => performance.getEntriesByName("first frame")[0].startTime);
  // The goal is 2 s on a machine that does nothing else; here others may run beside it.
  assert.ok(milliseconds < 10_000, `the first frame came after ${milliseconds} ms`);
});

test("the library and one device take less than 120 kB in a page, compressed", { skip }, async () => {
  const [{ build }] = tools!;
  const entry = join(folder, "library.js");
  writeFileSync(entry, `export * from ${JSON.stringify(join(root, "dist/src/index.js"))};`);
  const built = await build({
    configFile: false,
    root,
    logLevel: "error",
    worker: { format: "es" },
    build: { write: false, minify: true, target: "es2023", rollupOptions: { input: entry, preserveEntrySignatures: "strict" } },
  });
  const chunks = (built as Rolldown.RolldownOutput).output.filter((file) => file.type === "chunk");
  const size = (device: string): number => {
    const needed = new Set<string>();
    const need = (name: string): void => {
      if (needed.has(name)) return;
      needed.add(name);
      for (const each of chunks.find(({ fileName }) => fileName === name)!.imports) need(each);
    };
    for (const { fileName, isEntry, facadeModuleId } of chunks) if (isEntry || facadeModuleId?.endsWith(device)) need(fileName);
    const code = chunks.filter(({ fileName }) => needed.has(fileName)).map((chunk) => chunk.code);
    return code.reduce((sum, text) => sum + brotliCompressSync(text).length, 0);
  };
  for (const device of ["device/wasm.js", "device/webgpu/backend.js"]) {
    const bytes = size(device);
    assert.ok(bytes > 50_000 && bytes < 120_000, `${device}: ${bytes} bytes`);
    console.log(`with ${device}: ${bytes} bytes`);
  }
});
