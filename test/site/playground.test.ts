import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { shoot, Site, skip } from "./page.js";

let site: Site;
before(async () => {
  if (!skip) site = await Site.open();
});
after(() => site?.close());

async function open(): Promise<[Page, string[]]> {
  const opened = await site.visit({ at: "#playground" });
  await opened[0].waitForSelector("#text-IR");
  return opened;
}

test("the playground compiles as one types, reports problems with their lines, and runs", { skip }, async () => {
  const [page, errors] = await open();
  assert.match((await page.textContent("#cost"))!, /2,000,000 FLOPs, 12,000,000 bytes, 0\.167/);
  for (const target of ["c", "cuda", "hip", "js", "opencl", "wat", "wgsl"])
    assert.match((await page.textContent(`#text-${target} pre`))!, /axpy/, target);

  const source = await sourceOf(page);
  await page.fill("#source", source.replace("a * x[i] + y[i]", "a * x[j] + y[i]"));
  await page.waitForSelector("#problem:not(:empty)");
  assert.match((await page.textContent("#problem"))!, /^Line 4, column 16: .*\bj\b/);
  assert.deepEqual(await underlined(page), ["j"]);
  assert.equal(await page.locator(".cm-lint-marker-error").count(), 1);
  assert.equal(await page.isDisabled("#run"), true);
  await page.fill("#source", source.replace("y[i] =", "y[i] = ="));
  await page.waitForFunction(() => document.querySelector("#problem")!.textContent!.startsWith("Line 4, column 10"));

  await page.fill("#source", source.replace("1_000_000", "-1"));
  await page.waitForSelector("#problem:has-text('launch.size is -1')");
  await page.fill("#source", source.replace("a: 2", "range: [[0, 2_000_000]]"));
  await page.waitForSelector("#problem:empty", { state: "attached" });
  await page.click("#run");
  await page.waitForSelector("#problem:has-text('(the playground:3)')");

  await page.selectOption("#example", "2");
  await page.waitForSelector("#text-IR:has-text('energy')");
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  assert.match((await page.textContent("#result"))!, /wasm, .*threads?: .* [um]s a launch, .*GB\/s\ntotal = \d/);
  await shoot(page, "Playground");
  assert.deepEqual(errors, []);
});

/** The program in the editor. */
const sourceOf = async (page: Page): Promise<string> => (await page.locator("#source .cm-line").allTextContents()).join("\n");

/** What the editor underlines. */
const underlined = (page: Page): Promise<string[]> => page.locator("#source .cm-lintRange-error").allTextContents();

const TYPED = `import { f64, kernel, sum, view, type Kernel } from "isoform";

type Pair = readonly [number, number];

function mix<T extends number>(a: T, b: T): number {
  return (a as number) * 2 + b!;
}

const range = [[1, 99]] as const satisfies readonly Pair[];

export const blend = kernel("blend", { x: view(f64), y: view(f64), mix, total: sum(f64) }, ({ x, y, mix, total }, i: number) => {
  const value: number = mix(x[i - 1], <number>x[i + 1]);
  y[i] = value;
  total.add(value as number);
});

export const launch: { size: number; range: readonly Pair[] } = { size: 100, range };
`;

test("the playground takes TypeScript with its types, and tells what is more than a type", { skip }, async () => {
  const [page, errors] = await open();
  await page.fill("#source", TYPED);
  await page.waitForSelector("#text-IR:has-text('blend')");
  const part = (n: number): number => (n * 0.6180339887) % 1;
  let expected = 0;
  for (let i = 1; i < 99; i++) expected += part(i - 1) * 2 + part(i + 1);
  const total = Number(/\ntotal = (.*)/.exec(await ran(page))![1]);
  assert.ok(Math.abs(total / expected - 1) < 1e-12, `${total}, not ${expected}`);

  const source = await sourceOf(page);
  await page.fill("#source", source.replace("y[i] = value;", "y[i] = value; const q: number = z as number;"));
  await page.waitForSelector("#problem:has-text('Line 13, column 35')");
  assert.deepEqual(await underlined(page), ["z"]);
  await page.fill("#source", source.replace("type Pair", "enum Side { Left }\ntype Pair"));
  await page.waitForSelector("#problem:has-text('Line 3, column 1: an enum is more than a type')");
  assert.deepEqual(await underlined(page), ["enum"]);
  await page.fill("#source", source.replace("[[1, 99]] as const", "[[1, count]] as const"));
  await page.waitForSelector("#problem:has-text('Line 9, column 20: count is not defined')");
  assert.deepEqual(await underlined(page), ["count"]);
  assert.deepEqual(errors, []);
});

