import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError } from "../../base/errors.js";
import type { Aside } from "../cpu/backlog.js";
import type { Precision } from "../device.js";
import { cacheName, recallPath, remember } from "../../cache/cache.js";
import { cacheFolder } from "../../cache/folder.js";
import { keepSource } from "../../cache/keep-source.js";
import { startCommand } from "./compile-aside.js";

/** The system's C compiler. */
export interface Compiler {
  readonly command: string;
  /** First line of `--version`. */
  readonly version: string;
}

/** The first of $CC, gcc, clang and cc that answers; remembered for each value of $CC. */
export function findCompiler(): Compiler | undefined {
  const wish = process.env.CC ?? "";
  if (!found.has(wish))
    found.set(
      wish,
      (wish ? [wish] : ["gcc", "clang", "cc"]).map(askCompiler).find((c) => c !== undefined),
    );
  return found.get(wish);
}

const found = new Map<string, Compiler | undefined>();

function wordsOf(command: string): [program: string, args: readonly string[]] {
  const [program, ...args] = command.trim().split(/\s+/);
  return [program, args];
}

/** The compiler of that command, which may have options after it; undefined if it does not answer. */
export function askCompiler(command: string): Compiler | undefined {
  const [program, args] = wordsOf(command);
  if (!program) return undefined;
  const answer = spawnSync(program, [...args, "--version"], { encoding: "utf8", timeout: 10_000 });
  return answer.status === 0 ? { command, version: answer.stdout.split("\n")[0].trim() } : undefined;
}

/**
 * -fwrapv: integers wrap, as the language says. -fno-math-errno, -fno-trapping-math: vector code for sqrt, floor and choices; no value
 * changes. -falign-loops: a loop of some instructions across two lines of code takes twice as long. nodelete: the library stays while threads of its OpenMP runtime may still run at exit.
 */
function flagsFor(precision: Precision, openmp: boolean): string[] {
  return [
    "-std=gnu11",
    "-O3",
    process.arch === "arm64" ? "-mcpu=native" : "-march=native",
    "-fPIC",
    "-shared",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-falign-loops=32",
    `-ffp-contract=${precision === "fast" ? "fast" : "off"}`,
    // The vectoriser of straight-line code contracts all the same in GCC 12.2 and earlier (its bug 107647).
    ...(precision === "strict" ? ["-fno-tree-slp-vectorize"] : []),
    ...(openmp ? ["-fopenmp"] : ["-Wno-unknown-pragmas"]),
    ...(process.platform === "linux" ? ["-Wl,-z,nodelete"] : []),
  ];
}

/** Properties on which -march=native depends: the processor's extensions, or its name if the system does not list them. */
export function processorFlags(): string {
  return (processor ??= askSystem());
}

let processor: string | undefined;

function askSystem(): string {
  try {
    return /^(flags|Features)\s*:.*$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))![0];
  } catch {
    return cpus()[0]?.model ?? process.arch;
  }
}

const withoutOpenMP = new Set<string>();

/** True unless a compile has shown that the compiler has no OpenMP. */
export function hasOpenMP(compiler: Compiler): boolean {
  return !withoutOpenMP.has(compiler.command);
}

/** Throws an error where the shared library at `path` does not load, or lacks a function that is expected of it. */
export type LoadTest = (path: string) => void;

/**
 * Compiles C to a shared library and gives its path: from the cache where the source, the compiler, its flags and the processor are the
 * same. Where ISOFORM_KEEP names a folder, the source is kept there. A compiler that has no OpenMP is run without; `hasOpenMP` tells.
 * @param test is called with a new library before the cache keeps it
 * @throws DeviceError with the kernel's name and the compiler's first complaint, or with why what it wrote does not load.
 */
export function compileLibrary(compiler: Compiler, kernel: string, source: string, precision: Precision, test: LoadTest): string {
  keepSource(kernel, source, precision, "c");
  const started = underWay.get(cacheName("so", partsOf(flagsFor(precision, hasOpenMP(compiler)), compiler, source)));
  started?.wait();
  started?.check();
  const first = compileWith(flagsFor(precision, hasOpenMP(compiler)), compiler, source, test);
  if ("path" in first) return first.path;
  if (hasOpenMP(compiler) && /openmp|gomp|lomp|omp\.h/.test(first.complaint)) {
    const second = compileWith(flagsFor(precision, false), compiler, source, test);
    if ("path" in second) {
      withoutOpenMP.add(compiler.command);
      return second.path;
    }
  }
  const lines = first.complaint.split("\n").slice(0, 5).join("\n");
  throw new DeviceError(
    "native",
    `${compiler.command} could not compile kernel "${kernel}":\n${lines}`,
    "ISOFORM_KEEP=folder keeps the source",
  );
}

