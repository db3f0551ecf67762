import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { askCompiler, findCompiler, type Compiler } from "../device/native/compiler.js";

/* Compilers of hand-written programs and of ports beside the C compiler; environment variables name compilers elsewhere than on the path. */

/** Why a compiler is missing, and what makes it available. */
interface NoCompiler {
  readonly reason: string;
  readonly remedy: string;
}

/** For reports; each is a whole sentence with the name of the variable. */
export const NO_NVCC: NoCompiler = {
  reason: "no nvcc was found ($ISOFORM_NVCC, the path, /usr/local/cuda/bin)",
  remedy: "install NVIDIA's CUDA toolkit, or name the folder of nvcc in ISOFORM_NVCC",
};
const NO_HIPCC: NoCompiler = {
  reason: "no hipcc was found (the path, /opt/rocm/bin)",
  remedy: "install ROCm, such as apt install hipcc",
};
const NO_CPP: NoCompiler = {
  reason: "no C++ compiler was found ($CXX, g++, clang++)",
  remedy: "install g++ or clang++, such as apt install g++",
};
const NO_ACPP: NoCompiler = {
  reason: "no compiler of SYCL was found ($ISOFORM_ACPP, acpp, icpx)",
  remedy: "build AdaptiveCpp from its source, or install Intel's oneAPI, and name the command in ISOFORM_ACPP",
};
const NO_KOKKOS: NoCompiler = {
  reason: "no Kokkos was found ($ISOFORM_KOKKOS)",
  remedy:
    "build it from its source with -DKokkos_ENABLE_OPENMP=ON -DBUILD_SHARED_LIBS=ON, and name the folder that it is installed to in ISOFORM_KOKKOS",
};
const NO_NVCXX: NoCompiler = {
  reason: "no nvc++ was found ($ISOFORM_NVCXX, the path); g++ compiles OpenACC and parallel algorithms for the host instead",
  remedy: "install NVIDIA's HPC SDK, or name the command in ISOFORM_NVCXX",
};

/** The first of some folders that has a program which answers. */
function inFolders(program: string, folders: readonly (string | undefined)[], versionOf: (text: string) => string): Compiler | undefined {
  for (const folder of folders) {
    if (!folder) continue;
    const command = join(folder, program);
    const answer = spawnSync(command, ["--version"], { encoding: "utf8" });
    if (answer.status === 0) return { command, version: versionOf(answer.stdout.trim()) };
  }
  return undefined;
}

const path = (): string[] => (process.env.PATH ?? "").split(delimiter);

/** nvcc in the folder $ISOFORM_NVCC, on the path, or where CUDA is installed by default. */
export const findNvcc = (): Compiler | undefined =>
  inFolders("nvcc", [process.env.ISOFORM_NVCC, ...path(), "/usr/local/cuda/bin"], (text) => /release .*$/m.exec(text)?.[0] ?? text);

const findHipcc = (): Compiler | undefined =>
  inFolders(
    "hipcc",
    [...path(), "/opt/rocm/bin"],
    (text) => text.split("\n").find((line) => line.startsWith("HIP version")) ?? text.split("\n")[0],
  );

/** The command that a variable names, else the first of some that answers. */
const named = (wish: string | undefined, commands: readonly string[]): Compiler | undefined =>
  (wish ? [wish] : commands).map(askCompiler).find((found) => found !== undefined);

const findCpp = (): Compiler | undefined => named(process.env.CXX, ["g++", "clang++"]);
const findNvcxx = (): Compiler | undefined => named(process.env.ISOFORM_NVCXX, ["nvc++"]);
const findSycl = (): Compiler | undefined => named(process.env.ISOFORM_ACPP, ["acpp", "icpx -fsycl"]);

/** A folder with Kokkos' headers, by its version. */
function findKokkos(): Compiler | undefined {
  const prefix = process.env.ISOFORM_KOKKOS;
  if (!prefix || !existsSync(join(prefix, "include", "Kokkos_Core.hpp"))) return undefined;
  return { command: prefix, version: `Kokkos in ${prefix}` };
}

/** Searches for compilers, by the names of their programs, with what to say where one is missing. */
export const COMPILERS = {
  cc: {
    find: findCompiler,
    missing: { reason: "no C compiler was found ($CC, gcc, clang, cc)", remedy: "install gcc or clang, such as apt install gcc" },
  },
  "c++": { find: findCpp, missing: NO_CPP },
  "nvc++": { find: findNvcxx, missing: NO_NVCXX },
  kokkos: { find: findKokkos, missing: NO_KOKKOS },
  acpp: { find: findSycl, missing: NO_ACPP },
  nvcc: { find: findNvcc, missing: NO_NVCC },
  hipcc: { find: findHipcc, missing: NO_HIPCC },
} as const satisfies Record<string, { find(): Compiler | undefined; missing: NoCompiler }>;
