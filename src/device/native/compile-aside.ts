import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Aside } from "../cpu/backlog.js";

/* A command that runs in a process of its own, for who goes on meanwhile and for who has to wait: a file tells when it has ended. */

/** Milliseconds between two looks of a thread that waits. */
const LOOK = 1;
/** Milliseconds after which it waits no longer. */
const MOST = 60_000;
const DONE = "done";

/** Folders of commands that have not been checked yet: removed at the end of the process. */
const folders = new Set<string>();
process.once("exit", () => folders.forEach(removeFolder));

/**
 * Starts `program` in a new folder. `end` is called once, after it has ended or could not be started, with the folder, which is removed afterwards, and
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
  let failed = false;
  const child = spawn("sh", ["-c", 'd=$1; shift; "$@"; echo $? > "$d.part"; mv "$d.part" "$d"', "sh", done, program, ...args], {
    stdio: "ignore",
  });
  if (!keepsAlive) child.unref();
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => {
      failed = true;
      resolve();
    });
  });
  let checked = false;
  return {
    ended,
    wait: () => {
      const word = new Int32Array(new SharedArrayBuffer(4));
      const start = performance.now();
      const runs = (): boolean => !checked && !failed && child.pid !== undefined && !existsSync(done);
      while (runs() && performance.now() - start < MOST) Atomics.wait(word, 0, 0, LOOK);
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
