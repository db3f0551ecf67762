import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isoform } from "./isoform.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-grid-options-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

/** Each command of an application on a grid, with a small problem. */
const COMMANDS = [
  "heat --size 20 --steps 4",
  "life --width 20 --height 20 --generations 4 --pattern glider",
  "lbm cavity --size 8 --steps 4",
  "poisson --size 8 --iterations 4",
  "elasticity --size 6 --iterations 4",
  "explain heat --size 20 --iterations 1",
  "assess poisson --quick",
];
const OPTIONS = ["--grid <kind>", "--layout <name>", "--occ <level>", "--precision <mode>"];
const words = (text: string): string[] => text.split(" ");
/** The description of an option in the help, without its default and line breaks. */
const described = (help: string, option: string): string =>
  help
    .slice(help.indexOf(option))
    .split(/\n\s+-/)[0]
    .replace(/\s+/g, " ")
    .replace(/, default: "\w+"/, "");

test("every command that runs on devices takes --devices, and --device for the same", () => {
  for (const name of [
    "heat",
    "lbm cavity",
    "navier-stokes tube",
    "pic landau",
    "pic push",
    "gsr",
    "stream",
    "poisson",
    "explain heat",
    "assess",
  ]) {
    const help = isoform([...words(name), "--help"]).stdout;
    assert.match(help, /--devices <\w+>/, name);
    assert.doesNotMatch(help, /--device /, name);
  }
  for (const name of ["heat --size 8 --steps 1", "stream --gib 0.0001 --iterations 2", "explain heat --size 8"])
    for (const option of ["--devices", "--device"]) assert.match(isoform([...words(name), option, "abacus"]).stderr, /"abacus"/, name);
  assert.match(isoform(words("stream --device=js --gib 0.0001 --iterations 2")).stdout, /^js: /);
});

test("kinds of grids, layouts and overlap are the same options of every command", () => {
  const helps = COMMANDS.map((command) => isoform([...words(command.split(" --")[0]), "--help"]).stdout);
  for (const option of OPTIONS) {
    const [first, ...others] = helps.map((help) => described(help, option));
    assert.match(first, option === "--precision <mode>" ? /choices: "strict", "fast"/ : /measures and remembers \(choices: .*"auto"\)/);
    for (const other of others) assert.equal(other, first);
  }
  for (const help of helps) assert.match(help, /--devices <\w+>/);
});

// Elasticity takes long to compile six times.
for (const command of COMMANDS.filter((words) => !/^(elasticity|assess)/.test(words)))
  test(`isoform ${command} finds the fastest by itself`, () => {
    const { status, stdout, stderr } = isoform([...words(command), ...words("--devices js*2 --grid auto --layout auto --occ auto")]);
    assert.equal(status, 0, stderr);
    const [, kind, layout] = /storage (dense|sparse|bricks) (soa|aos) was the fastest: /.exec(stdout)!;
    assert.match(stdout, /occ (none|standard|extended|two-way|in-kernel) was the fastest: none [\d.]+ (ms|us), standard /i);
    if (!command.startsWith("explain")) assert.match(stdout, new RegExp(`${kind} grid of (.*, ${layout}, )?`));
  });

test("results hold what was asked for and what was found", () => {
  for (const command of ["poisson --size 8 --iterations 4", "elasticity --size 6 --iterations 4", "lbm cavity --size 8 --steps 4"]) {
    const file = join(folder, "result.json");
    const { status, stderr } = isoform([...words(command), ...words("--devices js --grid auto --occ two-way --json"), file]);
    assert.equal(status, 0, stderr);
    const { settings, choices, devices } = JSON.parse(readFileSync(file, "utf8"));
    assert.deepEqual([devices, settings.layout, settings.occ, settings.precision], ["js", "soa", "two-way", "fast"]);
    assert.deepEqual([choices[0].of, choices[0].best], ["storage", `${settings.grid} soa`]);
    assert.deepEqual(Object.keys(choices[0].seconds), ["dense soa", "sparse soa", "bricks soa"]);
  }
});

test("options that cannot apply are refused with the remedy", () => {
  for (const [command, message] of [
    [
      "poisson --size 8 --preconditioner multigrid --grid bricks",
      /multigrid takes a grid that is dense or sparse, and the grid chosen is bricks: choose another --grid or --preconditioner/,
    ],
    [
      "lbm cavity --size 8 --pattern aa --grid sparse",
      /the pattern "aa" takes a dense grid on one device, .*choose these, or the pattern "pull"/,
    ],
    ["heat --layout columns", /Allowed choices are soa, aos, auto/],
    ["explain life --devices js*40 --size 20", /20 planes for 40 members: .*use fewer devices/],
    ["poisson --size 20 --devices js*4 --split y", /20 rows for 4 members, .*use fewer devices/],
  ] as const) {
    const { status, stderr } = isoform(words(command));
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
});
