import type ts from "typescript";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { IsoformError } from "../base/errors.js";
import type { TypeScript } from "./typescript.js";

/* Programs to check: files, folders, and how the project compiles them. */

const EXTENSIONS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"];
const SKIPPED = new Set(["node_modules", "dist", "build", "coverage"]);

/** Source files of paths; a folder has its files in the order of their names. Throws IsoformError for a path that is not there. */
export function sourceFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => filesIn(path)))];
}

function filesIn(path: string): string[] {
  const whole = resolve(path);
  const found = statSync(whole, { throwIfNoEntry: false });
  if (!found) throw new IsoformError(`${path} is neither a file nor a folder`);
  if (found.isDirectory()) return filesOfFolder(whole);
  if (!EXTENSIONS.includes(extname(whole)))
    throw new IsoformError(`${path} is neither TypeScript nor JavaScript (${EXTENSIONS.join(", ")})`);
  return [whole];
}

function filesOfFolder(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry): string[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith(".") || SKIPPED.has(entry.name) ? [] : filesOfFolder(path);
    return EXTENSIONS.includes(extname(entry.name)) && !/\.d\.[cm]?ts$/.test(entry.name) ? [path] : [];
  });
}

/** Options of the project that a file belongs to: its tsconfig.json, else TypeScript's newest rules. */
export function compilerOptions(api: TypeScript, file: string): ts.CompilerOptions {
  const config = api.findConfigFile(dirname(file), (path) => existsSync(path));
  const given =
    config === undefined ? undefined : (api.readConfigFile(config, (path) => api.sys.readFile(path)).config as object | undefined);
  const host = { ...api.sys, readDirectory: () => [] };
  const parsed = given && config ? api.parseJsonConfigFileContent(given, host, dirname(config)).options : undefined;
  const usual: ts.CompilerOptions = {
    target: api.ScriptTarget.ES2022,
    module: api.ModuleKind.NodeNext,
    moduleResolution: api.ModuleResolutionKind.NodeNext,
    strict: true,
  };
  const {
    composite: _composite,
    incremental: _incremental,
    tsBuildInfoFile: _info,
    outDir: _out,
    rootDir: _root,
    ...kept
  } = parsed ?? usual;
  return { ...kept, noEmit: true, allowJs: true, skipLibCheck: true, declaration: false };
}

/** The program of files, with the options of the first file's project. */
export function typedProgram(api: TypeScript, files: readonly string[]): ts.Program {
  const options = compilerOptions(api, files[0]);
  const host = api.createCompilerHost(options);
  host.resolveModuleNameLiterals = moduleResolver(api, host);
  return api.createProgram({ rootNames: files, options, host });
}

const PACKAGE = fileURLToPath(new URL("../../../", import.meta.url));

/** Finds modules as TypeScript does; this package where the project has none. */
export function moduleResolver(api: TypeScript, host: ts.ModuleResolutionHost): NonNullable<ts.CompilerHost["resolveModuleNameLiterals"]> {
  return (literals, from, redirected, options, file) =>
    literals.map((literal) => {
      const mode = api.getModeForUsageLocation(file, literal, options);
      const found = api.resolveModuleName(literal.text, from, options, host, undefined, redirected, mode);
      const isOwn = literal.text === "isoform" || literal.text.startsWith("isoform/");
      if (found.resolvedModule || !isOwn) return found;
      const usual = { ...options, moduleResolution: api.ModuleResolutionKind.NodeNext, module: api.ModuleKind.NodeNext };
      return api.resolveModuleName(literal.text, join(PACKAGE, "program.mts"), usual, host, undefined, redirected, api.ModuleKind.ESNext);
    });
}
