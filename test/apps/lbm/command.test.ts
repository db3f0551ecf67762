import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readImage } from "isoform/io";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const isoform = (...words: string[]) => run(process.execPath, [main, "lbm", ...words]);
const folder = await mkdtemp(join(tmpdir(), "isoform-lbm-"));
after(() => rm(folder, { recursive: true }));

test("isoform lbm cavity compares with the tables and writes picture, image and JSON", async () => {
  const [svg, vtk, json] = ["svg", "vti", "json"].map((end) => join(folder, `cavity.${end}`));
  const words = [
    "cavity",
    "--size",
    "16",
    "--steps",
    "320",
    "--devices",
    "wasm*2",
    "--grid",
    "sparse",
    "--svg",
    svg,
    "--vtk",
    vtk,
    "--json",
    json,
  ];
  const { stdout } = await isoform(...words);
  assert.match(stdout, /D2Q9 TRT, pull, f64, sparse grid of 18 x 18, 324 cells, soa/);
  assert.match(stdout, /320 steps in /);
  assert.match(stdout, /largest deviation from the published values: u \d+\.\d\d %, v \d+\.\d\d % of the lid speed/);
  assert.match(await readFile(svg, "utf8"), /^<svg [^]*<title>lbm cavity, Re 100<\/title>[^]*x \/ length of the box[^]*<\/svg>\n$/);
  const image = await readImage(vtk);
  assert.deepEqual(
    [image.extents.slice(0, 2), [...image.cellData.keys()]],
    [
      [18, 18],
      ["density", "velocity"],
    ],
  );
  const result = JSON.parse(await readFile(json, "utf8"));
  assert.deepEqual([result.steps, result.cells, result.u.length], [320, 324, 17]);
});

for (const [name, words, expected] of [
  ["cylinder", ["--size", "4", "--steps", "40", "--wall", "halfway"], /drag coefficient \d/],
  [
    "cylinder",
    ["--size", "4", "--steps", "40", "--box", "5,8,10", "--wall", "interpolated"],
    /grid of 52 x 40, [^]*interpolated walls, [^]*drag coefficient \d[^]*Liu, Zheng and Sung \(1998\): drag 1\.35, lift 0\.339, Strouhal number 0\.164/,
  ],
  [
    "sphere",
    ["--size", "4", "--steps", "20", "--grid", "sparse", "--type", "f32"],
    /drag coefficient .*Schiller and Naumann \(1933\): 1\.0917/,
  ],
  ["cavity", ["--dimension", "3", "--size", "8", "--steps", "80", "--re", "50"], /D3Q19/],
  ["vortex", ["--size", "16", "--speed", "0.04", "--re", "20"], /16 x 16, periodic[^]*decay rate 0\.009\d+ a step; 2 nu k\^2 is 0\.00986/],
] as const)
  test(`isoform lbm ${name} ${words.join(" ")}`, async () => {
    const { stdout } = await isoform(name, ...words);
    assert.match(stdout, expected);
  });

test("options come from a file, too", async () => {
  const config = join(folder, "own.toml");
  await writeFile(config, 're = 20\nsize = 4\nbox = [5, 8, 10]\nwall = "halfway"\nsteps = 40\n');
  const { stdout } = await isoform("cylinder", "--config", config, "--steps", "20");
  assert.match(stdout, /cylinder, Re 20: .*grid of 52 x 40.*\n20 steps [^]*Dennis and Chang \(1970\): drag 2\.045\n/);
});

test("isoform lbm says how populations are stored, the subgrid model and axes without walls", async () => {
  const words = [
    "--size",
    "8",
    "--steps",
    "20",
    "--dimension",
    "3",
    "--periodic",
    "x,z",
    "--storage",
    "f16",
    "--smagorinsky",
    "0.17",
    "--devices",
    "wasm",
  ];
  const { stdout } = await isoform("cavity", ...words);
  assert.match(
    stdout,
    /D3Q19 BGK, pull, f32 stored as f16, Smagorinsky 0\.17, dense grid of 8 x 10 x 8, periodic along x and z, 640 cells/,
  );
});

const BAD: [words: string[], message: RegExp][] = [
  [["cavity", "--devices", "abacus"], /"abacus"/],
  [["cavity", "--devices", "js*40", "--size", "16"], /18 planes for 40 members/],
  [["cavity", "--grid", "hexagons"], /dense, sparse, bricks/],
  [["cavity", "--re", "-5"], /greater than 0/],
  [["cylinder", "--wall", "rubber"], /'rubber' is invalid\. Allowed choices are halfway, interpolated/],
  [["cylinder", "--box", "10,20"], /three lengths in diameters: upstream of the body, downstream and across, as in 10,20,24/],
  [["cylinder", "--box", "10,20,1"], /a box of 10, 20, 1 diameters: the body needs at least 1 upstream, 1 downstream and 2 across/],
  [["cavity", "--size", "1"], /a cavity of 1 cells is too small: it needs at least 2/],
  [
    ["vortex", "--storage", "f16", "--type", "f64", "--devices", "js"],
    /populations of f64 are not stored as f16, which is rounded from f32: choose the type f32/,
  ],
  [["vortex", "--storage", "f8"], /'f8' is invalid\. Allowed choices are f16/],
  [
    ["cavity", "--smagorinsky", "2", "--size", "8", "--devices", "js"],
    /a Smagorinsky constant of 2: give one from 0 to 1; 0\.1 to 0\.2 is usual/,
  ],
  [["cavity", "--periodic", "x,y"], /The lid moves at the end of the axis y: give x, z or x,z/],
  [["cavity", "--periodic", "x,x"], /It needs axes, each once: x, z or x,z/],
  [["cavity", "--periodic", "z", "--devices", "js"], /--periodic z: a flow of two dimensions has no axis z; add --dimension 3/],
  [["cavity", "--svg", join(folder, "missing", "a.svg")], /there is no directory/],
];

for (const [words, message] of BAD)
  test(`isoform lbm ${words.slice(0, 3).join(" ").replace(folder, "")} says what is wrong and exits with 2`, async () => {
    await assert.rejects(isoform(...words), (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, message);
      assert.equal(error.code, 2);
      return true;
    });
  });

test("a flow that becomes NaN says after how many steps, and what to do", async () => {
  await assert.rejects(isoform("cylinder", "--size", "4", "--steps", "4000", "--re", "1000"), (error: { code: number; stderr: string }) => {
    assert.match(
      error.stderr,
      /the flow \(field "f"\) is NaN after \d+ steps; its viscosity of 0\.00040 cells\^2 a step is too low.*ask for a larger size/,
    );
    assert.equal(error.code, 2);
    return true;
  });
});
