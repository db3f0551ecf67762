import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DeviceError } from "../../base/errors.js";
import { keepSource } from "../../cache/keep-source.js";
import { askCompiler, findCompiler, processorFlags, type Compiler } from "../../device/native/compiler.js";
import type { Loader, NativeEntry } from "../../device/native/library.js";
import { NVIDIA_OPTIONS, COMPILER_OPTIONS } from "../../emit/standalone/options.js";
import type { Precision } from "../../ir/launch.js";
import { CompileFailure, libraryOf, type LibraryCommand } from "../compile.js";
import { COMPILERS } from "../compilers.js";
import { portDevice, type Port } from "./names.js";

/** Compiler of a port's files on this machine. */
export interface Toolchain extends Omit<LibraryCommand, "options"> {
  readonly port: Port;
  options(precision: Precision): readonly string[];
  /** Advice where it cannot compile even a small program. */
  readonly remedy: string;
}

const LIBRARY = ["-fPIC", "-shared", ...(process.platform === "linux" ? ["-Wl,-z,nodelete"] : [])];

const words = (text: string): string[] => text.split(" ");

/** Throws DeviceError where the port's compiler is missing. */
function required(port: Port, name: keyof typeof COMPILERS): Compiler {
  const { find, missing } = COMPILERS[name];
  const found = find();
  if (!found) throw new DeviceError(portDevice(port), missing.reason, missing.remedy);
  return found;
}

/** GCC is made not to offload unless the user says where to: it would begin to look for accelerators. */
function offloadingCompiler(port: Port): Compiler {
  const { OMP_TARGET_CC: wish, OMP_TARGET_FLAGS: flags } = process.env;
  const compiler = wish ? askCompiler(wish) : findCompiler();
  if (wish && !compiler)
    throw new DeviceError(portDevice(port), `the compiler ${wish} of $OMP_TARGET_CC does not answer`, "name another one");
  if (!compiler) return required(port, "cc");
  const byDefault = /clang/.test(compiler.version) ? "" : "-foffload=disable";
  return { ...compiler, command: `${compiler.command} ${flags ?? byDefault}`.trim() };
}

/** By nvc++ where ISOFORM_NVCXX names it, for a GPU; else by the C++ compiler, for the host. */
function cppOrNvidia(port: "openacc" | "stdpar", libraries: readonly string[], remedy: string): Toolchain {
  const toGpu = process.env.ISOFORM_NVCXX !== undefined;
  const compiler = required(port, toGpu ? "nvc++" : "c++");
  const options = toGpu ? NVIDIA_OPTIONS[port] : COMPILER_OPTIONS[port];
  return toolchain(port, compiler, "cpp", (precision) => [...words(options(precision)), ...LIBRARY], toGpu ? [] : libraries, remedy);
}

function toolchain(
  port: Port,
  { command, version }: Compiler,
  suffix: string,
  options: Toolchain["options"],
  libraries: readonly string[],
  remedy: string,
): Toolchain {
  return { port, command, version, suffix, options, libraries, remedy, depends: processorFlags() };
}

/** Kokkos in a folder of its own: one shared library of it serves all kernels; archives keep their names to themselves. */
function kokkos(): Toolchain {
  const { command: prefix } = required("kokkos", "kokkos");
  const compiler = required("kokkos", "c++");
  const folder = ["lib", "lib64"].map((name) => join(prefix, name)).find((path) => existsSync(path)) ?? join(prefix, "lib");
  const shared = existsSync(folder) && readdirSync(folder).some((name) => name.startsWith("libkokkoscore.so"));
  const libraries = [`-L${folder}`, "-lkokkoscore", shared ? `-Wl,-rpath,${folder}` : "-Wl,--exclude-libs,ALL", "-ldl"];
  const options = (precision: Precision) => [
    ...words(COMPILER_OPTIONS.kokkos(precision).replace("$ISOFORM_KOKKOS", prefix)),
    ...LIBRARY,
    ...(shared ? [] : ["-fvisibility=hidden"]),
  ];
  const remedy =
    "name a Kokkos in ISOFORM_KOKKOS that this compiler built, with -DKokkos_ENABLE_OPENMP=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON";
  return toolchain("kokkos", compiler, "cpp", options, libraries, remedy);
}

const plain = (port: "c" | "omp-target", compiler: Compiler): Toolchain =>
  toolchain(
    port,
    compiler,
    "c",
    (precision) => [...words(COMPILER_OPTIONS[port](precision)), ...LIBRARY],
    ["-lm"],
    "install the compiler's OpenMP library, such as apt install libgomp1 or libomp-dev",
  );

const device = (port: "cuda" | "hip", compiler: Compiler, suffix: string, arch: string): Toolchain =>
  toolchain(
    port,
    compiler,
    suffix,
    (precision) => [
      ...words(COMPILER_OPTIONS[port](precision).replace("native", arch)),
      ...(port === "cuda" ? ["-Xcompiler"] : []),
      "-fPIC",
      "-shared",
    ],
    [],
    "look at what the compiler says",
  );

/**
 * The toolchain of a port. For omp-target $OMP_TARGET_CC is the compiler, and $OMP_TARGET_FLAGS what it needs to offload, such as
 * `-foffload=nvptx-none`. Throws DeviceError for what is missing.
 * @param arch of the GPU, as the compiler's option names it, for cuda and hip
 */
export function toolchainOf(port: Port, arch = "native"): Toolchain {
  switch (port) {
    case "c":
      return plain(port, required(port, "cc"));
    case "omp-target":
      return plain(port, offloadingCompiler(port));
    case "openacc":
      return cppOrNvidia(port, [], "OpenACC needs GCC: name g++ in CXX, or nvc++ in ISOFORM_NVCXX");
    case "stdpar":
      return cppOrNvidia(port, ["-ltbb"], "install the library of threads that parallel algorithms need, such as apt install libtbb-dev");
    case "kokkos":
      return kokkos();
    case "sycl": {
      const options = (precision: Precision) => [...words(COMPILER_OPTIONS.sycl(precision)), ...LIBRARY];
      return toolchain(port, required(port, "acpp"), "cpp", options, [], "name a compiler of SYCL 2020 in ISOFORM_ACPP");
    }
    case "cuda":
      return device(port, required(port, "nvcc"), "cu", arch);
    case "hip":
      return device(port, required(port, "hipcc"), "hip", arch);
    default:
      return port satisfies never;
  }
}

/** A function of a shared library. */
export interface LoadedEntry {
  readonly function: NativeEntry;
  /** Path of the library. */
  readonly library: string;
}

/** The function `entry` of a source, compiled and loaded. Throws DeviceError in the name of the port's device. */
export function compiledEntry(
  loader: Loader,
  tools: Toolchain,
  { name, text, entry }: { readonly name: string; readonly text: string; readonly entry: string },
  precision: Precision,
): LoadedEntry {
  keepSource(name, text, precision, tools.suffix);
  try {
    const library = libraryOf(name, text, { ...tools, options: tools.options(precision) }, loader.test(entry));
    return { library, function: loader.entry(library, entry) };
  } catch (error) {
    if (error instanceof CompileFailure) throw new DeviceError(portDevice(tools.port), error.message, tools.remedy);
    if (error instanceof DeviceError) throw new DeviceError(portDevice(tools.port), error.problem, error.remedy);
    throw error;
  }
}
