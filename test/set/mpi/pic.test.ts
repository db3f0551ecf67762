import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { hdf5Missing, readImage, readOpenPmd } from "isoform/io";
import { main } from "../../cli/isoform.js";
import { eachLauncher, launch, program, type Launcher } from "./launchers.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-pic-ranks-"));
after(() => rmSync(folder, { recursive: true }));
const ONE_THREAD = { OMP_NUM_THREADS: "1" };

function alone(words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

function together(launcher: Launcher, count: number, words: readonly string[]): string {
  const { status, stdout, stderr } = launch(launcher, count, words, ONE_THREAD);
  assert.equal(status, 0, stderr);
  return stdout;
}

const digestIn = (stdout: string): string | undefined => /^pic: [0-9a-f]{16}$/m.exec(stdout)?.[0];

/** Words of a short run, with files of these names. */
const run = (devices: string, name: string, more: readonly string[] = []): string[] => {
  const own = [
    "--particles",
    "600",
    "--cells",
    "8",
    "--dt",
    "0.1",
    "--every",
    "2",
    "--devices",
    devices,
    "--json",
    join(folder, `${name}.json`),
  ];
  return [main, "pic", "weibel", "--precision", "strict", ...own, ...more];
};

/** The samples of a run, and what was fitted. */
function rowsOf(name: string): unknown {
  const { rows, conserved, comparisons } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Record<string, unknown>;
  return { rows, conserved, comparisons };
}

eachLauncher((launcher) => {
  /** In a box with a plane for each rank, pictures are written in pieces. */
  async function inPieces(file: (text: string) => string): Promise<void> {
    const words = (devices: string, name: string): string[] => {
      const size = ["--particles", "900", "--cells", "5", "--degree", "1", "--dt", "0.05", "--time", "0.1"];
      return [main, "pic", "3d3v", "--precision", "strict", ...size, "--devices", devices, "--vtk", file(name)];
    };
    alone(words("js*3", "box-one.vti"));
    const told = together(launcher, 3, words("mpi:js", "box-many.vti"));
    assert.match(told, /box-many\.pvti shows the pieces of all processes/);
    assert.deepEqual(await readImage(file("box-many.pvti")), await readImage(file("box-one.vti")));
  }

  it("a plasma's bits depend on the number of members only", () => {
    const expected = digestIn(alone([program("pic"), "js*4", "free"]));
    assert.ok(expected);
    assert.equal(digestIn(together(launcher, 4, [program("pic"), "mpi:js", "free"])), expected);
    assert.equal(digestIn(together(launcher, 2, [program("pic"), "mpi:wasm*2", "free"])), expected);
  });

  it("all ranks end alike where one has lost a particle, which is told once", () => {
    const { status, stderr } = launch(launcher, 2, [program("pic"), "mpi:js", "lost"], ONE_THREAD);
    assert.notEqual(status, 0);
    assert.match(stderr, /1 of 151 particles of species "ions" were lost at the start.*particle 153, has x/);
  });

  // Both MPIs carry the same messages: one of them does the rest.
  if (launcher.name === "MPICH") return;

  it("particles are sorted on each device of each rank", () => {
    const expected = digestIn(alone([program("pic"), "js*3", "sorted"]));
    assert.ok(expected);
    assert.equal(digestIn(together(launcher, 3, [program("pic"), "mpi:js", "sorted"])), expected);
  });

  it("isoform pic writes what one process of as many members writes, and goes on from its checkpoint", async () => {
    const name = launcher.name.replaceAll(/\W/g, "");
    const file = (text: string): string => join(folder, `${name}-${text}`);
    const hdf5 = (text: string): string[] => (missing ? [] : ["--hdf5", file(text)]);
    const missing = await hdf5Missing();
    alone(run("js*2", `${name}-one`, ["--time", "0.8", "--vtk", file("one.vti"), ...hdf5("one.h5")]));
    const first = together(launcher, 2, run("mpi:js", `${name}-first`, ["--time", "0.4", "--checkpoint", file("state")]));
    assert.equal(first.split("steps in").length, 2, first);
    const files = ["--vtk", file("many.vti"), ...hdf5("many.h5")];
    together(launcher, 2, run("mpi:wasm", `${name}-many`, ["--time", "0.8", "--restart", file("state"), ...files]));
    assert.deepEqual(rowsOf(`${name}-many`), rowsOf(`${name}-one`));
    assert.deepEqual(readFileSync(file("many.vti")), readFileSync(file("one.vti")));
    if (!missing) assert.deepEqual(await readOpenPmd(file("many.h5")), await readOpenPmd(file("one.h5")));
    await inPieces(file);
    // Another number of members goes on, too: other bits, the same plasma.
    const back = alone(run("js", `${name}-back`, ["--time", "0.8", "--restart", file("state")]));
    assert.match(back, /^4 steps in/m);
  });
});
