import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { IsoformError } from "isoform";
import type { Distribution } from "../particles/distribution.js";
import { tableDistribution } from "./distribution-table.js";
import type { Mesh } from "../mesh/mesh.js";

const EXTENSIONS = [".js", ".mjs", ".ts", ".mts"];

/** Whether a distribution's file is a module, which is run, rather than a table. */
export const isModule = (path: string): boolean => EXTENSIONS.includes(extname(path));

/** Record of a distribution in a checkpoint. The particles drawn from it are in the state, so the file is not needed again. */
export interface UsedDistribution {
  /** Path as given on the command line. */
  readonly file: string;
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly digest: string;
}

/** Tells the file of a distribution from others. Throws IsoformError if it cannot be read. */
export async function usedDistribution(file: string): Promise<UsedDistribution> {
  const digest = createHash("sha256")
    .update(await textOf(file))
    .digest("hex");
  return { file, digest };
}

/**
 * A distribution from a file: a table (`tableDistribution`), or a module whose default export is a `Distribution`. Throws IsoformError for what is
 * neither, with what it should be.
 */
export async function readDistribution(path: string, mesh: Mesh): Promise<Distribution> {
  if (extname(path) === ".csv") return tableDistribution(await textOf(path), mesh, path);
  if (!isModule(path))
    throw new IsoformError(`pic: the distribution ${path} is neither a table (.csv) nor a module (${EXTENSIONS.join(", ")})`);
  const module = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw new IsoformError(`pic: cannot import the distribution ${path}: ${(error as Error).message.split("\n")[0]}`);
  });
  const found: unknown = module.default;
  if (typeof found === "object" && found !== null && "density" in found && "velocities" in found)
    if (typeof found.density === "function" && Array.isArray(found.velocities) && found.velocities.every(Array.isArray))
      return found as Distribution;
  throw new IsoformError(
    `pic: the module ${path} has no distribution as its default export: write export default { density: (x, v) => Math.exp(-v[0] * v[0] / 2), velocities: [[-6, 6]] }`,
  );
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new IsoformError(`pic: cannot read the distribution ${path}: ${(error as Error).message.split(",")[0]}`);
  }
}
