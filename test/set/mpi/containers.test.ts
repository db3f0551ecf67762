import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { digests, eachLauncher, launch, program } from "./launchers.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-containers-"));
after(() => rmSync(folder, { recursive: true }));

/** Words after the devices: iterations, files named after a run, and the checkpoint that it goes on from. */
const words = (name: string, iterations: number, from?: string): string[] => [
  String(iterations),
  join(folder, `${name}.ckpt`),
  join(folder, `${name}.vti`),
  ...(from === undefined ? [] : [join(folder, `${from}.ckpt`)]),
];

const alone = (spec: string, rest: readonly string[]): Record<string, unknown> =>
  digests(spawnSync(process.execPath, [program("containers"), spec, ...rest], { encoding: "utf8" }));

/** The runs of one process, which are those to compare with for all launchers. */
const known = new Map<string, Record<string, unknown>>();
function aloneOnce(name: string, iterations: number): Record<string, unknown> {
  const found = known.get(name) ?? alone("js", words(name, iterations));
  known.set(name, found);
  return found;
}

eachLauncher((launcher) => {
  it("fields, folds, rolls, scalars and files have the values of one process, and checkpoints go on with any number of ranks", () => {
    const expected = aloneOnce("one", 6);
    const on = (count: number, spec: string, rest: readonly string[]): Record<string, unknown> =>
      digests(launch(launcher, count, [program("containers"), spec, ...rest]));
    assert.deepEqual(on(3, "mpi:js", words("three", 6)), expected);
    assert.deepEqual(on(2, "mpi:wasm*2", words("two", 2)), aloneOnce("half", 2));
    assert.deepEqual(on(4, "mpi:js", words("four", 4, "two")), expected);
    assert.deepEqual(alone("wasm*3", words("again", 4, "two")), expected);
  });
});
