import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eachLauncher, launch } from "../set/mpi/launchers.js";
import { isoform, main } from "./isoform.js";

/** One of two processes, as Open MPI tells it. */
const rank = (n: number): Record<string, string> => ({ OMPI_COMM_WORLD_SIZE: "2", OMPI_COMM_WORLD_RANK: `${n}` });
const HEAT = ["heat", "--size", "8", "--steps", "2"];

describe("several processes", () => {
  it("that would each do all of the work are refused, and rank 0 tells", () => {
    const [first, second] = [0, 1].map((n) => isoform([...HEAT, "--devices", "wasm*2"], undefined, rank(n)));
    assert.deepEqual([first.status, second.status], [2, 2]);
    assert.equal(
      first.stderr,
      "isoform: mpirun started 2 processes, and each would do all of it: say --devices mpi:wasm*2, or --alone if that is meant\n",
    );
    assert.deepEqual([first.stdout, second.stdout, second.stderr], ["", "", ""]);
  });

  it("are refused by commands without --devices, too", () => {
    const { status, stderr } = isoform(["port", "heat.f90", "--to", "openmp"], undefined, { PMI_SIZE: "3", PMI_RANK: "0" });
    assert.equal(status, 2);
    assert.match(stderr, /^isoform: mpirun started 3 processes, and each would do all of it: start one process, or say --alone/);
  });

  it("work by themselves with --alone", () => {
    for (const n of [0, 1]) {
      const { status, stdout, stderr } = isoform([...HEAT, "--alone"], undefined, rank(n));
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^wasm: dense grid of 8 x 8/);
    }
    assert.equal(isoform(HEAT, undefined, { ...rank(1), ISOFORM_ALONE: "1" }).status, 0);
  });

  it("are refused where an application cannot span them", () => {
    const { status, stderr } = isoform(["stream", "--devices", "mpi:wasm"], undefined, rank(0));
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^isoform: mpirun started 2 processes, and stream cannot span them yet: .*Start one process with --devices wasm\n$/,
    );
  });

  it("are told of a wrong option once", () => {
    const [first, second] = [0, 1].map((n) => isoform(["heat", "--siz", "8"], undefined, rank(n)));
    assert.match(first.stderr, /^error: unknown option '--siz'/);
    assert.deepEqual([first.status, second.status, second.stdout, second.stderr], [2, 2, "", ""]);
  });

  it("hear the doctor once", () => {
    const { status, stdout, stderr } = isoform(["doctor"], undefined, rank(1));
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  });
});

it("one process of a launcher is one process", () => {
  assert.equal(isoform(HEAT, undefined, { OMPI_COMM_WORLD_SIZE: "1", OMPI_COMM_WORLD_RANK: "0" }).status, 0);
});

eachLauncher((launcher) => {
  it("isoform heat in two processes: status 2, one message", () => {
    const { status, stdout, stderr } = launch(launcher, 2, [main, "heat", "--devices", "wasm"]);
    assert.equal(status, 2, stderr);
    assert.equal(stderr.split("\n").filter((line) => line.startsWith("isoform:")).length, 1, stderr);
    assert.doesNotMatch(stdout, /grid/);
  });

  it("isoform heat in one process of mpi: computes as without", () => {
    const { status, stdout, stderr } = launch(launcher, 1, [main, ...HEAT, "--devices", "mpi:wasm"]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^mpi:wasm: dense grid of 8 x 8/);
  });
});
