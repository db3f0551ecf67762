import childProcess from "node:child_process";
import fs from "node:fs";
import { register, syncBuiltinESMExports } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import workerThreads from "node:worker_threads";
import { append } from "./append.js";

/*
 * Preloaded (`--import`) into the process of a test file and every Node process that it starts: appends what they read to the file that
 * ISOFORM_INPUTS names, one line for each module, file, listed folder, started program and worker. Records only; changes no result.
 */
const file = process.env.ISOFORM_INPUTS;
const seen = new Set<string>();

/** Notes one input. Written at once, as a process may be killed. */
function note(kind: "file" | "folder" | "program" | "worker", path: string): void {
  const line = `${kind} ${path}\n`;
  if (!file || seen.has(line) || path.includes("\n")) return;
  seen.add(line);
  append(file, line);
}

/** The path of a file argument of `node:fs`; undefined for descriptors. */
function pathOf(value: unknown): string | undefined {
  if (typeof value === "string") return resolve(value);
  if (value instanceof URL) return value.protocol === "file:" ? fileURLToPath(value) : undefined;
  return Buffer.isBuffer(value) ? resolve(value.toString()) : undefined;
}

type Methods = Record<string, unknown>;

/** Has every call of these functions noted before it happens. */
function watch(owner: object, names: readonly string[], before: (args: unknown[]) => void): void {
  const methods = owner as Methods;
  for (const name of names) {
    const own = methods[name];
    if (typeof own !== "function") continue;
    const watched = function (this: unknown, ...args: unknown[]): unknown {
      before(args);
      return new.target ? Reflect.construct(own, args, new.target) : Reflect.apply(own, this, args);
    };
    // Promisified forms and `realpath.native` are properties of the functions.
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(own));
    methods[name] = watched;
  }
}

const READS = "readFile open openAsBlob stat lstat access exists copyFile cp realpath readlink statfs".split(" ");
const LISTS = "readdir opendir glob".split(" ");
const both = (names: readonly string[]): string[] => names.flatMap((name) => [name, `${name}Sync`]);
const noteFirst =
  (kind: "file" | "folder") =>
  ([first]: unknown[]): void => {
    const path = pathOf(first);
    if (path !== undefined) note(kind, path);
  };

/** Passes the recorder on to a program, whatever environment it is given. */
function passOn(args: unknown[]): void {
  const options = args.find((arg): arg is { env?: NodeJS.ProcessEnv } => typeof arg === "object" && arg !== null && !Array.isArray(arg));
  if (!options?.env || options.env.ISOFORM_INPUTS === file) return;
  const flags = [options.env.NODE_OPTIONS, process.env.NODE_OPTIONS].filter((each) => each !== undefined);
  const env = { ...options.env, ISOFORM_INPUTS: file, NODE_OPTIONS: flags.join(" ") };
  args[args.indexOf(options)] = { ...options, env };
}

/** Notes the program and those of its arguments that are files, which it may read by itself. */
function noteProgram(args: unknown[]): void {
  const [program, words] = args;
  note("program", String(program));
  if (Array.isArray(words)) for (const word of words) if (typeof word === "string" && isAbsolute(word)) note("file", word);
  passOn(args);
}

if (file !== undefined) {
  register("./hooks.js", import.meta.url, { data: file });
  watch(fs, [...both(READS), "createReadStream"], noteFirst("file"));
  watch(fs.promises, READS, noteFirst("file"));
  watch(fs, both(LISTS), noteFirst("folder"));
  watch(fs.promises, LISTS, noteFirst("folder"));
  watch(childProcess, ["spawn", "spawnSync", "execFile", "execFileSync", "exec", "execSync"], noteProgram);
  watch(childProcess, ["fork"], passOn);
  // A worker with flags of its own has no recorder; what it imports is then read from its text.
  watch(workerThreads, ["Worker"], ([entry]) => {
    const path = pathOf(entry instanceof URL ? entry : typeof entry === "string" && !entry.includes("\n") ? pathToFileURL(entry) : entry);
    if (path !== undefined) note("worker", path);
  });
  syncBuiltinESMExports();
}
