import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { frames, Site, skip } from "./page.js";

let site: Site;
before(async () => {
  if (!skip) site = await Site.open();
});
after(() => site?.close());

test("the page has less than 1 MB of script without the editor", { skip }, () => {
  // Workers beside that of thread pools are the editor's.
  const scripts = readdirSync(site.assets).filter((name) => name.endsWith(".js") && !/^(playground|worker)-/.test(name));
  const total = scripts.reduce((sum, name) => sum + readFileSync(join(site.assets, name)).length, 0);
  assert.ok(total > 200e3 && total < 1e6, `${total} bytes`);
  console.log(`${total} bytes of script without the editor`);
});

test("the first frame is there 2 s after the page was asked for", { skip }, async () => {
  const times: number[] = [];
  // Others may run beside it: the best of three.
  for (let turn = 0; turn < 3 && !(times.at(-1)! < 2000); turn++) {
    const [page] = await site.visit();
    await frames(page, "Wind tunnel", 1);
    times.push(await page.evaluate(() => performance.getEntriesByName("first frame")[0].startTime));
    await page.close();
  }
  assert.ok(Math.min(...times) < 2000, `the first frame came after ${times.map((time) => time.toFixed(0)).join(", ")} ms`);
});
