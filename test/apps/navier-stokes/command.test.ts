import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command } from "commander";
import { readRectilinear } from "isoform/io";
import type { Shell } from "isoform/portability";
import { command } from "../../../apps/navier-stokes/command.js";
import { readProgressLine } from "./read-progress.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
after(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** What the command prints. */
async function isoform(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const stop = new AbortController().signal;
  const shell: Shell = {
    print: (text) => void printed.push(text),
    progress: () => ({ update() {}, done() {} }),
    checkOutputs: async () => {},
    writeFile: (path, text) => writeFile(path, text),
    endWith: (code) => assert.equal(code, 0),
    interruption: () => ({ stop, exitCode: 0, ignore() {} }),
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  command(program, shell);
  await program.parseAsync(["navier-stokes", ...args], { from: "user" });
  return printed.join("\n");
}

test("a tube runs to its time, and writes what is asked for", async () => {
  const text = await isoform(
    "tube",
    "--nx",
    "50",
    "--every",
    "25",
    "--progress",
    at("a"),
    "--json",
    at("json"),
    "--svg",
    at("svg"),
    "--vtk",
    at("a.vtr"),
  );
  assert.match(text, /tube of 50 x 1 x 1 cells/);
  assert.match(text, /step 50, time 0.200000/);
  const lines = (await readFile(at("a"), "utf8")).trimEnd().split("\n").map(readProgressLine);
  assert.deepEqual(
    lines.map(({ step }) => step),
    [25, 50],
  );
  assert.equal(JSON.parse(await readFile(at("json"), "utf8")).config.flow, "sod");
  assert.match(await readFile(at("svg"), "utf8"), /gradient of the density/);
  assert.deepEqual((await readRectilinear(at("a.vtr"))).extents, [50, 1, 1]);
});

test("a run goes on from its checkpoint with the same bits", async () => {
  const box = ["box", "--nx", "16", "--ny", "8", "--nz", "6", "--sensor-threshold", "0.001", "--precision", "strict", "--every", "5"];
  await isoform(...box, "--steps", "20", "--progress", at("whole"));
  await isoform(...box, "--steps", "10", "--checkpoint", at("state"));
  await isoform(
    "box",
    "--steps",
    "20",
    "--precision",
    "strict",
    "--every",
    "5",
    "--restart",
    at("state"),
    "--progress",
    at("rest"),
    "--devices",
    "wasm*2",
  );
  const whole = (await readFile(at("whole"), "utf8")).trimEnd().split("\n");
  assert.deepEqual((await readFile(at("rest"), "utf8")).trimEnd().split("\n"), whole.slice(2));
  await assert.rejects(isoform("box", "--nx", "32", "--restart", at("state")), /made with nx 16, and 32 is asked for/);
  await assert.rejects(isoform("tube", "--restart", at("state")), /run isoform navier-stokes box/);
});

test("a channel writes its statistics and profiles, and tells of its walls", async () => {
  const channel = ["channel", "--nx", "8", "--ny", "12", "--nz", "8", "--steps", "4", "--stats-every", "2"];
  const text = await isoform(...channel, "--statistics", at("stats.dat"), "--profiles", at("profiles.csv"));
  assert.match(text, /walls in the mean of 2 samples: Re_tau [\d.]+, u_tau/);
  const [note, names, ...rows] = (await readFile(at("stats.dat"), "utf8")).trimEnd().split("\n");
  assert.equal(note, "# the mean of 2 samples");
  assert.equal(names.trim().split(/\s+/).length, 72);
  assert.equal(rows.length, 12);
  assert.ok(rows.every((row) => row.trim().split(/\s+/).length === 71));
  const table = (await readFile(at("profiles.csv"), "utf8")).trimEnd().split("\n");
  assert.match(table[0], /^y,y_plus,u_plus,/);
  assert.equal(table.length, 7);
});

test("spectra are written as tables and figures, and refused along one cell", async () => {
  const channel = ["channel", "--nx", "8", "--ny", "12", "--nz", "8", "--steps", "2"];
  await isoform(...channel, "--spectra-every", "1", "--spectra-x", at("x.dat"), at("x.svg"), "--spectra-z", at("z.csv"));
  assert.match(await readFile(at("x.dat"), "utf8"), /^# the mean of 2 samples\n +# y +y_plus +k +E_uu +E_vv +E_ww\n/);
  assert.match(await readFile(at("x.svg"), "utf8"), /<svg.*k_x h/s);
  assert.equal((await readFile(at("z.csv"), "utf8")).trimEnd().split("\n").length, 1 + 6 * 5);
  await assert.rejects(isoform("box", "--nx", "16", "--ny", "16", "--spectra-z", at("none")), /one cell along z has no spectrum/);
});

test("a tube writes its profiles beside the exact solution, and tells the error", async () => {
  const text = await isoform("tube", "--nx", "100", "--profiles", at("tube.csv"), at("tube.svg"));
  const [, error] = /mean error of the density ([\d.e-]+) beside the exact solution/.exec(text)!;
  assert.ok(Math.abs(Number(error) / 5.81e-3 - 1) < 0.02, error);
  const [names, ...rows] = (await readFile(at("tube.csv"), "utf8")).trimEnd().split("\n");
  assert.equal(names, "x,rho,u,p,rho_exact,u_exact,p_exact");
  const values = rows.map((row) => row.split(",").map(Number));
  const mean = values.reduce((sum, [, rho, , , exact]) => sum + Math.abs(rho - exact), 0) / 100;
  assert.ok(Math.abs(mean / Number(error) - 1) < 1e-3);
  assert.match(await readFile(at("tube.svg"), "utf8"), /exact.*100 cells/s);
});

test("a box writes its energy, which viscosity takes", async () => {
  const box = ["box", "--flow", "taylor-green", "--nx", "16", "--ny", "16", "--nz", "16", "--steps", "60", "--every", "10"];
  await isoform(...box, "--energy", at("energy.csv"), at("energy.svg"));
  const [names, ...rows] = (await readFile(at("energy.csv"), "utf8")).trimEnd().split("\n");
  assert.equal(names, "time,energy,dissipation,enstrophy,viscous");
  const values = rows.map((row) => row.split(",").map(Number));
  assert.equal(values.length, 7);
  // 1/8 and 3/8 by the start's sines and cosines. Density differs from 1 a little, which the enstrophy does not see.
  assert.ok(Math.abs(values[0][1] - 0.125) < 1e-4 && Math.abs(values[0][3] - 0.375) < 1e-9, String(values[0]));
  // 1.0 later, 62 steps to the unit of time, Re 100: 0.117586 and 0.38855.
  assert.ok(Math.abs(values[6][1] - 0.1178) < 2e-4 && Math.abs(values[6][3] - 0.388) < 2e-3, String(values[6]));
  for (const [, , dissipation, , viscous] of values.slice(1, -1))
    assert.ok(Math.abs(dissipation / viscous - 1) < 0.05, `${dissipation}, ${viscous}`);
});

test("files have keys, options count before them, and what is unknown is told", async () => {
  await writeFile(at("a.toml"), 'flow = "sod"\nnx = 20\nweno = 3\n');
  assert.match(await isoform("tube", "--config", at("a.toml"), "--nx", "30", "--steps", "2"), /tube of 30 x 1 x 1/);
  await writeFile(at("b.toml"), "nxx = 20\n");
  await assert.rejects(isoform("tube", "--config", at("b.toml")), /did you mean nx\?/);
});

test("a flow that blows up names step and remedy", async () => {
  await assert.rejects(
    isoform("tube", "--nx", "50", "--cfl", "30", "--steps", "20"),
    /in cell \(.*\) after step .*choose a smaller cfl|choose a smaller cfl/,
  );
});

test("what a flow that blows up was last is in its checkpoint, from which a smaller step goes on", async () => {
  const tube = ["tube", "--nx", "50", "--dt", "0.004", "--every", "1", "--time", "0.04"];
  await isoform(...tube, "--steps", "4", "--checkpoint", at("tube"));
  const coarse = ["tube", "--restart", at("tube"), "--every", "1", "--steps", "100", "--dt"];
  await assert.rejects(
    isoform(...coarse, "0.05", "--checkpoint", at("coarse"), "--checkpoint-every", "1"),
    /the flow (is NaN|has a negative \w+) in cell \(\d+, 0, 0\) after step (\d+): .*(tube|coarse) holds step \d+: go on with --restart .*(tube|coarse) and a smaller dt$/,
  );
  assert.match(await isoform(...coarse, "0.002", "--time", "0.04"), /time 0.0400000, dt 0.00200000/);
  await assert.rejects(
    isoform("tube", "--nx", "50", "--cfl", "30", "--steps", "20", "--checkpoint", at("first")),
    /first holds step 0: go on with --restart .*first and a smaller cfl/,
  );
  assert.match(await isoform("tube", "--restart", at("first"), "--cfl", "0.5", "--steps", "3"), /step 3/);
  await assert.rejects(isoform("tube", "--restart", at("first"), "--dt", "0.001"), /made with cfl 30: give another cfl in place of dt/);
  await assert.rejects(isoform("tube", "--restart", at("tube"), "--cfl", "0.5"), /made with dt 0.004: give another dt in place of cfl/);
});

test("what is no checkpoint of this solver is refused", async () => {
  await writeFile(at("text"), "density 1\n".repeat(100));
  await assert.rejects(isoform("tube", "--restart", at("text")), /text/);
  await assert.rejects(isoform("tube", "--restart", at("none")), /none/);
  await isoform("tube", "--nx", "50", "--steps", "1", "--checkpoint", at("part"));
  await writeFile(at("part"), (await readFile(at("part"))).subarray(0, 500));
  await assert.rejects(isoform("tube", "--restart", at("part")), /part/);
  await isoform("tube", "--nx", "50", "--steps", "1", "--checkpoint", at("double"));
  await assert.rejects(isoform("tube", "--restart", at("double"), "--type", "f32"), /f64|f32/);
});

test("a flow that is too thin for its devices is told so", async () => {
  await assert.rejects(isoform("tube", "--nx", "50", "--devices", "wasm*2"), /use fewer devices/);
  await assert.rejects(isoform("box", "--flow", "taylor-green", "--nz", "8", "--devices", "wasm*3"), /fewer devices or a larger grid/);
});
