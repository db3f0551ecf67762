import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Aside } from "../cpu/backlog.js";

/* A command that runs in a process of its own, for who goes on meanwhile and for who has to wait: a file tells when it has ended. */

/** Milliseconds between two looks of a thread that waits. */
const LOOK = 1;
/** Milliseconds after which it waits no longer. */
const MOST = 60_000;
const DONE = "done";
/** Commands that run at once, at most. */
const AT_ONCE = Math.max(2, availableParallelism());

/** Commands that run, and such that begin when one of them has ended. */
const running = new Set<Command>();
const queued: Command[] = [];

interface Command {
  begin(): void;
  hasEnded(): boolean;
}

/** Begins what may run now. A thread that waits calls it, too: it hears of no ends. */
function goOn(): void {
  for (const command of running) if (command.hasEnded()) running.delete(command);
  while (running.size < AT_ONCE && queued.length > 0) {
    const next = queued.shift()!;
    running.add(next);
    next.begin();
  }
}

/** Folders of commands that have not been checked yet: removed at the end of the process. */
const folders = new Set<string>();
process.once("exit", () => folders.forEach(removeFolder));

/**
 * Starts `program` in a new folder, at once or when a processor is free. `end` is called once, after it has ended or could not be started, with the folder, which is removed afterwards, and
 * whether all went well. The process stays alive for it unless `keepsAlive` is false. Gives undefined where there is no place for a folder, and on Windows, which has no `sh`.
 */
export function startCommand(
  program: string,
  argsIn: (folder: string) => readonly string[],
  end: (folder: string, well: boolean) => void,
  keepsAlive = true,
): Aside | undefined {
  if (process.platform === "win32") return undefined;
  const prepared = prepareIn(argsIn);
  if (!prepared) return undefined;
  const { folder, args } = prepared;
  const done = join(folder, DONE);
  folders.add(folder);
  let [failed, checked] = [false, false];
  const ended = new Promise<void>((resolve) => {
    const close = (): void => {
      running.delete(command);
      goOn();
      resolve();
    };
    const begin = (): void => {
      const child = spawn("sh", ["-c", 'd=$1; shift; "$@"; echo $? > "$d.part"; mv "$d.part" "$d"', "sh", done, program, ...args], {
        stdio: "ignore",
      });
      if (!keepsAlive) child.unref();
      failed = child.pid === undefined;
      child.once("close", close);
      child.once("error", () => {
        failed = true;
        close();
      });
    };
    const command: Command = { begin, hasEnded: () => failed || checked || existsSync(done) };
    // A command in the queue would end with a process that only others keep alive.
    if (keepsAlive) queued.push(command);
    else begin();
  });
  goOn();
  return {
    ended,
    wait: () => {
      const word = new Int32Array(new SharedArrayBuffer(4));
      const start = performance.now();
      const runs = (): boolean => !checked && !failed && !existsSync(done);
      for (; runs() && performance.now() - start < MOST; goOn()) Atomics.wait(word, 0, 0, LOOK);
    },
    check: () => {
      if (checked) return;
      checked = true;
      folders.delete(folder);
      try {
        end(folder, existsSync(done) && readFileSync(done, "utf8").trim() === "0");
      } finally {
        removeFolder(folder);
      }
    },
  };
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A new folder, and the arguments that `argsIn` gives for it; undefined where it cannot be written. */
function prepareIn<T>(argsIn: (folder: string) => T): { folder: string; args: T } | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "isoform-"));
    return { folder, args: argsIn(folder) };
  } catch {
    if (folder) removeFolder(folder);
    return undefined;
  }
}