test("the editor is used by keyboard alone, and tells screen readers what it is", { skip }, async () => {
  const [page, errors] = await open();
  const editor = page.getByRole("textbox", { name: /^Source of the program/ });
  await page.getByRole("combobox", { name: "Example" }).focus();
  for (let n = 0; n < 3 && !(await editor.evaluate((box) => box === document.activeElement)); n++) await page.keyboard.press("Tab");
  assert.equal(await editor.evaluate((box) => box === document.activeElement), true);
  assert.deepEqual([await editor.getAttribute("aria-invalid"), await editor.getAttribute("aria-describedby")], ["false", "problem"]);
  const source = await sourceOf(page);
  for (const key of ["Control+Home", "ArrowDown", "ArrowDown", "ArrowDown", "End", "Enter"]) await page.keyboard.press(key);
  await page.keyboard.type("y[i] = b;");
  assert.equal((await sourceOf(page)).split("\n")[4], "  y[i] = b;");
  await page.waitForSelector("#problem:has-text('Line 5, column 10')");
  assert.equal(await editor.getAttribute("aria-invalid"), "true");
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("F8");
  await page.waitForSelector(".cm-announced:has-text('captures \"b\"')", { state: "attached" });
  await page.keyboard.press("Delete");
  await page.keyboard.type("a");
  await page.waitForSelector("#problem:empty", { state: "attached" });
  while ((await sourceOf(page)) !== source) await page.keyboard.press("Control+z");
  await page.keyboard.press("Tab");
  assert.equal(await editor.evaluate((box) => box === document.activeElement), false);
  assert.deepEqual(errors, []);
});

/** Contrast by WCAG 2.2 of each class of coloured text in the page with what is behind it. */
const contrasts = (page: Page): Promise<Record<string, number>> =>
  page.evaluate(() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d")!;
    const luminance = (colour: string): number => {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found: Record<string, number> = {};
    for (const span of document.querySelectorAll("[class^=code-]")) {
      const behind = getComputedStyle(span.closest("pre, .cm-editor")!).backgroundColor;
      const [dark, light] = [luminance(behind), luminance(getComputedStyle(span).color)].toSorted((a, b) => a - b);
      found[span.className] = (light + 0.05) / (dark + 0.05);
    }
    return found;
  });

for (const colorScheme of ["light", "dark"] as const)
  test(`programs and emitted code are coloured, and can be read in the ${colorScheme} theme on a phone`, { skip }, async () => {
    const [page, errors] = await site.visit({ at: "#playground", colorScheme, width: 390 });
    for (const place of ["#source", "#text-IR", "#text-js", "#text-c", "#text-wgsl"]) await page.waitForSelector(`${place} .code-keyword`);
    assert.deepEqual(await page.locator("#source .code-keyword").allTextContents(), [
      "import",
      "from",
      "export",
      "const",
      "export",
      "const",
    ]);
    assert.equal(await page.textContent("#text-wgsl .code-meta"), "@group");
    await page.check("label:has-text('wat') input");
    await page.waitForSelector("#text-wat .code-keyword");
    const found = await contrasts(page);
    for (const part of ["keyword", "type", "number", "string", "comment", "meta", "function"])
      assert.ok(found[`code-${part}`] >= 4.5, `${part}: ${found[`code-${part}`]}`);
    // The page itself is never wider than the screen: long lines scroll where they are.
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await page.selectOption("#language", "fortran");
    await page.waitForSelector("#source .code-meta:has-text('!$cuf kernel do(2) <<<*,*>>>')");
    await page.waitForSelector("#text-fortran-openmp .code-meta:has-text('!$omp')");
    await page.waitForSelector("#text-IR .code-keyword");
    assert.equal(await page.locator("#text-IR .code-string").count(), 0);
    assert.ok((await page.locator("#source .code-type").allTextContents()).includes("real"));
    await shoot(page, `Playground ${colorScheme} phone`);
    assert.deepEqual(errors, []);
  });

/** Writes a kernel that never ends. */
async function writeEndless(page: Page): Promise<void> {
  const source = await sourceOf(page);
  await page.fill("#source", source.replace("y[i] = a * x[i] + y[i];", "while (y[i] < 2) y[i] = 0;"));
  await page.waitForFunction(() => document.querySelector("#text-IR")!.textContent!.includes("while"));
}

test("a kernel that takes too long is ended, and the page says so", { skip }, async () => {
  const [page, errors] = await open();
  await writeEndless(page);
  await page.clock.install();
  await page.click("#run");
  await page.clock.fastForward("00:31");
  await page.waitForSelector("#problem:has-text('took more than 30 s')");
  assert.equal(await page.isDisabled("#stop"), true);
  assert.equal(await page.isDisabled("#run"), false);
  assert.deepEqual(errors, []);
});

