import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Command } from "commander";
import { configOf, givenOf, keysOf } from "../../../apps/navier-stokes/config/config.js";
import { readConfig } from "../../../apps/navier-stokes/config/config-file.js";
import { parseConfig } from "./parse-config.js";
import { optionOf } from "../../../apps/navier-stokes/config/config-options.js";
import { requireShockInside } from "../../../apps/navier-stokes/config/config-checks.js";
import { CASES, defaultsOf, KEYS, type CaseName, type Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { GOLDEN } from "./golden.js";

test("each case runs as it is", () => {
  for (const name of CASES) {
    const config = configOf(name);
    assert.equal(config.case, name);
    for (const word of ["nx", "ny", "nz", "lx", "ly", "lz", "mach", "cfl", "steps", "order", "weno"] as const)
      assert.ok(Number.isFinite(config[word]) || (name === "shock" && word === "ly"), `${name} ${word}`);
  }
  assert.equal(configOf("layer", { inflow: "laminar" }).reTau, 1000);
  assert.equal(configOf("layer", { inflow: "laminar", re: 500 }).reTau, 500);
  assert.equal(configOf("tube", { flow: "shu-osher" }).mach, 3);
  assert.equal(configOf("tube", { nx: 400 }).dt, 0.0005);
  assert.equal(configOf("box", { flow: "taylor-green" }).viscosity, "constant");
});

test("the keys of the original's lines are known", () => {
  for (const { keys } of GOLDEN) configOf("channel", givenOf({ ...keys, nx: 32 }, "here", "channel"));
});

test("a fixed time step takes the place of the Courant number, and of both one is refused", () => {
  assert.equal(configOf("channel", { dt: 0.005 }).cfl, 0);
  assert.equal(configOf("tube", { cfl: 0.5 }).dt, undefined);
  assert.throws(() => configOf("channel", { dt: 0.005, cfl: 0.5 }), /leave out one/);
  assert.throws(() => configOf("channel", { cfl: 0 }), /give a fixed time step/);
  assert.throws(() => configOf("channel", { keep: 1e12 }), /25 terms at most/);
});

test("TOML files have the keys as they stand", async () => {
  const text = 'case = "channel"\nre_tau = 395\nsensor_threshold = 0.2\nweno_z = true\nkeep = -1\n';
  const given = await parseConfig(text, "a.toml", "channel");
  assert.deepEqual(given, { reTau: 395, sensorThreshold: 0.2, wenoZ: true, keep: -1 });
  const folder = await mkdtemp(join(tmpdir(), "isoform-"));
  try {
    await writeFile(join(folder, "a.toml"), text);
    assert.deepEqual(await readConfig(join(folder, "a.toml"), "channel"), given);
    await assert.rejects(readConfig(join(folder, "b.toml"), "channel"), /cannot read .*b.toml/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("options are the keys with dashes, and give the same values", () => {
  const parsed = (name: CaseName, ...args: string[]): Given => {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    for (const key of keysOf(name)) command.addOption(optionOf(key, name));
    return command.parse(args, { from: "user" }).opts();
  };
  assert.deepEqual(parsed("channel"), {});
  assert.deepEqual(parsed("channel", "--re-tau", "395", "--weno", "7", "--weno-z", "--keep", "-1", "--gas", "thermal"), {
    reTau: 395,
    weno: 7,
    wenoZ: true,
    keep: -1,
    gas: "thermal",
  });
  assert.throws(() => parsed("channel", "--weno", "4"), /choices are 1, 3, 5, 7/);
  assert.throws(() => parsed("channel", "--keep", "-2"), /from -1 to/);
  assert.throws(() => parsed("box", "--re-tau", "3"), /unknown option/);
});

test("what a file says wrong is told with the remedy", async () => {
  for (const [name, text, message] of [
    ["channel", "retau = 1", /a.toml: unknown key retau: did you mean re_tau\?/],
    ["channel", "re-tau = 1", /did you mean re_tau/],
    ["channel", "velocity_of_all = 1", /unknown key velocity_of_all: channel has nx/],
    ["channel", "nx = 3.5", /nx is 3.5: it needs a whole number from 1 on/],
    ["channel", 'mach = "fast"', /mach is "fast": it needs a number greater than 0/],
    ["channel", "weno = 4", /weno is 4: it needs one of 1, 3, 5, 7/],
    ["channel", "weno_z = 1", /true or false/],
    ["channel", "[nx]\n", /nx is a table or a list/],
    ["channel", "constructor = 1", /unknown key constructor/],
    ["box", "re_tau = 180", /re_tau is a key of channel, layer, shock, and this is a box: leave it out; a flow without walls takes re/],
    ["channel", 'case = "layer"', /run isoform navier-stokes layer/],
    ["channel", 'case = "pipe"', /the cases are channel, layer/],
    ["channel", "nx = ", /a.toml: /],
  ] as const)
    await assert.rejects(parseConfig(text, "a.toml", name), message);
});

test("combinations that make no sense are told with the remedy", () => {
  const refused: readonly (readonly [CaseName, Given, RegExp])[] = [
    ["channel", { nx: 5 }, /nx is 5, and order 6 with WENO 5 needs at least 6/],
    ["channel", { nz: 6, order: 8 }, /at least 8/],
    ["channel", { ny: 37 }, /even number/],
    ["channel", { weno: 7, wenoZ: true }, /WENO-Z weights need WENO of order 5/],
    ["layer", { nWall: 64 }, /n_wall is 64, and ny only 64/],
    ["layer", { lWall: 12 }, /l_wall is 12, and the domain ends at ly 12/],
    ["layer", { recycleX: 25 }, /recycle_x is 25/],
    ["layer", { recycleX: 0.1 }, /choose a plane between/],
    ["layer", { nz: 15 }, /even number/],
    ["layer", { re: 5000 }, /follows from re_tau/],
    ["layer", { random: true, inflow: "laminar" }, /starts without noise: leave out random/],
    ["shock", { shockAngle: 20 }, /shocks have from 30.00 to 90/],
    ["shock", { mach: 0.9 }, /above 1 only/],
    ["shock", { shockX: 30 }, /misses/],
    ["shock", { gas: "thermal" }, /constant heat capacities/],
    ["box", { flow: "sod" }, /choose vortex or taylor-green/],
    ["box", { viscous: "conservative" }, /give re/],
    ["tube", { viscous: "conservative" }, /no viscosity/],
  ];
  for (const [name, given, message] of refused) assert.throws(() => configOf(name, given), message);
  const shock = configOf("shock");
  requireShockInside(shock, 6);
  assert.throws(() => requireShockInside(shock, 30), /x = -25.3.*misses the domain/);
});

test("keys are told apart, and each default is that of a key of the case", () => {
  assert.equal(new Set(KEYS.map(({ name }) => name)).size, KEYS.length);
  for (const name of CASES) {
    const words = new Set(keysOf(name).map((key) => key.name));
    const free = new Set(["ny", "nz", "ly", "lz"]);
    for (const word of Object.keys(defaultsOf(name, {})).map((each) => each.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)))
      assert.ok(words.has(word) || free.has(word), `${name} ${word}`);
  }
});
