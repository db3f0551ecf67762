import fs from "node:fs";

// As they are before `record.ts` watches them.
const { closeSync, openSync, rmSync, writeSync, constants } = fs;

/** Appends to the record of a run. Where that fails, as with a full disk, the record goes for good: the run then counts as unknown. */
export function append(file: string, line: string): void {
  try {
    const opened = openSync(file, constants.O_WRONLY | constants.O_APPEND);
    writeSync(opened, line);
    closeSync(opened);
  } catch {
    rmSync(file, { force: true });
  }
}
