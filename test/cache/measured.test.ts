import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DIGEST_ENDING, writeVerified } from "../../src/cache/files.js";
import { tune } from "../../src/device/tuning/tune.js";
import { f64, kernel, open, range, view } from "../../src/index.js";
import { fastest, OCC_LEVELS } from "../../src/skeleton/index.js";
import { fastestLevel } from "../../src/skeleton/tuning/auto.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-measured-"));
process.env.XDG_CACHE_HOME = folder;
process.env.ISOFORM_THREADS = "2";
after(() => rmSync(folder, { recursive: true }));

/** What no measurement is, though its digest may be right. */
const WRONG: readonly string[] = [
  "{",
  "",
  "5",
  "[]",
  "null",
  '"text"',
  "{}",
  '{"values":null}',
  '{"values":[],"seconds":1,"baseline":1}',
  '{"values":{},"seconds":"1","baseline":1}',
  '{"values":{},"seconds":-1,"baseline":1}',
  '{"values":{"workers":"many"},"seconds":1,"baseline":1}',
  '{"values":{"workers":null},"seconds":1,"baseline":1}',
  '{"values":{"constructor":1},"seconds":1,"baseline":1}',
  '{"values":{"__proto__":{"workers":1}},"seconds":1,"baseline":1}',
  '{"best":"standard"}',
  '{"best":"standard","seconds":null}',
  '{"best":"standard","seconds":{"none":1}}',
  '{"best":"fastest","seconds":{"fastest":1}}',
  '{"best":"standard","seconds":{"standard":"1"}}',
  '{"best":"standard","seconds":{"standard":1e999}}',
  '{"best":"constructor","seconds":{}}',
  '{"best":["standard"],"seconds":{"standard":1}}',
];

/** Puts a text in place of the one file of a kind that is kept. */
function replaceKept(kind: string, text: string): void {
  const cache = join(folder, "isoform");
  const names = readdirSync(cache).filter((name) => name.includes(kind) && !name.endsWith(DIGEST_ENDING));
  assert.equal(names.length, 1);
  writeVerified(cache, names[0], new TextEncoder().encode(text));
}

test("values of launches that are none are measured anew", async () => {
  const scale = kernel("scale", { x: view(f64) }, ({ x }, i) => {
    x[i] = 3 * x[i];
  });
  const device = await open("js");
  const launch = device.prepare(scale, { x: device.array(f64, 5000) }, range(5000));
  const found = await tune(device, launch);
  assert.deepEqual(await tune(device, launch), found, "kept");
  for (const text of WRONG) {
    replaceKept(".tuning-", text);
    const { values, seconds, baseline } = (await tune(device, launch))!;
    for (const [name, value] of Object.entries(values))
      assert.ok(launch.tuning!.tunables[name as "workers"]!.includes(value as number), text);
    assert.ok(seconds > 0 && baseline > 0, text);
    assert.notDeepEqual({ values, seconds, baseline }, JSON.parse(text.startsWith("{") && text !== "{" ? text : "{}"));
  }
  launch.free();
  await device.close();
});

test("choices that are none are made anew", async () => {
  let measured = 0;
  const choose = () => fastestLevel(["a plan"], async (level) => (measured++, level === "extended" ? 1 : 2));
  const choice = await choose();
  assert.equal(choice.best, "extended");
  for (const text of WRONG) {
    replaceKept(".occ", text);
    measured = 0;
    assert.deepEqual(await choose(), choice, text);
    assert.ok(measured >= OCC_LEVELS.length, `${text} was taken for a choice`);
  }
  replaceKept(".occ", '{"best":"standard","seconds":{"standard":1}}');
  assert.equal((await choose()).best, "standard");

  const way = (seconds: number) => () => ({ skeleton: { run: async () => ({ seconds }) }, free: () => {} });
  const ways = { one: way(2), other: way(1) };
  assert.equal(await fastest(["two ways"], ways), "other");
  for (const text of WRONG) {
    replaceKept(".way", text);
    assert.equal(await fastest(["two ways"], ways), "other", text);
  }
});
