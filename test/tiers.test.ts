import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ALONE, covers, ENGINE, EVERYWHERE, FIRST, nameOf, TIER_OF, tierOf, TIERS } from "./tiers.js";

const files = readdirSync(dirname(fileURLToPath(import.meta.url)), { recursive: true, encoding: "utf8" });
const names = files.filter((file) => file.endsWith(".test.js")).map(nameOf);

test("every test file belongs to a tier, and every tier has files", () => {
  const found = names.map((name) => {
    const tier = tierOf(name);
    assert.ok(TIERS.includes(tier), `${name}: ${tier}`);
    return tier;
  });
  assert.deepEqual(new Set(found), new Set(TIERS));
});

test("the longest path decides", () => {
  assert.equal(tierOf("apps/lbm/same-bits"), "apps");
  assert.equal(tierOf("apps/lbm/lattice"), "default");
  assert.equal(tierOf("apps/lbm/lattices"), "apps", "a file is named whole");
  assert.equal(nameOf("apps/lbm/lattice.test.ts"), "apps/lbm/lattice");
});

test("every path of the lists is that of a file or a folder with tests", () => {
  for (const path of [...Object.keys(TIER_OF), ...EVERYWHERE, ...ENGINE, ...FIRST, ...ALONE])
    assert.ok(
      names.some((name) => covers(path, name)),
      `"${path}" names no test file`,
    );
});

test("what runs on every device is of the default tier", () => {
  for (const path of EVERYWHERE)
    assert.ok(
      names.some((name) => covers(path, name) && tierOf(name) === "default"),
      path,
    );
});

test("every tier has a command", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const tier of TIERS)
    assert.match(scripts[tier === "default" ? "test" : `test:${tier}`], tier === "default" ? /run\.js$/ : new RegExp(`--tier=${tier}$`));
});
