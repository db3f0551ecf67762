import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { IsoformError } from "../base/errors.js";

/** Folder in which compiled kernels and measurements are kept between runs. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const wish = environment.XDG_CACHE_HOME ?? "";
  // By the specification of these folders, a relative path is as good as none.
  return join(isAbsolute(wish) ? wish : join(home(environment), ".cache"), "isoform");
}

function home(environment: NodeJS.ProcessEnv): string {
  try {
    return environment.HOME || homedir();
  } catch {
    throw new IsoformError(`user ${me} has no home folder for the cache of compiled kernels; name a folder in XDG_CACHE_HOME`);
  }
}

/** Names of what is kept: a hash, then a kind. */
export const KEPT_NAME = /^[0-9a-f]{40}\./;

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** Undefined on Windows, where folders of a user are nobody else's unless somebody took pains. */
const me = process.geteuid?.();

/**
 * Makes the folder where it is absent. What lies in it is loaded and run, so it is to be this user's, and nobody else may write to it: one
 * that others could read is closed to them, one that they could write to is emptied, too.
 * @returns false where there is no such folder, and none can be made
 * @throws IsoformError if it is another user's, or cannot be closed to others
 */
export function requirePrivate(folder: string): boolean {
  let found: Stats;
  try {
    makeFolder(folder, 0o700);
    requireMine(folder, lstatSync(folder));
    found = statSync(folder);
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    return false;
  }
  if (!found.isDirectory()) return false;
  requireMine(folder, found);
  if (me !== undefined && (found.mode & OTHERS) !== 0) close(folder, found);
  return true;
}

/** Makes a folder and those above it, where they are absent. Node's own way never ends where the system says that /proc has no such folder. */
export function makeFolder(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(folder);
    if (code === "ENOENT" && above !== folder && !existsSync(above)) {
      makeFolder(above, mode);
      mkdirSync(folder, { mode });
    } else if (!(code === "EEXIST" || existsSync(folder))) throw error;
  }
}

/** Checks the owner; for a symbolic link, of both the link and its target. */
function requireMine(folder: string, { uid }: Stats): void {
  if (me !== undefined && uid !== me)
    throw new IsoformError(
      `the cache folder ${folder} belongs to user ${uid}, not to user ${me} who runs this, and its contents would be executed; ` +
        "name a folder of your own in XDG_CACHE_HOME",
    );
}

function close(folder: string, { mode }: Stats): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // Whether that matters is seen below.
  }
  if ((statSync(folder).mode & OTHERS_WRITE) !== 0)
    throw new IsoformError(
      `others may write to the cache folder ${folder}, and its contents would be executed; run "chmod 700 ${folder}", or name another one in XDG_CACHE_HOME`,
    );
  if ((mode & OTHERS_WRITE) === 0) return;
  for (const name of readdirSync(folder)) if (KEPT_NAME.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
}
