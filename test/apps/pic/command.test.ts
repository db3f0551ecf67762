import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hdf5Missing, readImage, readOpenPmd } from "isoform/io";
import { readRun } from "./read-run.js";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const isoform = (...words: string[]) => run(process.execPath, [main, ...words]);
const folder = await mkdtemp(join(tmpdir(), "isoform-pic-"));
after(() => rm(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

const SMALL = ["--devices", "js", "--particles", "2000", "--precision", "strict"];

test("isoform pic runs a case and writes all that it is asked for", async () => {
  const names = ["csv", "svg", "vtk", "json"];
  const files = names.flatMap((name) => [`--${name}`, file(`run.${name}`)]);
  const { stdout } = await isoform("pic", "strong-landau", ...SMALL, "--dt", "0.1", "--time", "8", "--every", "1", ...files);
  assert.match(stdout, /80 steps in .* ns a particle and step/);
  assert.match(stdout, /energy changes by \d\.\d+e-4 at most; Gauss' law holds to \d\.\de-1[3-6]/);
  assert.match(stdout, /first damping rate +-0\.(2[5-9]|3[0-3])\d+ +-0\.28600/);
  const lines = (await readFile(file("run.csv"), "utf8")).trim().split("\n");
  assert.equal(lines[0], "time,mode,energy E1,energy electrons,energy,momentum 1,momentum 2,momentum 3,gauss,divergence");
  assert.equal(lines.length, 82);
  assert.ok(lines.slice(1).every((line) => line.split(",").length === 10 && !line.includes("NaN")));
  assert.match(await readFile(file("run.svg"), "utf8"), /envelope of the peaks: -0\.\d+.*Kraus et al\. 2017: -0\.2860/);
  const image = await readImage(file("run.vtk"));
  assert.deepEqual(image.extents, [32, 1, 1]);
  assert.ok(image.cellData.get("E")!.data.some((value) => Math.abs(value) > 1e-3));
  const result = JSON.parse(await readFile(file("run.json"), "utf8"));
  assert.equal(result.rows.length, 81);
  assert.equal(result.comparisons[0].quantity, "first damping rate");
});

test("wave number, beams, window and a distribution of one's own are options", async () => {
  const words = ["pic", "landau", ...SMALL, "--cells", "16", "--dt", "0.1", "--every", "1"];
  const { stdout } = await isoform(...words, "--k", "0.4", "--time", "12", "--window", "2,12", "--svg", file("landau.svg"));
  assert.match(stdout, /damping rate +-0\.\d+ +[\d.e-]+ +-0\.066128 /);
  const svg = await readFile(file("landau.svg"), "utf8");
  for (const name of ["amplitude of the first mode of E1", "measured"]) assert.ok(svg.includes(`>${name}<`), name);
  assert.match(svg, /envelope of the fit: -0\.\d+<[^]*dispersion relation: -0\.06613</);
  const streams = ["--fractions", "0.5,0.5", "--drifts", "3,-3", "--temperatures", "1,1", "--k", "0.25", "--mode", "2"];
  const unstable = await isoform(...words, ...streams, "--time", "20", "--json", file("streams.json"));
  assert.match(unstable.stdout, /growth rate +0\.2\d+ +[\d.e-]+ +0\.27492 /);
  const { options } = JSON.parse(await readFile(file("streams.json"), "utf8"));
  assert.deepEqual([options.drifts, options.mode], [[3, -3], 2]);

  await writeFile(file("flat.csv"), "v1,f\n-2,1\n2,1\n");
  const own = ["--distribution", file("flat.csv"), "--checkpoint", file("flat")];
  const flat = await isoform(...words, ...own, "--time", "8", "--csv", file("flat.csv.out"));
  assert.match(flat.stdout, /rate of the envelope +-?\d[^]*frequency +1\.\d+ +[\d.e-]+ *\n/);
  const again = await isoform("pic", "landau", "--devices", "js", "--restart", file("flat"), "--time", "10");
  assert.match(again.stdout, /20 steps in /);
  await assert.rejects(isoform("pic", "weibel", ...SMALL, ...own.slice(0, 2)), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /has the columns v1,f: this case takes v1,v2,f or x1,v1,v2,f/);
    return error.code === 2;
  });
  await assert.rejects(isoform(...words, "--k", "-1"), /'-1' is invalid\. It needs a number greater than 0/);
});

const missing = await hdf5Missing();
test("isoform pic writes fields and particles by openPMD", { skip: missing?.reason }, async () => {
  const words = ["pic", "weibel", ...SMALL, "--layout", "aos", "--time", "1.6", "--every", "5"];
  const snapshots = ["--hdf5", file("run.h5"), "--hdf5-every", "3", "--checkpoint", file("at-20")];
  await isoform(...words, ...snapshots);
  const steps = await readOpenPmd(file("run.h5"));
  assert.deepEqual(
    steps.map(({ step, time }) => [step, time.toFixed(2)]),
    [
      [0, "0.00"],
      [15, "1.20"],
      [20, "1.60"],
    ],
  );
  const { meshes, species } = steps[2];
  assert.deepEqual([meshes.B.extents, meshes.B.spacing], [[32], [Math.PI / 20]]);
  const b3 = (steps[0].meshes.B.values as Record<string, Float64Array>).z;
  assert.ok(Math.max(...b3) > 9e-5 && Math.max(...b3) < 1.1e-4);
  const { position, momentum, weighting, charge, mass } = species.electrons as Record<string, Record<string, Float64Array>>;
  assert.deepEqual([Object.keys(position), Object.keys(momentum), charge, mass], [["x"], ["x", "y"], -1, 1]);
  // The last array of a checkpoint has whole particles here: x, v_1, v_2, w.
  const particles = (await readRun(file("at-20"))).state.arrays[2];
  for (const [k, column] of [position.x, momentum.x, momentum.y, weighting as unknown as Float64Array].entries())
    assert.deepEqual(
      Array.from(column),
      Array.from(particles).filter((_, n) => n % 4 === k),
    );
  assert.match(await readFile(file("run.xmf"), "utf8"), /<Time Value="1.6"\/>[\s\S]*run.h5:\/data\/20\/meshes\/E\/x/);
  await assert.rejects(
    isoform("pic", "weibel", "--restart", file("at-20"), "--hdf5", file("run.h5")),
    /may hold snapshots of the earlier run/,
  );
});

test("isoform pic push runs the operator H_p1 alone and tells how fast it was", async () => {
  const words = ["--devices", "js", "--particles", "2000", "--deposit", "cells", "--layout", "aos", "--hot", "--calls", "3"];
  const { stdout } = await isoform("pic", "push", ...words, "--json", file("push.json"));
  assert.match(stdout, /push: 2000 particles, hot, cells, aos, fast\n/);
  assert.match(stdout, /ns a particle, .* GB\/s by 112 bytes a particle\na sort takes .* ns a particle\n.* % of the floor/);
  assert.match(stdout, /velocities differ by \d/);
  const result = JSON.parse(await readFile(file("push.json"), "utf8"));
  assert.equal(result.bytes, 224_000);
  assert.ok(result.seconds > 0 && result.sortSeconds > 0 && result.bandwidth > 0 && result.off.current < 1e-12);
});

test("a run that was cut goes on from its checkpoint with the same bits", async () => {
  const weibel = ["pic", "weibel", ...SMALL, "--every", "5"];
  await isoform(...weibel, "--time", "4", "--csv", file("whole.csv"));
  await isoform(...weibel, "--time", "2", "--checkpoint", file("state"));
  await isoform("pic", "weibel", "--devices", "js", "--restart", file("state"), "--time", "4", "--csv", file("again.csv"));
  assert.equal(await readFile(file("again.csv"), "utf8"), await readFile(file("whole.csv"), "utf8"));

  const refused = (message: RegExp, ...words: string[]) =>
    assert.rejects(isoform("pic", ...words, "--restart", file("state")), (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, message);
      return error.code === 2;
    });
  await refused(/made with --particles 2000: leave out --particles/, "weibel", "--particles", "1000");
  await refused(/of the case weibel: run isoform pic weibel/, "landau");
  await writeFile(file("state"), (await readFile(file("state"))).subarray(0, 5000));
  await refused(/is damaged: its checksum is wrong/, "weibel");
});