test("a kernel that never ends is stopped, and problems are reported meanwhile", { skip }, async () => {
  const [page, errors] = await open();
  const source = await sourceOf(page);
  await writeEndless(page);
  await page.click("#run");
  await page.fill("#source", source.replace("a * x[i]", "b * x[i]"));
  await page.waitForSelector("#problem:has-text('Line 4')");
  await page.click("#stop");
  await page.waitForSelector("#problem:has-text('stopped')");
  await page.fill("#source", source);
  await page.waitForSelector("#problem:empty", { state: "attached" });
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  assert.deepEqual(errors, []);
});

/** A page with the playground in Fortran, on a device, at an example. */
async function openFortran(device: string, example: string): Promise<[Page, string[]]> {
  const opened = await site.visit({ at: `?device=${device}#playground` });
  const [page] = opened;
  await page.waitForSelector("#text-IR");
  await page.selectOption("#language", "fortran");
  await page.waitForSelector("#text-fortran-cpu", { state: "attached" });
  if (example !== "smooth") await page.selectOption("#example", { label: example });
  await page.waitForSelector(`#text-IR:has-text('kernel ${example.split(":")[0]}')`);
  return opened;
}

/** What a run tells. */
async function ran(page: Page): Promise<string> {
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  return (await page.textContent("#result"))!;
}

test("the playground takes Fortran: every output, problems with their places, and a run", { skip }, async () => {
  const [page, errors] = await openFortran("wasm", "smooth");
  assert.match((await page.textContent("#cost"))!, /2,340,900 FLOPs, 6,258,752 bytes/);
  for (const target of [
    "c",
    "cuda",
    "fortran-cpu",
    "fortran-openmp",
    "fortran-openmp-target",
    "hip",
    "js",
    "omp-target",
    "opencl",
    "sycl",
    "wat",
  ])
    assert.match((await page.textContent(`#text-${target} pre`))!, /smooth/, target);
  assert.match((await page.textContent("#text-fortran-openmp pre"))!, /!\$omp parallel do .*reduction\(max:most\)/);
  assert.match((await page.textContent("#text-fortran-openmp-target pre"))!, /!\$omp target teams distribute/);
  assert.doesNotMatch((await page.textContent("#text-fortran-cpu pre"))!, /!\$|device/);
  assert.match((await page.textContent("#text-wgsl pre"))!, /cannot be written for wgsl: .*f64/);
  await page.selectOption("#reals", "f32");
  await page.waitForSelector("#text-wgsl pre:has-text('@compute')");
  assert.match(await ran(page), /wasm, .*: .* [um]?s a call, .*GB\/s\nmost = 0\.4\d*\nu = 0, 0\.618034, .*\nv = /);
  await shoot(page, "Playground Fortran");

  const source = await sourceOf(page);
  await page.fill("#source", source.replace("u(i-1, j)", "q(i-1, j)"));
  await page.waitForSelector("#problem:has-text('Line 17, column 18: q: there is no function or array of this name')");
  assert.deepEqual(await underlined(page), ["q"]);
  assert.equal(await page.isDisabled("#run"), true);
  await page.fill("#source", source.replace("integer :: i, j", "integer :: i, , j").replace("most = 0", "most = = 0"));
  await page.waitForSelector("#problem:has-text('Line 13')");
  assert.deepEqual(await underlined(page), [",", "="]);
  await page.fill("#source", source.replace("a = 0.2", "a = much"));
  await page.waitForSelector(`#problem:has-text('Line 1: "a = much" gives no argument a value')`);
  await page.fill("#source", source.replace("run smooth", "run rough"));
  await page.waitForSelector("#problem:has-text('there is no subroutine rough (there are smooth)')");
  assert.deepEqual(errors, []);
});

test("Fortran runs on WebGPU, in f32 and in emulated f64", { skip }, async () => {
  const [page, errors] = await openFortran("webgpu", "energy: OpenACC, and a function");
  const total = async (): Promise<number> => Number(/webgpu, .*\ntotal = (.*)/.exec(await ran(page))![1]);
  // 0.5 m (x**2 + y**2 + z**2) of 1000 particles, with n times the golden section, less its whole part, as element n.
  const part = (n: number): number => (n * 0.6180339887) % 1;
  let expected = 0;
  for (let n = 0; n < 1000; n++) expected += 0.5 * part(n) * [0, 1, 2].reduce((sum, k) => sum + part(3 * n + k) ** 2, 0);
  const inF64 = await total();
  assert.ok(Math.abs(inF64 / expected - 1) < 1e-12, `${inF64}, not ${expected}`);
  await page.selectOption("#reals", "f32");
  await page.waitForSelector("#text-wgsl pre:has-text('@compute')");
  const inF32 = await total();
  assert.ok(inF32 !== inF64 && Math.abs(inF32 / expected - 1) < 1e-5, `${inF32}, not ${expected}`);
  assert.deepEqual(errors, []);
});

/** Behind #, once the address shares what was typed. */
async function sharedBy(page: Page, language: string): Promise<string> {
  await page.waitForFunction((begin) => location.hash.startsWith(begin), `#playground?${language}=`);
  return page.evaluate(() => location.hash);
}

test("the address shares a program in its language, and no module is run before one has agreed", { skip }, async () => {
  const [page] = await openFortran("wasm", "axpy: do concurrent");
  const fortran = (await sourceOf(page)).replace("a*x(i) + y(i)", "y(i) - a*x(i) ! \u03b1");
  await page.fill("#source", fortran);
  await page.selectOption("#reals", "f32");
  await page.waitForFunction(() => location.hash.endsWith("&rkind=f32&device=wasm"));
  await page.waitForSelector("#text-IR:has-text('y[i - 1] - a * x[i - 1]')");
  const [other, errors] = await site.visit({ at: `?device=wasm${await sharedBy(page, "fortran")}` });
  await other.waitForSelector("#text-IR:has-text('y[i - 1] - a * x[i - 1]')");
  assert.equal(await sourceOf(other), fortran);
  assert.deepEqual([await other.inputValue("#language"), await other.inputValue("#reals")], ["fortran", "f32"]);

  await other.selectOption("#language", "typescript");
  await other.waitForSelector("#text-IR:has-text('axpy')");
  await other.fill("#source", `self.touched = true;\n${await sourceOf(other)}`.replace("a * x", "a * a * x"));
  await other.waitForSelector("#text-IR:has-text('a * a * x')");
  const [third] = await site.visit({ at: await sharedBy(other, "typescript") });
  await third.waitForSelector("#trust");
  assert.match((await third.textContent("#problem"))!, /came with the address.*Read it first/);
  assert.equal(await third.locator("#text-IR").count(), 0);
  await third.click("#trust");
  await third.waitForSelector("#text-IR:has-text('a * a * x')");
  assert.deepEqual(errors, []);
});

test("the address shares the device, too, and the visitor's own program needs no agreement when the device changes", { skip }, async () => {
  const [page] = await open();
  await page.fill("#source", (await sourceOf(page)).replace("a * x", "a * a * x"));
  await page.waitForSelector("#text-IR:has-text('a * a * x')");
  await page.selectOption("#device", "js");
  await page.waitForSelector("#status:has-text('kernels run on JavaScript')");
  await page.waitForSelector("#text-IR:has-text('a * a * x')");
  assert.equal(await page.locator("#trust").count(), 0);
  await page.waitForFunction(() => location.hash.endsWith("&device=js"));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("#link");
  await page.waitForSelector("#notice:has-text('Copied')");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, page.url());

  const at = new URL(copied).hash;
  const [other, errors] = await site.visit({ at });
  await other.click("#trust");
  await other.waitForSelector("#text-IR:has-text('a * a * x')");
  assert.equal(await other.inputValue("#device"), "js");
  assert.match(await ran(other), /^js, /);
  const [third] = await site.visit({
    at: at.replace("device=js", "device=webgpu"),
    before: () => void Object.assign(navigator.gpu, { requestAdapter: null }),
  });
  await third.waitForSelector("#status:has-text('the address asks for WebGPU, which this browser does not have')");
  await third.evaluate((hash) => void (location.hash = hash), at);
  await third.waitForSelector("#status:has-text('kernels run on JavaScript, in a worker.')");
  assert.deepEqual(errors, []);
});

test("an address whose program is damaged is told so, and an example stands in its place", { skip }, async () => {
  const [page] = await open();
  await page.fill("#source", `${await sourceOf(page)}// ${"A comment. ".repeat(9)}`);
  const whole = (await sharedBy(page, "typescript")).split("&")[0];
  const middle = whole.length >> 1;
  const changed = whole.slice(0, middle) + (whole[middle] === "A" ? "B" : "A") + whole.slice(middle + 1);
  // 64 MB of one letter.
  const packed = Buffer.from(deflateSync(Buffer.alloc(64e6, "a"))).toString("base64url");
  for (const at of [whole.slice(0, -9), changed, "#playground?cobol=abc", "#playground?fortran=%%%", `#playground?typescript=${packed}`]) {
    const [other, errors] = await site.visit({ at });
    await other.waitForSelector("#notice:has-text('cannot be read')");
    await other.waitForSelector("#text-IR:has-text('axpy')");
    await other.fill("#source", (await sourceOf(other)).replace("a * x", "a * a * x"));
    await other.waitForSelector("#text-IR:has-text('a * a * x')");
    assert.equal(await other.textContent("#notice"), "", at.slice(0, 100));
    assert.deepEqual(errors, []);
  }
});
