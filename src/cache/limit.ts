import { lstatSync, readdirSync, rmSync, statSync, utimesSync, type Stats } from "node:fs";
import { join } from "node:path";
import { IsoformError } from "../base/errors.js";
import { DIGEST_ENDING, PARTIAL, replaceFile } from "./files.js";
import { KEPT_NAME } from "./folder.js";

const MIB = 1 << 20;
const DEFAULT_MIB = 512;

/** Seconds during which a used file stays, as it may be about to be loaded. */
const IN_USE = 60;
/** Seconds after which a file that is still being written was left by a process that ended. */
const STALE = 3600;
/** Seconds after which the next process that writes looks at the size again. */
const LOOK_AFTER = 24 * 3600;
/** Share of the limit to which a full cache is brought down, and share that a process writes before it looks again. */
const LEFT = 0.75;
const WRITTEN = 1 / 16;

/** When some process last looked: the time of this file. */
const LOOKED = ".looked";

/** Bytes that the cache may have, from ISOFORM_CACHE_MIB. */
function cacheLimit(): number {
  const wish = process.env.ISOFORM_CACHE_MIB;
  if (!wish) return DEFAULT_MIB * MIB;
  const mib = Number(wish);
  if (!(Number.isInteger(mib) && mib >= 1)) throw new IsoformError(`ISOFORM_CACHE_MIB is "${wish}": it needs a whole number from 1`);
  return mib * MIB;
}

/** Bytes written by this process to each folder since it looked at its size. */
const written = new Map<string, number>();

/** To be called for each file written: every now and then, what was not used for longest goes from a folder that is too large. */
export function noteWritten(folder: string, bytes: number, now = Date.now() / 1e3): void {
  const limit = cacheLimit();
  const before = written.get(folder);
  const since = (before ?? 0) + bytes;
  written.set(folder, since);
  if (before === undefined ? !lookedLately(folder, now) : since > limit * WRITTEN) {
    written.set(folder, 0);
    try {
      prune(folder, limit, now);
    } catch {
      // Another process is at it, too, or the disk refuses.
    }
  }
}

function lookedLately(folder: string, now: number): boolean {
  const found = statSync(join(folder, LOOKED), { throwIfNoEntry: false });
  return found !== undefined && now - found.mtimeMs / 1e3 < LOOK_AFTER;
}

/** Removes what was left half written, and, where there are more than `limit` bytes, what was not used for longest. */
function prune(folder: string, limit: number, now: number): void {
  const marker = join(folder, LOOKED);
  replaceFile(marker, "");
  utimesSync(marker, now, now);
  const kept: { readonly path: string; readonly bytes: number; readonly age: number }[] = [];
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) continue;
    const age = now - found.mtimeMs / 1e3;
    if (name.endsWith(PARTIAL)) {
      if (age > STALE) remove(path);
    } else if (KEPT_NAME.test(name) && !name.endsWith(DIGEST_ENDING)) kept.push({ path, bytes: sizeOf(path, found), age });
    else if (name.endsWith(DIGEST_ENDING) && age > STALE && !lstatSync(path.slice(0, -DIGEST_ENDING.length), { throwIfNoEntry: false }))
      remove(path);
  }
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= limit) return;
  for (const { path, bytes, age } of kept.toSorted((a, b) => b.age - a.age)) {
    if (total <= limit * LEFT || age < IN_USE) return;
    remove(path);
    remove(path + DIGEST_ENDING);
    total -= bytes;
  }
}

/** With its digest, in whole blocks of a disk. */
const sizeOf = (path: string, { size }: Stats): number =>
  blocks(size) + blocks(lstatSync(path + DIGEST_ENDING, { throwIfNoEntry: false })?.size ?? 0);
const blocks = (size: number): number => Math.ceil(size / 4096) * 4096;

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });
