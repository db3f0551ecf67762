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
    const folders = readdirSync(many).filter((each) => statSync(join(many, each)).isDirectory());
    // Each of the six VTK files, and the checkpoint, has one.
    assert.equal(folders.length, 7);
    for (const each of folders) assert.equal(readdirSync(join(many, each)).length, RANKS);

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