/** All that a library depends on. */
const partsOf = (flags: readonly string[], { command, version }: Compiler, source: string): string[] => [
  source,
  command,
  version,
  flags.join(" "),
  processorFlags(),
];

/** Compiles in other processes, by the names of their libraries. */
const underWay = new Map<string, Aside>();

/**
 * Starts the same in another process: once that has ended and was checked, `compileLibrary` finds the library, or compiles here and tells what is
 * wrong. Undefined where the library is there, or no other process can be started.
 */
export function startCompile(
  compiler: Compiler,
  source: string,
  precision: Precision,
  test: LoadTest,
  keepsAlive = true,
): Aside | undefined {
  const flags = flagsFor(precision, hasOpenMP(compiler));
  const parts = partsOf(flags, compiler, source);
  const name = cacheName("so", parts);
  const known = underWay.get(name);
  const cache = cacheFolder();
  if (known || recallPath("so", parts, cache) || ownFiles.has(name)) return known;
  const [program, args] = wordsOf(compiler.command);
  const command = (folder: string): string[] => {
    writeFileSync(join(folder, "kernel.c"), source);
    return [...args, ...flags, "-o", join(folder, "kernel.so"), join(folder, "kernel.c"), "-lm"];
  };
  const end = (folder: string, well: boolean): void => {
    underWay.delete(name);
    const library = well ? readIfThere(join(folder, "kernel.so")) : undefined;
    if (!library?.length) return;
    try {
      test(join(folder, "kernel.so"));
    } catch {
      return;
    }
    if (!remember("so", parts, library, cache)) ownFile(name, library);
  };
  const compile = startCommand(program, command, end, keepsAlive);
  if (compile) underWay.set(name, compile);
  return compile;
}

/** Starts to compile what a device needs sooner or later, where no cache has it. Errors are told when it is needed. */
export async function compileEarly(compiler: Compiler, source: string, test: LoadTest): Promise<void> {
  try {
    const compile = startCompile(compiler, source, "strict", test, false);
    await compile?.ended;
    compile?.check();
  } catch {
    // `compileLibrary` meets the same.
  }
}

type Compiled = { readonly library: Uint8Array } | { readonly complaint: string };

function compileWith(
  flags: readonly string[],
  compiler: Compiler,
  source: string,
  test: LoadTest,
): { path: string } | { complaint: string } {
  const parts = partsOf(flags, compiler, source);
  const name = cacheName("so", parts);
  const kept = recallPath("so", parts) ?? ownFiles.get(name);
  if (kept) return { path: kept };
  const made = inTemporary((folder) => compile(folder, flags, compiler, source, test));
  return "complaint" in made ? made : { path: remember("so", parts, made.library) ?? ownFile(name, made.library) };
}

function compile(folder: string, flags: readonly string[], { command }: Compiler, source: string, test: LoadTest): Compiled {
  const [input, output] = [join(folder, "kernel.c"), join(folder, "kernel.so")];
  writeFileSync(input, source);
  const [program, args] = wordsOf(command);
  const run = spawnSync(program, [...args, ...flags, "-o", output, input, "-lm"], { encoding: "utf8" });
  if (run.status !== 0) return { complaint: run.error?.message || run.stderr || `it ended by ${run.signal ?? `status ${run.status}`}` };
  const library = readIfThere(output);
  const refuse = (what: string): never => {
    throw new DeviceError("native", `${command} ended without an error, and ${what}`, "name a C compiler in CC, such as gcc");
  };
  if (!library?.length) return refuse("wrote no library");
  try {
    test(output);
  } catch (error) {
    refuse(`wrote a library that does not load: ${(error as Error).message.replaceAll(output, "it").split("\n")[0]}`);
  }
  return { library };
}

function readIfThere(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Result of `use`, with a folder that is removed afterwards. Throws DeviceError if there is no place for one. */
function inTemporary<T>(use: (folder: string) => T): T {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "isoform-"));
    return use(folder);
  } catch (error) {
    throw error instanceof DeviceError ? error : noPlace(error as Error);
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

/** Libraries for which the cache has no place go to a folder of this process. */
const ownFiles = new Map<string, string>();
let ownFolder: string | undefined;

function ownFile(name: string, library: Uint8Array): string {
  try {
    if (ownFolder === undefined) {
      const folder = (ownFolder = mkdtempSync(join(tmpdir(), "isoform-")));
      process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    }
    const path = join(ownFolder, name);
    writeFileSync(path, library);
    ownFiles.set(name, path);
    return path;
  } catch (error) {
    throw noPlace(error as Error);
  }
}

const noPlace = ({ message }: Error): DeviceError =>
  new DeviceError("native", `files of the compiler cannot be written: ${message}`, "name a folder with space for them in TMPDIR");
