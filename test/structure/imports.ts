import { posix } from "node:path";
import type { Circle, Exception, Level } from "./layers.js";

/** One import of one file by another, or of a package. */
export interface Import {
  readonly from: string;
  /** As it is written. */
  readonly specifier: string;
  /** The file that it is, from the root of the repository; none where it is a package. */
  readonly usual: string | undefined;
  /** The files that it may be: the same, and what browsers have in its place. */
  readonly to: readonly string[];
  /** It is gone at run time. */
  readonly type: boolean;
}

/** The text of source files, by their paths from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

/** Names that begin with `#`, with what they stand for in package.json: a file, or one for each condition. */
export type Aliases = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const STATEMENT = /^(?:import|export)\b\s*([\w*{][^;"']*?)\s*\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']/gm;
const CALL = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm;

/** All imports, static and dynamic; `import type` and `export type` are those of types. */
export function importsOf(sources: Sources, aliases: Aliases = {}): Import[] {
  return [...sources].flatMap(([from, text]) => {
    const code = text.replace(COMMENT, "");
    const resolve = (specifier: string, type: boolean): Import => {
      const alias = aliases[specifier] ?? specifier;
      const base = alias === specifier ? posix.dirname(from) : ".";
      const source = (file: string): string | undefined =>
        file.startsWith(".")
          ? posix
              .join(base, file)
              .replace(/^dist\//, "")
              .replace(/\.js$/, ".ts")
          : undefined;
      const files = typeof alias === "string" ? [alias] : Object.values(alias);
      const to = files.map(source).filter((file) => file !== undefined);
      return { from, specifier, usual: source(typeof alias === "string" ? alias : alias.default), to, type };
    };
    return [
      ...[...code.matchAll(STATEMENT)].map(([, what = "", named, bare]) => resolve(named ?? bare, /^type(\s+[\w*]|\s*\{)/.test(what))),
      ...[...code.matchAll(CALL)].map(([, specifier]) => resolve(specifier, false)),
    ];
  });
}

/** The level on which a file stands among `levels` of a folder; undefined where it has none. */
function levelOf(levels: readonly Level[], name: string): number | undefined {
  const found = levels.findIndex((level) => [level].flat().includes(name));
  const other = levels.indexOf("*");
  return found >= 0 ? found : other >= 0 ? other : undefined;
}

/** The first part of a path below a folder; undefined where it is not below it. */
function partBelow(folder: string, path: string): string | undefined {
  if (folder === ".") return path.split("/")[0];
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split("/")[0] : undefined;
}

const covers = (path: string, file: string): boolean => (path.endsWith("/") ? file.startsWith(path) : path === file);

/** What is wrong with the order of imports, and exceptions that nothing needs. */
export function misplaced(
  sources: Sources,
  imports: readonly Import[],
  layers: Readonly<Record<string, readonly Level[]>>,
  exceptions: readonly Exception[],
): string[] {
  const problems = new Set<string>();
  const needed = new Set<Exception>();
  for (const [folder, levels] of Object.entries(layers))
    for (const file of sources.keys()) {
      const part = partBelow(folder, file);
      if (part !== undefined && levelOf(levels, part) === undefined)
        problems.add(`${folder}/${part} stands on no level: give "${folder}" in test/structure/layers.ts a place for it`);
    }
  for (const { from, specifier, usual: target } of imports)
    if (target !== undefined)
      for (const [folder, levels] of Object.entries(layers)) {
        const [own, other] = [partBelow(folder, from), partBelow(folder, target)];
        if (own === undefined || other === undefined || own === other) continue;
        const [mine, theirs] = [levelOf(levels, own), levelOf(levels, other)];
        if (mine === undefined || theirs === undefined || theirs < mine) continue;
        const together = [levels[mine]].flat();
        if (mine === theirs && together.includes("*") && together.length === 1) continue;
        const exception = exceptions.find((each) => covers(each.from, from) && covers(each.to, target));
        if (exception) needed.add(exception);
        else
          problems.add(
            `${from} imports "${specifier}": in ${folder === "." ? "the repository" : folder}, ${own} stands ${mine === theirs ? "beside" : "before"} ${other} ` +
              `and may not import it (test/structure/layers.ts)`,
          );
      }
  for (const exception of exceptions)
    if (!needed.has(exception)) problems.add(`nothing needs the exception of ${exception.from} for ${exception.to}: strike it`);
  return [...problems];
}

/** Imports of files that a program outside the package could not import. */
export function deep(imports: readonly Import[], folders: readonly string[], exported: ReadonlySet<string>): string[] {
  return imports
    .filter(({ from, specifier, to }) => {
      const own = folders.includes(from.split("/")[0]);
      const inside = to.every((file) => folders.includes(file.split("/")[0]));
      return own && (!inside || specifier.startsWith("#") || (/^isoform(\/|$)/.test(specifier) && !exported.has(specifier)));
    })
    .map(
      ({ from, specifier }) =>
        `${from} imports "${specifier}": ${from.split("/")[0]} is written against the public API; import from isoform or one of its parts ("exports" in package.json)`,
    );
}

/** Groups of files that import each other, in a circle or several; each in the order of the alphabet. */
export function circles(imports: readonly Pick<Import, "from" | "to">[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), ...to]);
  // R. Tarjan, SIAM J. Comput. 1, 1972
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const [stack, found]: [string[], string[][]] = [[], []];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const other of next.get(file) ?? []) {
      if (!index.has(other)) visit(other);
      if (stack.includes(other)) low.set(file, Math.min(low.get(file)!, low.get(other)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || next.get(file)?.includes(file)) found.push(group.sort());
  };
  for (const file of next.keys()) if (!index.has(file)) visit(file);
  return found;
}

const written = (files: readonly string[]): string => files.join(", ");

/** What is wrong with circles: those at run time, those of types that are not allowed, and those that are allowed and gone. */
export function circular(imports: readonly Import[], allowed: readonly Circle[]): string[] {
  const atRunTime = circles(imports.filter(({ type }) => !type)).map(
    (files) => `these import each other at run time: ${written(files)}; put what both sides need into a file that imports neither`,
  );
  const ofTypes = circles(imports);
  const names = ({ folder, files }: Circle): string[] => files.map((file) => `${folder}/${file}`);
  const isAllowed = (files: readonly string[]): boolean => allowed.some((circle) => files.every((file) => names(circle).includes(file)));
  const strange = ofTypes
    .filter((files) => !isAllowed(files))
    .map(
      (files) =>
        `these import each other's types: ${written(files)}; put the interface that one needs of the other into a file of its own, ` +
        `or give test/structure/layers.ts a reason`,
    );
  const gone = allowed
    .filter((circle) => !ofTypes.some((files) => written(files) === written(names(circle).sort())))
    .map((circle) => `these do not import each other any more, or with others: ${written(names(circle))}; correct TYPE_CIRCLES`);
  return [...atRunTime, ...strange, ...gone];
}
