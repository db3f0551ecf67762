import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sent } from "../set/mpi/programs/planned.js";

const SOURCE = fileURLToPath(new URL("../../../test/soak/shim.c", import.meta.url));

/** What a shim saw of all ranks. */
export interface Seen {
  readonly ranks: number;
  /** By the ranks that send and receive. */
  readonly sent: readonly Sent[];
  /** Calls of each rank, by the names of MPI's functions. */
  readonly calls: readonly Readonly<Record<string, number>>[];
}

/** Compiles the shim into a folder and returns its path. Throws where there is no C compiler. */
export function buildShim(folder: string): string {
  const path = join(folder, "libshim.so");
  const { status, stderr, error } = spawnSync("cc", ["-O2", "-shared", "-fPIC", "-o", path, SOURCE], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the shim was not compiled: ${error?.message ?? stderr}`);
  return path;
}

/** Reads what the ranks of a job have written to `SHIM_OUT=FOLDER/NAME`. */
export function seenBy(folder: string, name: string): Seen {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}.`));
  const all = files.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as { sent: Sent[]; calls: Record<string, number> });
  return {
    ranks: files.length,
    sent: all.flatMap(({ sent }) => sent).sort((a, b) => a.from - b.from || a.to - b.to),
    calls: all.map(({ calls }) => calls),
  };
}
