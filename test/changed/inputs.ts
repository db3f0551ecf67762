import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** What a run of a test file read or looked for. */
export interface Inputs {
  /** Files: paths from the root of the repository, absolute ones of what stands outside, such as compilers. */
  readonly files: readonly string[];
  /** Folders of the repository that were listed. */
  readonly folders: readonly string[];
  /** Something read files in a way that leaves no trace: then all files of the repository count. */
  readonly everything: boolean;
}

/** Programs that read only what they are given as arguments or input, and headers of the system. */
const COMPILERS =
  /^(node|gcc|g\+\+|cc|c\+\+|clang(\+\+)?|gfortran|nvcc|hipcc|wat2wasm|wasm2wat|wasm-objdump|objdump|ldconfig|uname|lscpu|clinfo|nvidia-smi)(-\d+)?$/;

/** Packages that read nothing by themselves. Bundlers, browsers and compilers of the rest do. */
const PURE = new Set(
  "acorn koffi @koromix/koffi-linux-x64 commander d3-array d3-color d3-format d3-interpolate d3-path d3-scale d3-shape d3-time d3-time-format internmap smol-toml zod fast-check pure-rand h5wasm hyparquet hyparquet-writer webgpu".split(
    " ",
  ),
);

/** Left out everywhere: other repositories' files, what is compiled from the sources, results of runs. */
const OUTSIDE = new Set(["node_modules", ".git", ".ci", ".gpu", "dist"]);

/** Imports of a compiled module, its own file for `new URL("x", import.meta.url)` included. */
const IMPORT = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']|\bnew URL\(\s*["']([^"']+)["']/g;

/** The files that a worker's module imports, directly or not, as far as its text tells. */
function closure(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry) || !existsSync(entry) || !statSync(entry).isFile()) return found;
  found.add(entry);
  for (const [, specifier, url] of readFileSync(entry, "utf8").matchAll(IMPORT)) {
    const path = specifier ?? url;
    if (path.startsWith(".")) closure(resolve(dirname(entry), path), found);
  }
  return found;
}

/** The package in node_modules that a path belongs to. */
const packageOf = (path: string): string | undefined => path.match(/(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];

/** Folders outside the repository whose files are results or of the moment. */
const PASSING = [tmpdir(), "/tmp", "/proc", "/sys", "/dev", process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache")];
const isBelow = (folder: string, path: string): boolean => !relative(folder, path).startsWith("..");

/** The file that a program's name stands for. */
function programAt(name: string): string {
  if (name.includes(sep)) return name;
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return places.find((path) => existsSync(path)) ?? places[0];
}

/** Reads what `record.ts` noted. */
export function inputsOf(notes: string, root: string): Inputs {
  const [files, folders] = [new Set<string>(), new Set<string>()];
  let everything = false;
  const take = (path: string): void => {
    const owner = packageOf(path.replaceAll(sep, "/"));
    if (owner !== undefined) everything ||= !PURE.has(owner) && !owner.startsWith(".") && !owner.startsWith("@types");
    else if (isBelow(root, path)) files.add(relative(root, path).replaceAll(sep, "/"));
    else if (!PASSING.some((folder) => isBelow(folder, path))) files.add(path);
  };
  for (const line of new Set(notes.split("\n"))) {
    const [kind, path] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    if (kind === "file") take(path);
    else if (kind === "worker") for (const file of closure(path)) take(file);
    else if (kind === "folder" && isBelow(root, path)) folders.add(relative(root, path).replaceAll(sep, "/"));
    else if (kind === "program") {
      const program = programAt(path);
      take(program);
      // What a test has compiled itself, in a folder for temporary files, is a result.
      everything ||= !COMPILERS.test(basename(path)) && !PASSING.some((folder) => isBelow(folder, program));
    }
  }
  return { files: [...files].sort(), folders: [...folders].sort(), everything };
}

/** What a path is now: its bytes, which file it is where it stands outside, or that there is nothing. */
function stateOf(root: string, path: string): string | Buffer {
  const full = resolve(root, path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (!stats) return lstatSync(full, { throwIfNoEntry: false }) ? "dangling" : "absent";
  if (!stats.isFile()) return "folder";
  return isAbsolute(path) ? `${realpathSync(full)} ${stats.size} ${stats.mtimeMs}` : readFileSync(full);
}

/** Paths of all files below a folder, except those of `OUTSIDE`. */
function walk(folder: string, prefix = ""): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !OUTSIDE.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? walk(join(folder, entry.name), `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`]));
}

/** Files that decide how every module is found, which packages there are, and what a test file is run for. */
const ALWAYS = [
  "package.json",
  "package-lock.json",
  "node_modules/.package-lock.json",
  "dist/test/run.js",
  "dist/test/jobs.js",
  "dist/test/tiers.js",
  "dist/test/devices.js",
];

const filesOf = (inputs: Inputs, root: string): string[] => [...ALWAYS, ...inputs.files, ...(inputs.everything ? walk(root) : [])];

/** One digest of all inputs as they are now, of the engine and of `settings`. */
export function digestOf(inputs: Inputs, root: string, settings: readonly string[]): string {
  const hash = createHash("sha256");
  const add = (name: string, value: string | Buffer): void => void hash.update(`\0${name}\0${value.length}\0`).update(value);
  add("engine and settings", JSON.stringify([process.version, process.arch, ...settings]));
  for (const path of filesOf(inputs, root)) add(path, stateOf(root, path));
  for (const folder of inputs.folders) {
    const full = join(root, folder);
    add(`${folder}/`, existsSync(full) ? walk(full).join("\0") : "absent");
  }
  return hash.digest("hex");
}

/** Whether an input has changed since a moment (milliseconds since 1970): what a run read of it is then not known. */
export const changedSince = (inputs: Inputs, root: string, moment: number): boolean =>
  filesOf(inputs, root).some((path) => (statSync(resolve(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= moment);
