import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { digests, eachLauncher, launch, program } from "./launchers.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-splits-"));
after(() => rmSync(folder, { recursive: true }));

/** Words after the devices: the split, the level of overlap, iterations, files named after a run, and the checkpoint that it goes on from. */
const words = (split: string, occ: string, name: string, iterations: number, from?: string): string[] => [
  split,
  occ,
  `${iterations}`,
  join(folder, `${name}.ckpt`),
  join(folder, `${name}.vti`),
  ...(from === undefined ? [] : [join(folder, `${from}.ckpt`)]),
];

const alone = (spec: string, rest: readonly string[]): Record<string, unknown> =>
  digests(spawnSync(process.execPath, [program("splits"), spec, ...rest], { encoding: "utf8" }));

const known = new Map<number, Record<string, unknown>>();
function onOneMember(iterations: number): Record<string, unknown> {
  const found = known.get(iterations) ?? alone("js", words("z", "none", `one ${iterations}`, iterations));
  known.set(iterations, found);
  return found;
}

it("members of one process that are cut along y, and y and z, leave the bytes of one member", () => {
  assert.deepEqual(alone("wasm*3", words("y", "two-way", "three", 4)), onOneMember(4));
  assert.deepEqual(alone("js*4", words("yz", "standard", "four", 4)), onOneMember(4));
});

eachLauncher((launcher) => {
  it("ranks that are cut along y, and y and z, leave the bytes of one process, and checkpoints go on with another cut", () => {
    const on = (count: number, spec: string, rest: readonly string[], env?: NodeJS.ProcessEnv): Record<string, unknown> =>
      digests(launch(launcher, count, [program("splits"), spec, ...rest], env));
    assert.deepEqual(on(2, "mpi:js", words("y", "standard", "two", 2)), onOneMember(2));
    assert.deepEqual(on(4, "mpi:js", words("yz", "extended", "ranks", 4)), onOneMember(4));
    assert.deepEqual(on(3, "mpi:js*2", words("yz", "two-way", "six", 4)), onOneMember(4));
    assert.deepEqual(on(2, "mpi:js*2", words("yz", "standard", "carried", 2), { STAND_IN: "1" }), onOneMember(2));
    const later = alone("js", words("z", "none", "one later", 4, "one 2"));
    assert.deepEqual(on(2, "mpi:js*2", words("yz", "none", "later", 4, "two")), later);
  });
});
