import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Paths of the TypeScript files below a folder of the repository. */
export const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));
