import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** How one MPI starts processes. */
export interface Launcher {
  readonly name: string;
  readonly command: readonly string[];
}

/** The MPIs of Debian, which can be installed beside each other; ISOFORM_MPIRUN names another's launcher, with its options. */
export const LAUNCHERS: readonly Launcher[] = [
  { name: "Open MPI", command: ["mpirun.openmpi", "--oversubscribe"] },
  { name: "MPICH", command: ["mpirun.mpich"] },
  ...(process.env.ISOFORM_MPIRUN ? [{ name: "ISOFORM_MPIRUN", command: process.env.ISOFORM_MPIRUN.split(" ") }] : []),
];

/** Open MPI refuses root otherwise, and CI is root. */
const ROOT = { OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" };

/** Milliseconds after which a job that hangs is ended. */
const TIMEOUT = 240_000;

/** How processes have ended. */
export interface Ended {
  /** The launcher's. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `count` processes of Node with these words, and waits for their end. */
export function launch({ command }: Launcher, count: number, words: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
  const [file, ...options] = command;
  return spawnSync(file, [...options, "-n", `${count}`, process.execPath, ...words], {
    encoding: "utf8",
    timeout: TIMEOUT,
    killSignal: "SIGKILL",
    env: { ...process.env, ...ROOT, ...env },
  });
}

/** Starts them, and does not wait. */
export function begin(
  { command }: Launcher,
  count: number,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const [file, ...options] = command;
  const all = [...options, "-n", `${count}`, process.execPath, ...words];
  return spawn(file, all, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...ROOT, ...env } });
}

/** Path of a compiled program in programs/. */
export const program = (name: string): string => fileURLToPath(new URL(`programs/${name}.js`, import.meta.url));

/** Whether a launcher is installed. */
export const isInstalled = ({ command }: Launcher): boolean =>
  !spawnSync(command[0], ["--version"], { env: { ...process.env, ...ROOT } }).error;

/** Calls `tests` for each MPI; where one is missing, its test is skipped by name, with the reason. */
export function eachLauncher(tests: (launcher: Launcher) => void): void {
  for (const launcher of LAUNCHERS) {
    describe(launcher.name, () => {
      if (isInstalled(launcher)) tests(launcher);
      else it("is there", { skip: `${launcher.command[0]} is not installed` }, () => undefined);
    });
  }
}

/** What a program of these tests has printed on its line "digests". */
export function digests({ status, stdout, stderr }: Ended): Record<string, unknown> {
  assert.equal(status, 0, stderr);
  const lines = stdout.split(/\r?\n/).filter((line) => line.startsWith("digests "));
  assert.equal(lines.length, 1, stdout);
  return JSON.parse(lines[0].slice("digests ".length)) as Record<string, unknown>;
}
