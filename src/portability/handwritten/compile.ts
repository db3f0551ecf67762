import { compileLibrary, findCompiler, hasOpenMP, type LoadTest } from "../../device/native/compiler.js";
import { libraryOf } from "../compile.js";
import { findNvcc, NO_NVCC } from "../compilers.js";
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

const FLAGS = ["-O3", "-Xcompiler", "-fPIC", "-shared"];

function compileCuda(program: string, source: string, test: LoadTest, arch: string): string {
  const nvcc = findNvcc();
  if (!nvcc) throw new NoProgramError(`${NO_NVCC.reason}: ${NO_NVCC.remedy}`);
  return libraryOf(program, source, { ...nvcc, options: [...FLAGS, `-arch=${arch}`], libraries: [], suffix: "cu", depends: "" }, test);
}