test("several devices share the particles, and snapshots have those of all", { skip: missing?.reason }, async () => {
  const words = ["pic", "weibel", ...SMALL.slice(2), "--loading", "symmetric", "--time", "0.8", "--every", "5"];
  const { stdout } = await isoform(...words, "--devices", "js*2", "--hdf5", file("two.h5"), "--hdf5-every", "2");
  assert.match(stdout, /^js\*2: /);
  await isoform(...words, "--devices", "js", "--hdf5", file("one.h5"), "--hdf5-every", "2");
  const [one, two] = [await readOpenPmd(file("one.h5")), await readOpenPmd(file("two.h5"))];
  assert.deepEqual(two[0].species, one[0].species);
  const places = (steps: typeof one) => (steps[1].species.electrons.position as Record<string, Float64Array>).x;
  assert.ok(places(two).every((x, i) => Math.abs(x - places(one)[i]) < 1e-12));
});

test("mobile ions are a species of their own", async () => {
  const weibel = ["pic", "weibel", ...SMALL, "--ion-mass", "25", "--time", "2", "--every", "5", "--checkpoint", file("ions")];
  const { stdout } = await isoform(...weibel, "--csv", file("ions.csv"));
  assert.match(stdout, /2000 particles a species/);
  const [head, first] = (await readFile(file("ions.csv"), "utf8")).split("\n").map((line) => line.split(","));
  const energy = (name: string): number => Number(first[head.indexOf(`energy ${name}`)]);
  // Of the same temperature.
  assert.ok(Math.abs(energy("ions") / energy("electrons") - 1) < 0.02);
  await assert.rejects(
    isoform("pic", "weibel", "--restart", file("ions"), "--ion-mass", "30"),
    /made with --ion-mass 25: leave out --ion-mass/,
  );
});

