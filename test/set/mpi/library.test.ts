import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { spawnSync } from "node:child_process";
import { launched, LAUNCH_VARIABLES, speaks } from "../../../src/set/launched.js";
import { candidates } from "../../../src/set/mpi/library.js";
import { findLauncher } from "../../../src/set/mpi/launcher.js";
import { eachLauncher, launch, program } from "./launchers.js";

describe("what launchers tell", () => {
  it("counts and ranks by the variables of each launcher", () => {
    for (const { launcher, kind, count, rank } of LAUNCH_VARIABLES)
      assert.deepEqual(launched({ [count]: "4", [rank]: "3" }), { launcher, kind, count: 4, rank: 3 });
  });

  it("nothing without variables, with empty ones, and in an allocation of Slurm", () => {
    for (const env of [{}, { PMI_SIZE: "" }, { PMI_SIZE: "many" }, { SLURM_NTASKS: "8", SLURM_PROCID: "0" }])
      assert.equal(launched(env), undefined);
  });

  it("rank 0 speaks for all, and each that works alone", () => {
    assert.equal(speaks({}), true);
    assert.equal(speaks({ PMI_SIZE: "2", PMI_RANK: "0" }), true);
    assert.equal(speaks({ PMI_SIZE: "2", PMI_RANK: "1" }), false);
    assert.equal(speaks({ PMI_SIZE: "2", PMI_RANK: "1", ISOFORM_ALONE: "1" }), true);
  });
});

describe("libraries to try", () => {
  const names = (env: NodeJS.ProcessEnv, launcher?: string): string[] => candidates(env, launcher).map(({ path }) => path);

  it("ISOFORM_MPI alone, where it is set", () => {
    assert.deepEqual(candidates({ ISOFORM_MPI: "/opt/libmpi.so", OPAL_PREFIX: "/opt" }, "/usr/bin/mpirun"), [
      { path: "/opt/libmpi.so", why: "ISOFORM_MPI" },
    ]);
  });

  it("names of the launcher's kind, or of all kinds", () => {
    assert.deepEqual(names({ OMPI_COMM_WORLD_SIZE: "2" }), ["libmpi.so.40", "libmpi.so.80"]);
    assert.ok(!names({ PMI_SIZE: "2" }).includes("libmpi.so.40"));
    assert.ok(names({}).includes("libmpi.so.40") && names({}).includes("libmpich.so.12"));
  });

  it("first beside the launcher, then in folders that variables name", () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-mpi-"));
    for (const one of ["a", "b"]) {
      for (const part of ["bin", "lib"]) mkdirSync(join(folder, one, part), { recursive: true });
      writeFileSync(join(folder, one, "lib/libmpi.so.12"), "");
    }
    writeFileSync(join(folder, "a/bin/mpiexec"), "");
    const found = candidates({ PMI_SIZE: "2", MPI_HOME: join(folder, "b") }, join(folder, "a/bin/mpiexec"));
    rmSync(folder, { recursive: true });
    assert.deepEqual(found.slice(0, 2), [
      { path: join(folder, "a/lib/libmpi.so.12"), why: `beside ${join(folder, "a/bin/mpiexec")}` },
      { path: join(folder, "b/lib/libmpi.so.12"), why: "MPI_HOME" },
    ]);
  });
});

describe("the launcher", () => {
  it("is missing among this process's parents, or is one", () => {
    const found = findLauncher();
    assert.ok(found === undefined || /mpi|orte|prte|hydra|slurm/.test(found));
  });

  it("is found through a shell", { skip: process.platform === "linux" ? false : "it needs /proc" }, () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-launcher-"));
    // A shell of that name stands in.
    const shell = join(folder, "mpiexec");
    const copied = spawnSync("cp", ["-L", "/bin/sh", shell]);
    assert.equal(copied.status, 0);
    chmodSync(shell, 0o755);
    const url = new URL("../../../src/set/mpi/launcher.js", import.meta.url).href;
    const text = `console.log((await import(${JSON.stringify(url)})).findLauncher())`;
    const { stdout, stderr } = spawnSync(
      shell,
      ["-c", `sh -c '"$0" --input-type=module -e "$1"; true' "$0" "$1"; true`, process.execPath, text],
      {
        encoding: "utf8",
      },
    );
    rmSync(folder, { recursive: true });
    assert.equal(stdout.trim(), shell, stderr);
  });
});

eachLauncher((launcher) => {
  it("all that was tried is told once, where there is no library", () => {
    let [stderr, lines]: [string, string[]] = ["", []];
    // Rank 0 is killed before it has told where it starts two seconds after the other one, as on a busy machine.
    for (let turn = 0; turn < 5 && lines.length === 0; turn++) {
      const ended = launch(launcher, 2, [program("ends"), "throw"], { ISOFORM_MPI: "/nonexistent/libmpi.so" });
      stderr = ended.stderr;
      assert.equal(ended.status, 2, stderr);
      lines = stderr.split("\n").filter((line) => line.includes("no MPI library: tried /nonexistent/libmpi.so (ISOFORM_MPI): "));
    }
    assert.equal(lines.length, 1, stderr);
    assert.match(lines[0], /Remedy: .*ISOFORM_MPI/);
  });

  it("a library of something else is not MPI", () => {
    const { status, stderr } = launch(launcher, 1, [program("ends"), "throw"], { ISOFORM_MPI: "libm.so.6" });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /tried libm\.so\.6 \(ISOFORM_MPI\): it is not a library of MPI/);
  });
});
