import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError } from "../../ir/errors.js";
import type { Precision } from "../device.js";
import { cacheFolder, keepSource } from "../cache.js";

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

/** The compiler of that command, which may have options behind it; undefined where it does not answer. */
export function askCompiler(command: string): Compiler | undefined {
  const [program, ...args] = command.split(" ");
  const answer = spawnSync(program, [...args, "--version"], { encoding: "utf8" });
  return answer.status === 0 ? { command, version: answer.stdout.split("\n")[0].trim() } : undefined;
}

/**
 * -fwrapv: integers wrap, as the language says. -fno-math-errno, -fno-trapping-math: vector code for sqrt, floor and choices; no value
 * changes. nodelete: the library stays while threads of its OpenMP runtime may still run at exit.
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
    `-ffp-contract=${precision === "fast" ? "fast" : "off"}`,
    // The vectoriser of straight-line code contracts all the same in GCC 12.2 and earlier (its bug 107647).
    ...(precision === "strict" ? ["-fno-tree-slp-vectorize"] : []),
    ...(openmp ? ["-fopenmp"] : ["-Wno-unknown-pragmas"]),
    ...(process.platform === "linux" ? ["-Wl,-z,nodelete"] : []),
  ];
}

/** What -march=native depends on: the processor's extensions, or its name where the system does not list them. */
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

/**
 * Compiles C to a shared library and gives its path: from the cache where the source, the compiler, its flags and the processor are the
 * same. Where ISOFORM_KEEP names a folder, the source is kept there. A compiler that has no OpenMP is run without; `hasOpenMP` tells.
 * @throws DeviceError with the kernel's name and the compiler's first complaint.
 */
export function compileLibrary(compiler: Compiler, kernel: string, source: string, precision: Precision): string {
  keepSource(kernel, source, precision, "c");
  const first = compileWith(flagsFor(precision, hasOpenMP(compiler)), compiler, source);
  if ("path" in first) return first.path;
  if (hasOpenMP(compiler) && /openmp|gomp|lomp|omp\.h/.test(first.complaint)) {
    const second = compileWith(flagsFor(precision, false), compiler, source);
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

function compileWith(flags: readonly string[], compiler: Compiler, source: string): { path: string } | { complaint: string } {
  const hash = createHash("sha256");
  for (const part of [source, compiler.command, compiler.version, flags.join(" "), processorFlags()])
    hash.update(`${part.length}:`).update(part);
  const name = `${hash.digest("hex").slice(0, 40)}.so`;
  const kept = join(cacheFolder(), name);
  if (existsSync(kept)) return { path: kept };

  const work = mkdtempSync(join(tmpdir(), "isoform-"));
  try {
    const [input, output] = [join(work, "kernel.c"), join(work, name)];
    writeFileSync(input, source);
    const [program, ...args] = compiler.command.split(" ");
    const run = spawnSync(program, [...args, ...flags, "-o", output, input, "-lm"], { encoding: "utf8" });
    return run.status === 0 ? { path: install(output, kept) } : { complaint: run.error?.message ?? run.stderr };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Moves a library into the cache in one step; where the cache cannot be written, into a folder for this process. */
function install(made: string, kept: string): string {
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    const partial = `${kept}.${process.pid}`;
    copyFileSync(made, partial);
    renameSync(partial, kept);
    return kept;
  } catch {
    const own = join(mkdtempSync(join(tmpdir(), "isoform-")), "kernel.so");
    copyFileSync(made, own);
    process.once("exit", () => rmSync(join(own, ".."), { recursive: true, force: true }));
    return own;
  }
}