test("a run in three dimensions sorts its particles as asked, and goes on so from its checkpoint", async () => {
  const small = ["--devices", "js", "--particles", "512", "--every", "1"];
  const { stdout } = await isoform("pic", "3d3v", ...small, "--time", "0.1", "--sort", "2", "--checkpoint", file("sorted"));
  assert.match(stdout, /sobol, soa, fast, sorted every 2 steps\n/);
  const again = await isoform("pic", "3d3v", "--devices", "js", "--restart", file("sorted"), "--time", "0.15");
  assert.match(again.stdout, /sorted every 2 steps\n1 steps/);
});

for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  test(`a run that ${signal} ends leaves a checkpoint that goes on with the same bits`, async () => {
    const weibel = ["pic", "weibel", ...SMALL, "--every", "5", "--checkpoint-every", "1"];
    const child = spawn(process.execPath, [main, ...weibel, "--time", "2000", "--checkpoint", file(`cut-${signal}`)]);
    let output = "";
    child.stdout.on("data", (text: Buffer) => (output += text.toString()));
    const end = once(child, "close");
    while (!existsSync(file(`cut-${signal}.previous`)) && child.exitCode === null && child.signalCode === null) await setTimeout(20);
    child.kill(signal);
    const [code] = await end;
    assert.equal(code, exitCode);
    assert.match(output, /interrupted: go on with --restart .*cut/);
    const { state } = await readRun(file(`cut-${signal}`));
    const time = String(((state.steps + 10) * 8) / 100);
    await isoform("pic", "weibel", "--devices", "js", "--restart", file(`cut-${signal}`), "--time", time, "--csv", file("later.csv"));
    await isoform(...weibel, "--time", time, "--csv", file("straight.csv"));
    assert.equal(await readFile(file("later.csv"), "utf8"), await readFile(file("straight.csv"), "utf8"));
  });

/** As on a full disk: files may not become larger than 1 KiB. */
const limited = (...words: string[]) =>
  run("/bin/sh", ["-c", `trap '' XFSZ; ulimit -f 2; exec "$@"`, "sh", process.execPath, main, ...words]);

test("where the disk is full the checkpoint before stays, and the message says so", { skip: process.platform === "win32" }, async () => {
  const weibel = ["pic", "weibel", ...SMALL, "--every", "5", "--checkpoint", file("full")];
  await isoform(...weibel, "--time", "0.8");
  const before = await readFile(file("full"));
  await assert.rejects(limited(...weibel, "--time", "1.6"), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /^isoform: cannot write .*full: EFBIG: file too large; the previous checkpoint is still there\n$/);
    return error.code === 2;
  });
  assert.deepEqual(await readFile(file("full")), before);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.includes("full")),
    ["full"],
  );
  await assert.rejects(isoform(...weibel.slice(0, -1), "/dev/full", "--time", "0.4"), /cannot write \/dev\/full: ENOSPC/);
});

test("what a killed run has left goes at the next start", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const left = `.left.${hostname()}.${pid}.0123456789abcdef.tmp`;
  await writeFile(file(left), "");
  await isoform("pic", "weibel", ...SMALL, "--time", "0.16", "--checkpoint", file("left"));
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.includes("left")),
    ["left"],
  );
});

const BAD: readonly (readonly [message: RegExp, ...words: string[]])[] = [
  [
    /time step of 1 makes waves grow.*less than 0\.0998.* 2 \/ omega, omega\^2 the sum of .* mu_2\(theta\) \/ mu_3\(theta\).*h_1 = 0\.1571/,
    "weibel",
    "--dt",
    "1",
  ],
  [/splines of degree 7 do not exist here: choose a --degree from 1 to 5/, "landau", "--degree", "7"],
  [/5 cells along axis 1; splines of degree 3 need 7 or more/, "landau", "--cells", "5"],
  [/100 particles of species "electrons"; symmetric loading makes groups of 8/, "weibel", "--loading", "symmetric", "--particles", "100"],
  [/lie, strang, 4-lie/, "weibel", "--composition", "euler"],
  [/sorted by cell in three dimensions only: leave out --sort/, "landau", "--sort", "2"],
  [/the fields are NaN after \d+ steps: ask for a smaller --dt/, "landau", "--amplitude", "1e200", "--particles", "100"],
  [/cannot read .*missing/, "weibel", "--restart", file("missing")],
];
for (const [message, ...words] of BAD)
  test(`isoform pic ${words.slice(0, 3).join(" ").replace(folder, "")} says what is wrong`, async () => {
    await assert.rejects(isoform("pic", ...words, "--devices", "js"), (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, message);
      return error.code === 2;
    });
  });
