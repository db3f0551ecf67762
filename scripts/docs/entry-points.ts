import { existsSync, readFileSync, readdirSync } from "node:fs";

/** Files that an entry point of the package is loaded from. */
export interface Target {
  readonly types: string;
  readonly default: string;
}

/** The entry points of the package, `./set`, with `./apps/*` written out: a folder with an index.ts each. */
export function exportsOf(root: string): Map<string, Target> {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { exports: Record<string, string | Target> };
  const found = Object.entries(exports).flatMap(([path, target]): [string, Target][] => {
    if (typeof target === "string") return [];
    if (!path.includes("*")) return [[path, target]];
    const names = readdirSync(`${root}${path.replace(/^\.\/|\*$/g, "")}`).filter((name) => existsSync(root + source(target, name)));
    return names
      .sort()
      .map((name) => [path.replace("*", name), { types: written(target.types, name), default: written(target.default, name) }]);
  });
  return new Map(found);
}

/** The entry points of the package by the names of their imports, `isoform/set`, and the sources that they are made from. */
export function entryPoints(root: string): Map<string, string> {
  const { name } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { name: string };
  return new Map([...exportsOf(root)].map(([path, target]) => [name + path.slice(1), source(target)]));
}

const written = (path: string, name: string): string => path.replace("*", name);

const source = ({ types }: Target, name = ""): string =>
  written(types, name)
    .replace(/^\.\/dist\//, "")
    .replace(/\.d\.ts$/, ".ts");
