import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { previousOf, readCheckpoint } from "../../../src/io/index.js";
import { digestsIn } from "./digests.js";
import { eachLauncher, launch, program, type Ended } from "./launchers.js";

const SEED = Number(process.env.ISOFORM_RANDOM_SEED ?? 1);
const ITERATIONS = 5;
const RANKS = 2;

const folder = mkdtempSync(join(tmpdir(), "isoform-kills-"));
after(() => rmSync(folder, { recursive: true }));

let seed = SEED;
/** The next of the generator's numbers, below `limit`. */
function below(limit: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

/** Moments of a write, as calls of all ranks: the folder is there, a piece is on the disk, all are, and the index is being put in place. */
const MOMENTS = [
  ["the folder of pieces", "after"],
  ["the pieces of a file", "before"],
  ["the pieces of a file", "after"],
  ["the end of a file", "before"],
] as const;

/** When a rank kills itself: at each of some moments, of the first writes or a later one, and at moments that a clock chooses. */
const killsOf = (moments: readonly (readonly [string, string])[], timers: number): string[][] => [
  ...moments.map(([call, when]) => [`${below(RANKS)}`, call, `${below(2)}`, when]),
  ...Array.from({ length: timers }, () => [`${below(RANKS)}`, "timer", `${below(150)}`]),
];

const numbersIn = ({ stdout }: Ended, word: string): number[] =>
  [...stdout.matchAll(new RegExp(`^${word} (\\d+)$`, "gm"))].map(([, n]) => Number(n));

/** The iteration of a skeleton that a checkpoint has, once all its values were read. */
async function iterationIn(path: string): Promise<number> {
  const found = await readCheckpoint(path);
  const arrays = await found.arrays();
  // One scalar counts the iterations.
  return arrays.find((array) => array instanceof Int32Array && array.length === 1)![0];
}

eachLauncher((launcher) => {
  it("a rank that is killed at any moment loses what came after the last checkpoint, and nothing else", async () => {
    const isFirst = launcher.name === "Open MPI";
    const path = join(folder, `${launcher.name.replace(/\W/g, "")}.ckpt`);
    const words = (devices: string, to: string, ...kill: string[]): string[] => [program("killed"), devices, `${ITERATIONS}`, to, ...kill];
    const alone = spawnSync(process.execPath, words("js", join(folder, "alone")), { encoding: "utf8" });
    assert.equal(alone.status, 0, alone.stderr);
    let reached = 0;
    // Both MPIs carry the same messages: one of them has all moments.
    for (const kill of killsOf(isFirst ? MOMENTS : [MOMENTS[2]], isFirst ? 1 : 0)) {
      const ended = launch(launcher, RANKS, words("mpi:js", path, ...kill), { OMP_NUM_THREADS: "1" });
      const [from] = numbersIn(ended, "from");
      if (from !== undefined) assert.ok(from >= reached && from <= ITERATIONS, `${from} after ${reached}, ${kill.join(" ")}`);
      reached = Math.max(reached, from ?? 0, ...numbersIn(ended, "wrote"));
      if (reached > 0) assert.ok((await iterationIn(path)) >= reached, kill.join(" "));
      if (reached > 1) await iterationIn(previousOf(path));
    }
    // Another number of ranks, and of members, ends it.
    const last = launch(launcher, 3, words("mpi:js", path), { OMP_NUM_THREADS: "1" });
    assert.equal(last.status, 0, last.stderr);
    assert.ok(numbersIn(last, "from")[0] >= reached);
    assert.deepEqual(digestsIn(last.stdout), digestsIn(alone.stdout));
    const left = readdirSync(folder).filter((name) => name.startsWith(path.slice(folder.length + 1)));
    const isMarked = (name: string): boolean => /\.[0-9a-f]{16}$/.test(name);
    assert.deepEqual(
      left.filter((name) => !isMarked(name)).sort(),
      [path, previousOf(path)].map((each) => each.slice(folder.length + 1)),
    );
    // Where the last run wrote nothing, a folder of the one before may be left.
    assert.ok(left.filter(isMarked).length <= (numbersIn(last, "wrote").length > 0 ? 2 : 3), left.join());
  });
});
