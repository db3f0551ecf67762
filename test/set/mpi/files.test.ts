import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, it } from "node:test";
import { main } from "../../cli/isoform.js";
import { digestsIn } from "./digests.js";
import { eachLauncher, launch, program } from "./launchers.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-files-"));
after(() => rmSync(folder, { recursive: true }));

const RANKS = 3;
/** Bytes of the larger fields and the particles of the program. */
const WHOLE = 16 * 24 * 40 * 8 * 3;

interface Bytes {
  readonly given: number;
  readonly read: number;
  readonly wrote: number;
}

const open = (name: string): string => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};

/** How many files the folders of pieces in a folder have, fewest first. */
const piecesIn = (where: string): number[] =>
  readdirSync(where)
    .filter((each) => statSync(join(where, each)).isDirectory())
    .map((each) => readdirSync(join(where, each)).length)
    .sort((a, b) => a - b);

eachLauncher((launcher) => {
  it("files in pieces are read as the files of one process, and no rank is given the values of another", () => {
    const name = launcher.name.replace(/\W/g, "");
    const [one, many] = [open(`${name}-one`), open(`${name}-many`)];
    const alone = spawnSync(process.execPath, [program("files"), "js", one], { encoding: "utf8" });
    assert.equal(alone.status, 0, alone.stderr);
    const { status, stdout, stderr } = launch(launcher, RANKS, [program("files"), "mpi:js", many], { OMP_NUM_THREADS: "1" });
    assert.equal(status, 0, stderr);
    assert.deepEqual(digestsIn(stdout), digestsIn(alone.stdout));
    assert.deepEqual(readFileSync(join(many, "raw")), readFileSync(join(one, "raw")));

    const written = (text: string): string[] => (JSON.parse(/^files (.*)$/m.exec(text)![1]) as string[]).map((path) => basename(path));
    assert.deepEqual(written(alone.stdout), ["u.vti", "u.vti", "t.vti", "u.vtr", "t.vtr", "u.vtu", "t.vtu"]);
    assert.deepEqual(written(stdout), ["u.pvti", "u.pvti", "t.pvti", "u.pvtr", "t.pvtr", "u.pvtu", "t.pvtu"]);
    assert.deepEqual(piecesIn(many), Array<number>(7).fill(RANKS));

    const reports = [...stdout.matchAll(/^bytes (.*)$/gm)].map(([, text]) => JSON.parse(text) as Record<string, Bytes>);
    assert.equal(reports.length, RANKS);
    for (const report of reports) {
      // Slabs have a third of the values, about: they are cut by their active cells.
      for (const [what, { given, wrote }] of Object.entries(report)) {
        assert.ok(given < 2 ** 14, `${what}: ${given} bytes were given to all ranks`);
        if (what === "raw") assert.ok(wrote < 0.5 * WHOLE, `${what}: ${wrote} bytes were written`);
      }
      const sizes = (which: string): number => reports.reduce((sum, each) => sum + each[which].wrote, 0);
      for (const which of ["checkpoint", "image", "mesh"])
        assert.ok(report[which].wrote < 0.5 * sizes(which), `${which}: ${report[which].wrote} of ${sizes(which)} bytes`);
      // Values are compared with their digests, then read again.
      assert.ok(report.restore.read < 1.3 * sizes("checkpoint"), `restore: ${report.restore.read} of ${sizes("checkpoint")} bytes`);
    }
  });

  it("so are files of a box that is cut along y, or y and z, with a picture of each member", () => {
    const name = launcher.name.replace(/\W/g, "");
    const one = open(`${name}-uncut`);
    const alone = spawnSync(process.execPath, [program("files"), "js", one], { encoding: "utf8" });
    assert.equal(alone.status, 0, alone.stderr);
    for (const [count, spec, split, members] of [
      [3, "mpi:js", "y", 3],
      [4, "mpi:js", "yz", 4],
      [2, "mpi:js*2", "yz", 4],
    ] as const) {
      const many = open(`${name}-${split}-${count}`);
      const { status, stdout, stderr } = launch(launcher, count, [program("files"), spec, many, split]);
      assert.equal(status, 0, stderr);
      assert.deepEqual(digestsIn(stdout), digestsIn(alone.stdout));
      assert.deepEqual(readFileSync(join(many, "raw")), readFileSync(join(one, "raw")));
      // The checkpoint and three pictures of a grid that is cut along its planes have a piece for each rank.
      assert.deepEqual(piecesIn(many), [...Array<number>(4).fill(count), ...Array<number>(3).fill(members)]);
      for (const [, text] of stdout.matchAll(/^bytes (.*)$/gm))
        for (const [what, { given, wrote }] of Object.entries(JSON.parse(text) as Record<string, Bytes>)) {
          assert.ok(given < 2 ** 14, `${what}: ${given} bytes were given to all ranks`);
          if (what === "raw") assert.ok(wrote < 0.6 * WHOLE, `${what}: ${wrote} bytes were written`);
        }
    }
  });

  it("pictures of one process and of several replace each other, so that no earlier one is taken for the new", () => {
    const name = launcher.name.replace(/\W/g, "");
    const where = open(`${name}-forms`);
    const words = [main, "poisson", "--size", "12", "--iterations", "2", "--vtk", join(where, "x.vti"), "--devices"];
    const alone = (): void => {
      const { status, stderr } = spawnSync(process.execPath, [...words, "js"], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
    };
    const together = (): void => {
      const { status, stderr } = launch(launcher, 2, [...words, "mpi:js"]);
      assert.equal(status, 0, stderr);
    };
    writeFileSync(join(where, "y.vti"), "another");
    writeFileSync(join(where, "x.pvti"), "a file that Isoform did not write");
    alone();
    assert.deepEqual(readdirSync(where).sort(), ["x.pvti", "x.vti", "y.vti"]);
    together();
    const both = readdirSync(where).sort();
    assert.deepEqual([both[0], both.length, both[2]], ["x.pvti", 3, "y.vti"]);
    alone();
    assert.deepEqual(readdirSync(where).sort(), ["x.vti", "y.vti"]);
  });
});
