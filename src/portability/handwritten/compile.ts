import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { recallPath, remember } from "../../cache/cache.js";
import { compileLibrary, findCompiler, hasOpenMP, type LoadTest } from "../../device/native/compiler.js";
import { IsoformError } from "../../base/errors.js";
import { NoProgramError, sourceOf, type HandWrittenLanguage } from "./sources.js";

/**
 * Gives the path of a program's shared library, which `test` has loaded when it was compiled. `arch` is the GPU's, as nvcc's option `-arch` calls it. Throws
 * NoProgramError where there is no compiler.
 */
export function compileProgram(program: string, language: HandWrittenLanguage, test: LoadTest, arch = "native"): string {
  const source = sourceOf(program, language);
  return language === "c" ? compileC(program, source, test) : compileCuda(program, source, test, arch);
}

function compileC(program: string, source: string, test: LoadTest): string {
  const compiler = findCompiler();
  if (!compiler) throw new NoProgramError("no C compiler was found ($CC, gcc, clang, cc): install gcc or clang, such as apt install gcc");
  const library = compileLibrary(compiler, program, source, "fast", test);
  if (hasOpenMP(compiler)) return library;
  throw new NoProgramError(`${compiler.command} has no OpenMP: install its OpenMP library, such as apt install libgomp1`);
}

/** nvcc in the folder $ISOFORM_NVCC, on the path, or where CUDA is installed by default. */
function findNvcc(): { command: string; version: string } | undefined {
  const folders = [process.env.ISOFORM_NVCC, ...(process.env.PATH ?? "").split(delimiter), "/usr/local/cuda/bin"];
  for (const folder of folders) {
    if (!folder) continue;
    const command = join(folder, "nvcc");
    const answer = spawnSync(command, ["--version"], { encoding: "utf8" });
    if (answer.status === 0) return { command, version: answer.stdout.trim() };
  }
  return undefined;
}

const FLAGS = ["-O3", "-Xcompiler", "-fPIC", "-shared"];

function compileCuda(program: string, source: string, test: LoadTest, arch: string): string {
  const nvcc = findNvcc();
  if (!nvcc)
    throw new NoProgramError(
      "no nvcc was found ($ISOFORM_NVCC, the path, /usr/local/cuda/bin): install NVIDIA's CUDA toolkit, or name the folder of nvcc in ISOFORM_NVCC",
    );
  const parts = [source, nvcc.version, arch, ...FLAGS];
  const kept = recallPath("so", parts);
  if (kept) return kept;
  const folder = mkdtempSync(join(tmpdir(), "isoform-handwritten-"));
  try {
    const [input, output] = [join(folder, `${program}.cu`), join(folder, `${program}.so`)];
    writeFileSync(input, source);
    const run = spawnSync(nvcc.command, [...FLAGS, `-arch=${arch}`, "-o", output, input], { encoding: "utf8" });
    if (run.status !== 0) throw new IsoformError(`nvcc could not compile ${program}.cu:\n${run.stderr.split("\n").slice(0, 5).join("\n")}`);
    const library = readFileSync(output);
    requireLoads(program, output, test);
    return remember("so", parts, library) ?? ownFile(program, library);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function requireLoads(program: string, path: string, test: LoadTest): void {
  try {
    test(path);
  } catch (error) {
    const why = (error as Error).message.replaceAll(path, "it").split("\n")[0];
    throw new IsoformError(`nvcc ended without an error, but the library that it made of ${program}.cu does not load: ${why}`);
  }
}

/** File of its own, if the cache has no place. */
function ownFile(program: string, library: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "isoform-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, `${program}.so`);
  writeFileSync(path, library);
  return path;
}
