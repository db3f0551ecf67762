import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { backendNames } from "../src/device/open.js";
import { ALONE, covers, ENGINE, EVERYWHERE, FIRST, nameOf, NODE_TIERS, TIER_OF, tierOf, TIERS, within } from "./tiers.js";

const files = readdirSync(fileURLToPath(new URL("../../test/", import.meta.url)), { recursive: true, encoding: "utf8" });
const names = files.filter((file) => file.endsWith(".test.ts")).map(nameOf);

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

test("what runs on every device needs nothing but Node for its first run, and asks for which ones it is run", () => {
  for (const name of names) {
    const text = readFileSync(new URL(`../../test/${name}.test.ts`, import.meta.url), "utf8");
    const asks = /^import .*(\b(tested|onEachBackend|eachSet|eachDevice|likeDense|stepsLikePlainLoops)\b|\/compiled\.js").*;$/m.test(text);
    if (NODE_TIERS.includes(tierOf(name))) assert.equal(asks, within(name, EVERYWHERE), name);
    else assert.ok(!within(name, EVERYWHERE), name);
  }
});

test("every backend has the conformance suite and random kernels", () => {
  for (const name of backendNames())
    for (const path of ["device/conformance", "random/devices"]) assert.ok(names.includes(`${path}/${name}`), `${path}/${name}`);
});

test("every tier has a command", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const tier of TIERS)
    assert.match(scripts[tier === "default" ? "test" : `test:${tier}`], tier === "default" ? /run\.js$/ : new RegExp(`--tier=${tier}$`));
});
