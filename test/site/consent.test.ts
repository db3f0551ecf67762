import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { Site, skip } from "./page.js";

/* A module from an address runs once its reader has agreed to it: consent belongs to the text, whatever way it comes back. */

let site: Site;
before(async () => {
  if (!skip) site = await Site.open();
});
after(() => site?.close());

/** Tells that it ran, and is a kernel. */
const FOREIGN = `import { f64, kernel, view } from "isoform";
new BroadcastChannel("ran").postMessage("");
export const foreign = kernel("foreign", { x: view(f64) }, ({ x }, i) => {
  x[i] = 1;
});
`;
const ADDRESS = `#playground?typescript=${deflateSync(FOREIGN).toString("base64url")}&device=wasm`;

/** The page with the module that nobody has agreed to. */
async function openForeign(): Promise<[Page, string[]]> {
  const opened = await site.visit({
    at: ADDRESS,
    before: () => {
      Object.assign(globalThis, { ran: 0 });
      new BroadcastChannel("ran").onmessage = () => Object.assign(globalThis, { ran: (globalThis as { ran?: number }).ran! + 1 });
    },
  });
  await waits(opened[0]);
  return opened;
}

const runs = (page: Page): Promise<number> => page.evaluate(() => (globalThis as { ran?: number }).ran!);

/** The module is shown and has not run, and the reader is asked. */
async function waits(page: Page): Promise<void> {
  await page.waitForSelector("#trust");
  await page.waitForSelector("#source:has-text('foreign')");
  // Longer than the pause after which texts are compiled.
  await page.waitForTimeout(600);
  assert.equal(await page.locator("#trust").count(), 1);
  assert.match((await page.textContent("#problem"))!, /came with the address.*Read it first/);
  assert.equal(await page.locator("#text-IR").count(), 0);
  assert.equal(await page.isDisabled("#run"), true);
  assert.equal(await runs(page), 0);
}

/** Agrees, and the module runs. */
async function agrees(page: Page): Promise<void> {
  await page.click("#trust");
  await page.waitForSelector("#text-IR:has-text('kernel foreign')");
  assert.equal(await page.locator("#trust").count(), 0);
  assert.ok((await runs(page)) > 0);
}

test("another language and back do not agree to a module", { skip }, async () => {
  const [page, errors] = await openForeign();
  await page.selectOption("#language", "fortran");
  await page.waitForSelector("#text-fortran-cpu", { state: "attached" });
  assert.equal(await page.locator("#trust").count(), 0);
  await page.selectOption("#language", "typescript");
  await waits(page);
  await agrees(page);
  await page.selectOption("#language", "fortran");
  await page.waitForSelector("#text-fortran-cpu", { state: "attached" });
  await page.selectOption("#language", "typescript");
  await page.waitForSelector("#text-IR:has-text('kernel foreign')");
  assert.deepEqual(errors, []);
});

test("an example and undo do not agree to a module, nor do edits", { skip }, async () => {
  const [page, errors] = await openForeign();
  await page.selectOption("#example", "1");
  await page.waitForSelector("#text-IR:has-text('kernel smooth')");
  await page.focus("#source");
  await page.keyboard.press("Control+z");
  await waits(page);
  await page.keyboard.press("Control+y");
  await page.waitForSelector("#text-IR:has-text('kernel smooth')");
  assert.equal(await page.locator("#trust").count(), 0);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("// read");
  await waits(page);
  await agrees(page);
  // What was before the agreement was not agreed to.
  await page.focus("#source");
  for (let n = 0; n < 9; n++) await page.keyboard.press("Control+z");
  assert.match((await page.textContent("#source"))!, /\/\/ read$/);
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" and changed");
  await page.waitForFunction(() => location.hash.length > 0);
  assert.equal(await page.locator("#trust").count(), 0);
  assert.deepEqual(errors, []);
});

test("another page and back do not agree to a module", { skip }, async () => {
  const [page, errors] = await openForeign();
  for (const back of [() => page.goBack(), () => page.evaluate(() => void (location.hash = "#playground"))]) {
    await page.evaluate(() => void (location.hash = "#heat"));
    await page.waitForSelector("h2:has-text('Heat')");
    await back();
    await waits(page);
  }
  // One who leaves at once has not agreed either.
  await page.evaluate(() => {
    for (const hash of ["#heat", "#playground", "#heat"]) location.hash = hash;
  });
  await page.waitForSelector("h2:has-text('Heat')");
  await page.waitForTimeout(600);
  assert.equal(await runs(page), 0);
  await page.evaluate(() => void (location.hash = "#playground"));
  await waits(page);
  await agrees(page);
  await page.evaluate(() => void (location.hash = "#heat"));
  await page.waitForSelector("h2:has-text('Heat')");
  await page.goBack();
  await page.waitForSelector("#text-IR:has-text('kernel foreign')");
  assert.equal(await page.locator("#trust").count(), 0);
  assert.deepEqual(errors, []);
});
