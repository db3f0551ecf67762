import { readFileSync } from "node:fs";

/** The entry points of the package by the names of their imports, `isoform/set`, and the sources that they are made from. */
export function entryPoints(root: string): Map<string, string> {
  const { name, exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    name: string;
    exports: Record<string, string | { types: string }>;
  };
  return new Map(
    Object.entries(exports).flatMap(([path, target]) =>
      typeof target === "string" ? [] : [[name + path.slice(1), target.types.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, ".ts")]],
    ),
  );
}
