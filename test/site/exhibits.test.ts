import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { choose, colours, frames, shoot, Site, skip } from "./page.js";

let site: Site;
before(async () => {
  if (!skip) site = await Site.open();
});
after(() => site?.close());

const EXHIBITS = ["Wind tunnel", "Stars", "Scanning law", "Shear layer", "Shock tube", "Four streams", "Heat", "Poisson"];

test("every exhibit runs on WebAssembly with threads", { skip }, async () => {
  const [page, errors] = await site.visit({ colorScheme: "dark", at: "?cells=256x128#tunnel" });
  for (const title of EXHIBITS) {
    await choose(page, title);
    await frames(page, title, 5);
    const { size } = await colours(page);
    assert.ok(size > 20, `${title} shows ${size} colours`);
    await shoot(page, `${title} dark`);
  }
  assert.match((await page.textContent("#status"))!, /WebAssembly on .*, (\d\d|[2-9]) threads|, 1 thread/);
  assert.equal(await page.isVisible("#threads"), false);
  assert.deepEqual(errors, []);
});

/** Waits until the number of pixels that obstacles take is right; the number. */
async function obstacles(page: Page, right: (count: number) => boolean): Promise<number> {
  for (let turn = 0; turn < 1000; turn++) {
    const count = (await colours(page)).get(0xffaaa096) ?? 0;
    if (right(count)) return count;
    await page.waitForTimeout(50);
  }
  return assert.fail("the obstacles are not as drawn");
}

test("a drawn obstacle is seen, by the pointer and by the keyboard, and erased", { skip }, async () => {
  const [page, errors] = await site.visit({ at: "?cells=128x64" });
  await frames(page, "Wind tunnel", 1);
  const first = await obstacles(page, (count) => count > 0);
  const { x, y, width, height } = (await page.locator("canvas").boundingBox())!;
  await page.mouse.move(x + 0.6 * width, y + 0.3 * height);
  await page.mouse.down();
  await page.mouse.move(x + 0.6 * width, y + 0.5 * height, { steps: 5 });
  await page.mouse.up();
  const second = await obstacles(page, (count) => count > first);
  await page.focus("canvas");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", " ", "ArrowDown", " "]) await page.keyboard.press(key);
  const third = await obstacles(page, (count) => count > second);
  for (const key of ["e", " ", "ArrowUp", " "]) await page.keyboard.press(key);
  await obstacles(page, (count) => count < third);
  assert.deepEqual(errors, []);
});

test("the visitor chooses how many cells there are", { skip }, async () => {
  const [page, errors] = await site.visit({ at: "#heat" });
  await frames(page, "Heat", 1);
  await page.selectOption("#cells", "128 x 64");
  await page.waitForFunction(() => document.querySelector("canvas")!.width === 128);
  await frames(page, "Heat", 3);
  assert.ok((await colours(page)).size > 20);
  assert.deepEqual(errors, []);
});

test("without shared memory the page says so, and a service worker gives it", { skip }, async () => {
  const [page, errors] = await site.visit({ headers: {}, width: 390 });
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
