/*
 * The whole of STREAmS-2, built with our ports of its GPU kernels in place of its own CPU kernels: files of progress are the same, byte for byte,
 * and the last lines are the golden ones.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { FortranTarget } from "../../src/fortran/index.js";
import { goldenConfig } from "../apps/navier-stokes/golden-runs.js";
import { GOLDEN } from "../apps/navier-stokes/golden.js";
import { progressOf } from "../apps/navier-stokes/original.js";
import { needsStreams, streamsFile, streamsPort } from "./streams.js";

/** Two channels with three schemes and both gases, a turbulent layer, a laminar one, a shock. */
const NAMES = ["A", "A thermally perfect expanded", "B hybrid 0.005", "B WENO7 Rusanov", "C", "D", "E shock"];
const RUNS = NAMES.map((name) => GOLDEN.find((golden) => golden.name === name)!);
const STEPS = 10;
/** Another number adds up in another order. */
const THREADS = "2";
const FLAGS = "-O3 -fallow-argument-mismatch";

const hasMpi = ["mpif90", "mpirun", "make"].every((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
const skip = needsStreams.skip || (hasMpi ? false : "mpif90, mpirun or make is not installed");

describe("STREAmS-2 with ported kernels", { skip }, () => {
  const root = mkdtempSync(join(tmpdir(), "isoform-streams-solver-"));
  const original = join(root, "original");
  const expected = new Map<string, string>();

  /** By its own Makefile; what has been built is kept. */
  function built(folder: string, flags = FLAGS): string {
    execFileSync("make", ["--silent", `OLEVEL=${flags}`], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return join(folder, "streams_2.exe");
  }

  before(() => {
    cpSync(streamsFile(".."), original, { recursive: true, preserveTimestamps: true });
    copyFileSync(join(original, "make-templates/makefile.inc.linux64_cpu_gnu"), join(original, "makefile.inc"));
    const executable = built(original);
    for (const run of RUNS) expected.set(run.name, progressOf(executable, goldenConfig(run), STEPS));
  });
  after(() => rmSync(root, { recursive: true }));

  it("as it is prints the golden lines", () => {
    for (const { name, lines } of RUNS) {
      const printed = expected
        .get(name)!
        .split("\n")
        .map((line) => line.trim().replaceAll("E", "e").split(/ +/).join(" "));
      for (const line of lines) assert.ok(printed.includes(line), `${name}: ${line}`);
    }
  });

  const ports: readonly (readonly [FortranTarget, string])[] = [
    ["cpu", FLAGS],
    ["openmp", `${FLAGS} -fopenmp`],
  ];
  for (const [target, flags] of ports)
    it(`with the port to ${target} prints the same files`, () => {
      const folder = join(root, target);
      cpSync(original, folder, { recursive: true, preserveTimestamps: true });
      writeFileSync(join(folder, "src/singleideal/kernels_cpu.F90"), streamsPort(target));
      const executable = built(folder, flags);
      for (const run of RUNS) {
        const found = progressOf(executable, goldenConfig(run), STEPS, { OMP_NUM_THREADS: THREADS });
        assert.equal(found.split("\n").length, STEPS + 1, run.name);
        assert.equal(found, expected.get(run.name), run.name);
      }
    });
});
