import type ts from "typescript";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { IsoformError } from "../base/errors.js";

/* TypeScript's API, an optional peer: the project's own version, else the one beside this package. */

/** The API of TypeScript 5 or 6. */
export type TypeScript = typeof ts;

export interface FoundTypeScript {
  readonly api: TypeScript;
  readonly version: string;
  readonly path: string;
}

export interface MissingTypeScript {
  readonly reason: string;
  readonly remedy: string;
}

const REMEDY = "npm install --save-dev typescript@6";

/**
 * Looks for TypeScript from a folder on, then beside a module; says why none was found, or why the one found cannot be used.
 * @param module Default: this one
 */
export function findTypeScript(folder: string, module: string = import.meta.url): FoundTypeScript | MissingTypeScript {
  let unusable: MissingTypeScript | undefined;
  for (const from of [join(folder, "x.js"), module]) {
    const found = typeScriptFrom(from);
    if (found && "api" in found) return found;
    unusable ??= found;
  }
  return unusable ?? { reason: "the package typescript, whose checker tells the types of kernels, is not installed", remedy: REMEDY };
}

function typeScriptFrom(from: string): FoundTypeScript | MissingTypeScript | undefined {
  const require = createRequire(from);
  let path: string;
  try {
    path = require.resolve("typescript/package.json");
  } catch {
    return undefined;
  }
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
  const [major] = version.split(".").map(Number);
  if (major < 5) return { reason: `${dirname(path)} is TypeScript ${version}, and 5 or 6 is needed`, remedy: REMEDY };
  if (major > 6 || !existsSync(join(dirname(path), "lib/typescript.js")))
    return { reason: `${dirname(path)} is TypeScript ${version}, which ships no API to ask for types: 5 and 6 do`, remedy: REMEDY };
  return { api: require(join(dirname(path), "lib/typescript.js")) as TypeScript, version, path: dirname(path) };
}

/** TypeScript's API. Throws IsoformError where none can be used. */
export function requireTypeScript(folder: string): TypeScript {
  const found = findTypeScript(folder);
  if ("api" in found) return found.api;
  throw new IsoformError(`isoform check reads programs by TypeScript: ${found.reason} (${found.remedy})`);
}
