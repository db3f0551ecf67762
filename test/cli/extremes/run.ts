import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Case } from "./cases.js";
import type { Ended } from "./child.js";

const child = fileURLToPath(new URL("child.js", import.meta.url));
/** A command that has not ended by then never answers. */
const SECONDS = 240;

/** What is wrong with how a command ended; nothing where it is right. */
function problemOf({ code, stderr }: Ended, isAssessment: boolean): string | undefined {
  const text = stderr.trim();
  if (/^ {4}at /m.test(text)) return "a stack";
  if (code === 0) return undefined;
  // An assessment in which something failed ends with 1.
  if (code !== 2 && !(code === 1 && isAssessment)) return `exit ${code}`;
  const messages = text.split("\n").filter((line) => /^(isoform|error): /.test(line));
  return messages.length === 1 ? undefined : `${messages.length} messages`;
}

/** How many commands were run, and what did not end as it should. */
interface Found {
  readonly count: number;
  readonly failures: readonly string[];
}

/** Runs commands in turn, all of them or as many as the time allows, in as few processes as it takes. */
export async function run(cases: readonly Case[], seconds = Infinity): Promise<Found> {
  const failures: string[] = [];
  const begin = performance.now();
  let count = 0;
  const folder = await mkdtemp(join(tmpdir(), "isoform-extremes-"));
  let running: ChildProcess | undefined;
  const start = async (): Promise<ChildProcess> => {
    const started = fork(child, { cwd: folder, silent: true, env: { ...process.env, XDG_CACHE_HOME: folder } });
    await once(started, "message");
    return started;
  };
  const stop = (): void => {
    running?.kill("SIGKILL");
    running = undefined;
  };
  try {
    for (const { words, last } of cases) {
      if ((performance.now() - begin) / 1e3 > seconds) break;
      count++;
      running ??= await start();
      const ended = await end(running, words);
      const problem = typeof ended === "string" ? ended : problemOf(ended, words[0] === "assess");
      if (problem !== undefined)
        failures.push(`${problem}: isoform ${shown(words)}${typeof ended === "string" ? "" : `\n${ended.stderr.slice(0, 600)}`}`);
      if (last || typeof ended === "string") stop();
    }
  } finally {
    stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { count, failures };
}

function end(running: ChildProcess, words: readonly string[]): Promise<Ended | string> {
  return new Promise((resolve) => {
    const settle = (result: Ended | string): void => {
      clearTimeout(timer);
      running.removeAllListeners();
      resolve(result);
    };
    const timer = setTimeout(() => settle(`no end within ${SECONDS} s`), 1000 * SECONDS);
    running.once("message", (ended: Ended) => settle(ended));
    running.once("exit", (code, signal) => settle(`ended the process, ${signal ?? code}`));
    running.send(words);
  });
}

const shown = (words: readonly string[]): string => words.map((word) => JSON.stringify(word.slice(0, 60))).join(" ");
