import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where compiled kernels are kept between runs. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.XDG_CACHE_HOME || join(homedir(), ".cache"), "isoform");
}

/**
 * What `make` gave for these `parts` before (on this machine, in any process), or gives now. A cache that cannot be written costs
 * time, not the result.
 */
export function cachedBinary(kind: string, parts: readonly string[], make: () => Uint8Array, folder = cacheFolder()): Uint8Array {
  const found = recall(kind, parts, folder);
  if (found) return found;
  const made = make();
  remember(kind, parts, made, folder);
  return made;
}

/** What was remembered for these `parts`, on this machine, in any process. */
export function recall(kind: string, parts: readonly string[], folder = cacheFolder()): Uint8Array | undefined {
  try {
    const found = readFileSync(cacheFile(kind, parts, folder));
    // A copy: small files come as parts of a buffer that they share.
    return found.length > 0 ? new Uint8Array(found) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it for `recall`, unless the disk is full or may not be written to. */
export function remember(kind: string, parts: readonly string[], data: Uint8Array, folder = cacheFolder()): void {
  const file = cacheFile(kind, parts, folder);
  try {
    mkdirSync(folder, { recursive: true });
    const partial = `${file}.${process.pid}`;
    writeFileSync(partial, data);
    renameSync(partial, file);
  } catch {
    // a read-only or full disk
  }
}

function cacheFile(kind: string, parts: readonly string[], folder: string): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return join(folder, `${hash.digest("hex").slice(0, 40)}.${kind}`);
}

/** Where ISOFORM_KEEP names a folder, writes a kernel's generated source there, for people to read. */
export function keepSource(kernel: string, source: string, precision: string, suffix: string, folder = process.env.ISOFORM_KEEP): void {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const id = createHash("sha256").update(source).digest("hex").slice(0, 8);
  writeFileSync(join(folder, `${kernel.replace(/[^\w.-]/g, "_")}-${precision}-${id}.${suffix}`), source);
}
