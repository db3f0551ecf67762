import assert from "node:assert/strict";
import test, { after, before } from "node:test";
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

  const source = await page.inputValue("#source");
  await page.fill("#source", source.replace("a * x[i] + y[i]", "a * x[j] + y[i]"));
  await page.waitForSelector("#problem:not(:empty)");
  assert.match((await page.textContent("#problem"))!, /^Line 4, column 16: .*\bj\b/);
  assert.equal(await page.textContent("li.wrong"), "4");
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

/** Writes a kernel that never ends. */
async function writeEndless(page: Page): Promise<void> {
  const source = await page.inputValue("#source");
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
  const source = await page.inputValue("#source");
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
