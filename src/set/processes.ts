import { DeviceError } from "../base/errors.js";
import { SPANNING } from "../device/spanning.js";
import type { Joined } from "./joined.js";
import { isAlone, launched } from "./launched.js";

let warned = false;

/**
 * Joins the job that a specification names by `mpi:`; undefined where it is for this process alone.
 * @throws DeviceError for a prefix that does not precede the whole specification; IsoformError where there is no job to join
 */
export async function joinJobOf(spec: unknown, patience?: number): Promise<Joined | undefined> {
  const parts: unknown[] = Array.isArray(spec) ? spec : [spec];
  const prefixed = parts.filter((part): part is string => typeof part === "string" && part.startsWith(SPANNING));
  if (prefixed.length === 0) {
    warnOfCopies(parts);
    return undefined;
  }
  if (parts.length > 1)
    throw new DeviceError(prefixed[0], `"${SPANNING}" precedes a whole specification`, `write "${SPANNING}wasm,native" as one text`);
  const { join } = await import("./mpi/join.js");
  return join(prefixed[0].slice(SPANNING.length), patience);
}

/** Warns once where a launcher has started several processes, and each opens devices for itself. */
function warnOfCopies(parts: readonly unknown[]): void {
  const told = launched();
  if (warned || !told || told.count === 1 || told.rank > 0 || isAlone()) return;
  warned = true;
  const spec = typeof parts[0] === "string" ? parts.join() : "wasm";
  process.stderr.write(
    `isoform: ${told.launcher} started ${told.count} processes, and each does all of the work by itself: ` +
      `write devices("${SPANNING}${spec}"), or set ISOFORM_ALONE=1 where that is meant\n`,
  );
}
