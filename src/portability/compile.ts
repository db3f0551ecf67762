import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheName, recallPath, remember } from "../cache/cache.js";
import type { LoadTest } from "../device/native/compiler.js";
import { IsoformError } from "../base/errors.js";

/** A command that makes a shared library of one source file. */
export interface LibraryCommand {
  /** The compiler, which may have options after it. */
  readonly command: string;
  readonly version: string;
  readonly options: readonly string[];
  /** After the file. */
  readonly libraries: readonly string[];
  /** Ending of the file, without its dot. */
  readonly suffix: string;
  /** Anything else that the result depends on, such as the processor. */
  readonly depends: string;
}

/** A compiler refused a source, or made a library of it that does not load. */
export class CompileFailure extends IsoformError {
  override name = "CompileFailure";
}

/** The command line for a file `name`, as a person types it. */
export const compileLine = ({ command, options, libraries, suffix }: LibraryCommand, name: string): string =>
  [command, ...options, "-o", `${name}.so`, `${name}.${suffix}`, ...libraries].join(" ");

/** Lines of a compiler's complaint that are shown. */
const SHOWN = 5;

/**
 * Path of the shared library that the command makes of a source; from the cache where nothing has changed. `test` loads a new one before the cache
 * keeps it. Throws CompileFailure.
 */
export function libraryOf(name: string, source: string, tool: LibraryCommand, test: LoadTest): string {
  const { command, version, options, libraries, suffix, depends } = tool;
  const parts = [source, command, version, options.join(" "), libraries.join(" "), depends];
  const kept = recallPath("so", parts) ?? ownFiles.get(cacheName("so", parts));
  if (kept !== undefined) return kept;
  const folder = mkdtempSync(join(tmpdir(), "isoform-"));
  try {
    const [input, output] = [join(folder, `${name}.${suffix}`), join(folder, `${name}.so`)];
    writeFileSync(input, source);
    const [program, ...before] = command.trim().split(/\s+/);
    const run = spawnSync(program, [...before, ...options, "-o", output, input, ...libraries], { encoding: "utf8" });
    if (run.status !== 0) {
      const complaint = run.error?.message || run.stderr || `it ended by ${run.signal ?? `status ${run.status}`}`;
      throw new CompileFailure(`${command} could not compile ${name}.${suffix}:\n${complaint.split("\n").slice(0, SHOWN).join("\n")}`);
    }
    requireLoads(`${name}.${suffix}`, command, output, test);
    const library = readFileSync(output);
    return remember("so", parts, library) ?? ownFile(cacheName("so", parts), library);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function requireLoads(file: string, command: string, path: string, test: LoadTest): void {
  try {
    test(path);
  } catch (error) {
    const why = (error as Error).message.replaceAll(path, "it").split("\n")[0];
    throw new CompileFailure(`${command} ended without an error, but the library that it made of ${file} does not load: ${why}`);
  }
}

/** Libraries for which the cache has no place, by their names there: each in a folder of this process. */
const ownFiles = new Map<string, string>();

function ownFile(name: string, library: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "isoform-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, library);
  ownFiles.set(name, path);
  return path;
}
