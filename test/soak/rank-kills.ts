import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { digestsIn } from "../set/mpi/digests.js";
import { begin, isInstalled, launch, LAUNCHERS, program, type Ended, type Launcher } from "../set/mpi/launchers.js";
import { oneOf, picks, type Pick } from "./mutate.js";
import type { Counts, Subject } from "./subject.js";

const KILLS = 5;
const ITERATIONS = 8;
const MOST_RANKS = 4;
/** Seconds in which all processes of a job must be gone once one of them is, and those that the system may take to remove them. */
const GONE = 5;
const REMOVED = 0.5;
const ONE_THREAD = { OMP_NUM_THREADS: "1" };

/** Processes of Node with this word on their command lines. */
function ranksWith(word: string): number[] {
  const isOne = (pid: string): boolean => {
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word) && /node/.test(basename(readlinkSync(`/proc/${pid}/exe`)))
      );
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOne(name))
    .map(Number);
}

const words = (spec: string, path: string): string[] => [program("killed"), spec, `${ITERATIONS}`, path];

/** The digest of a run that came to its end. */
function digestOf({ status, stdout, stderr }: Ended, where: string): string {
  assert.equal(status, 0, `${where}\n${stderr}`);
  return digestsIn(stdout)[0];
}

/** Starts a job and kills one of its ranks after some seconds, or once there is one; and returns its end. */
async function killed(launcher: Launcher, count: number, path: string, after: number, pick: Pick): Promise<Ended> {
  const where = `${launcher.name}, ${count} ranks, one of them killed after ${after.toFixed(2)} s`;
  const child = begin(launcher, count, words("mpi:js", path), ONE_THREAD);
  const ended = once(child, "close");
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => (stdout += String(text)));
  child.stderr.on("data", (text) => (stderr += String(text)));
  await setTimeout(1e3 * after);
  let there = ranksWith(path);
  for (; there.length === 0 && child.exitCode === null; there = ranksWith(path)) await setTimeout(20);
  if (there.length > 0) process.kill(oneOf(pick, there), "SIGKILL");
  const from = performance.now();
  const result = (await Promise.race([ended, setTimeout(1e3 * GONE)])) as [number | null] | undefined;
  if (!result) {
    for (const pid of ranksWith(path)) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    throw new Error(`${where}: still there after ${GONE} s\n${stderr}`);
  }
  const seconds = (performance.now() - from) / 1e3;
  await setTimeout(1e3 * REMOVED);
  assert.deepEqual(ranksWith(path), [], `${where}: left after ${seconds} s\n${stderr}`);
  const [status] = result;
  if (status === 0 && there.length > 0) assert.match(stdout, /^digests /m, where);
  return { status, stdout, stderr };
}

/** Kills at random moments, each followed by a run that goes on with another number of ranks: in the end the values of an unbroken run. */
async function chain(launcher: Launcher, pick: Pick, folder: string): Promise<Counts> {
  const start = performance.now();
  const whole = digestOf(launch(launcher, 2, words("mpi:js", join(folder, "whole")), ONE_THREAD), "unbroken");
  const seconds = (performance.now() - start) / 1e3;
  const alone = spawnSync(process.execPath, words("js", join(folder, "alone")), { encoding: "utf8" });
  assert.equal(whole, digestOf(alone, "one process"));
  const path = join(folder, "state");
  let kills = 0;
  for (let n = 0; n < KILLS; n++) {
    const ended = await killed(launcher, 1 + pick(MOST_RANKS), path, (seconds * pick(1000)) / 1000, pick);
    if (ended.status !== 0) kills++;
    else assert.equal(digestsIn(ended.stdout)[0], whole, launcher.name);
  }
  const last = digestOf(launch(launcher, 1 + pick(MOST_RANKS), words("mpi:js", path), ONE_THREAD), `after ${kills} kills`);
  assert.equal(last, whole, `${launcher.name}: after ${kills} kills`);
  return { "ranks killed": kills, "jobs gone on": 1 };
}

/** Ranks that are killed at random moments: their jobs end, and go on from their checkpoints. */
export const rankKills: Subject = {
  name: "rank-kills",
  weight: 10,
  // Launchers of busy machines take minutes.
  limitSeconds: 1200,
  missing: () =>
    Promise.resolve(
      process.platform !== "linux"
        ? "it needs /proc"
        : LAUNCHERS.some(isInstalled)
          ? undefined
          : "neither mpirun.openmpi nor mpirun.mpich is installed",
    ),
  open: () =>
    Promise.resolve({
      async trial(seed) {
        const pick = picks(seed);
        const installed = LAUNCHERS.filter(isInstalled);
        const folder = mkdtempSync(join(tmpdir(), "isoform-rank-kills-"));
        try {
          return await chain(installed[seed % installed.length], pick, folder);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
      close: () => Promise.resolve(),
    }),
};
