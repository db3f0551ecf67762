import { compileLibrary, hasOpenMP, type Compiler } from "../../device/native/compiler.js";
import type { NativeEntry, Loader } from "../../device/native/library.js";
import type { Precision } from "../../ir/launch.js";
import { DeviceError } from "../../base/errors.js";

export interface Toolchain {
  readonly compiler: Compiler;
  readonly loader: Loader;
}

/** The function `entry` of a source with OpenMP, compiled and loaded. Throws DeviceError in the name of `device`. */
export function compiledEntry(
  device: string,
  { compiler, loader }: Toolchain,
  kernel: string,
  source: string,
  entry: string,
  precision: Precision,
): NativeEntry {
  try {
    const library = compileLibrary(compiler, kernel, source, precision, loader.test(entry));
    // A compiler without OpenMP has left the pragmas out.
    if (hasOpenMP(compiler)) return loader.entry(library, entry);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    throw new DeviceError(device, error.problem, error.remedy);
  }
  throw new DeviceError(
    device,
    `${compiler.command} has no OpenMP`,
    "install its OpenMP library, such as apt install libgomp1 or libomp-dev",
  );
}
