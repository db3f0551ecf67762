import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { deviceNames } from "../../../src/device/open.js";
import { digestsIn } from "./digests.js";
import { eachLauncher, launch, program, type Ended } from "./launchers.js";

/*
 * Devices whose memory is not the host's. PoCL's is the one that CI has.
 */

const folder = mkdtempSync(join(tmpdir(), "isoform-apart-"));
after(() => rmSync(folder, { recursive: true }));

const without = await deviceNames("opencl").then(
  ({ length }) => (length > 0 ? false : "there is no OpenCL device"),
  (error: Error) => error.message,
);

function digests({ status, stdout, stderr }: Ended): string[] {
  assert.equal(status, 0, stderr);
  return digestsIn(stdout);
}

const alone = (words: readonly string[]): string[] => digests(spawnSync(process.execPath, [...words], { encoding: "utf8" }));

const containers = (spec: string, name: string): string[] => [
  program("containers"),
  spec,
  "3",
  join(folder, `${name}.ckpt`),
  join(folder, `${name}.vti`),
];

let first = true;
eachLauncher((launcher) => {
  // Messages take the same way whoever carries them: each launcher does a part.
  if (first) {
    it("applications have the bits of one process on 2 ranks of opencl, which share a device", { skip: without }, () => {
      const words = (spec: string): string[] => [program("applications"), spec, "standard", "heat", "lbm", "poisson", "gsr"];
      assert.deepEqual(digests(launch(launcher, 2, words("mpi:opencl:0"))), alone(words("js")));
    });

    it("a plasma has the bits of one process on 2 ranks of opencl, which share a device", { skip: without }, () => {
      const told = ({ status, stdout, stderr }: Ended): string => {
        assert.equal(status, 0, stderr);
        return /^pic: [0-9a-f]{16}$/m.exec(stdout)![0];
      };
      const words = (spec: string): string[] => [program("pic"), spec, "sorted"];
      const expected = told(spawnSync(process.execPath, words("opencl*2"), { encoding: "utf8" }));
      assert.equal(told(launch(launcher, 2, words("mpi:opencl:0"))), expected);
    });

    it("applications whose messages something else carries, in the order of programs, have the bits of one process", () => {
      const words = (spec: string): string[] => [program("applications"), spec, "two-way", "heat", "poisson", "life/sparse", "gsr"];
      assert.deepEqual(digests(launch(launcher, 3, words("mpi:js*2"), { STAND_IN: "1" })), alone(words("js")));
    });
  } else
    it("fields, folds, rolls, particles and files, whose messages something else carries, have the bytes of one process", () => {
      assert.deepEqual(digests(launch(launcher, 2, containers("mpi:js", "carried"), { STAND_IN: "1" })), alone(containers("js", "js")));
    });
  first = false;

  it("NCCL that was asked for and cannot be is refused by all ranks, once", () => {
    const words = [
      "--input-type=module",
      "-e",
      `const { devices } = await import(${JSON.stringify(new URL("../../../src/set/index.js", import.meta.url).href)}); await devices("mpi:js", { link: "nccl" });`,
    ];
    const { status, stderr } = launch(launcher, 2, words);
    assert.notEqual(status, 0);
    assert.equal([...stderr.matchAll(/link "nccl": rank 0: NCCL connects GPUs of cuda, not js/g)].length, 1, stderr);
  });
});
