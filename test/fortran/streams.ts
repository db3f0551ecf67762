/* STREAmS-2's Fortran, which is fetched apart: tests of it are skipped without. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["ISOFORM_STREAMS"];

/** Options of a test that reads it. */
export const needsStreams = { skip: folder && existsSync(folder) ? false : "ISOFORM_STREAMS names no copy of STREAmS-2's code/src" };

export const streamsFile = (name: string): string => join(folder!, name);
export const streamsText = (name: string): string => readFileSync(streamsFile(name), "utf8");

/** All files of free form, by their paths in the folder. */
export const streamsFiles = (): string[] =>
  ["", "singleideal"].flatMap((part) =>
    readdirSync(join(folder!, part))
      .filter((name) => name.endsWith(".F90"))
      .map((name) => join(part, name)),
  );
