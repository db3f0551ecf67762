import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const isoform = (...words: string[]) => run(process.execPath, [main, "elasticity", ...words]);
const folder = await mkdtemp(join(tmpdir(), "isoform-elasticity-"));
after(() => rm(folder, { recursive: true }));

test("isoform elasticity solves a case, and writes JSON, a picture and an image", async () => {
  const [json, svg, vtk] = ["result.json", "cube.svg", "cube.vti"].map((name) => join(folder, name));
  const words = "--case tension --size 6 --fill 0.5 --devices js*2 --grid sparse --occ two-way --precision strict --tolerance 1e-12";
  const { stdout } = await isoform(...words.split(" "), "--json", json, "--svg", svg, "--vtk", vtk);
  assert.match(stdout, /^js\*2: /);
  assert.match(stdout, /tension, E 1, nu 0\.3: sparse grid of 6 x 6 x 6, 125 nodes, soa, occ two-way, strict/);
  assert.match(stdout, /^converged: /m);
  const result = JSON.parse(await readFile(json, "utf8"));
  assert.ok(result.converged && result.residual <= 1e-12 && result.deviation < 1e-11);
  assert.ok(Math.abs(result.held[2] + 0.01) < 1e-12);
  assert.match(await readFile(svg, "utf8"), /^<svg .*displacement along z/s);
  assert.match(await readFile(vtk, "latin1"), /Name="displacement"[^>]*NumberOfComponents="3"/);
});

test("isoform elasticity says what is wrong with its options", async () => {
  for (const [words, message] of [
    ["--poisson 0.5", /Poisson's ratio 0\.5: they must be/],
    ["--fill 2", /cannot fill 2 of its grid/],
    ["--size 1", /1 nodes along each side/],
    ["--case cylinder", /cube, tension, patch/],
    ["--pressure much", /needs a number/],
    ["--devices abacus", /"abacus"/],
  ] as const)
    await assert.rejects(isoform(...words.split(" ")), (error: Error & { stderr: string }) => message.test(error.stderr), words);
});
