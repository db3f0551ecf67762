import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openLibrary, type Koffi, type Library } from "../ffi.js";

const DRIVER_FOLDERS = [
  "/usr/local/nvidia/lib64",
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib64",
  "/usr/lib/wsl/lib",
  "/usr/local/cuda/compat",
];

/** NVIDIA's driver library, which comes with the driver. */
export function openDriverLibrary(koffi: Koffi): Library | undefined {
  return openLibrary(
    koffi,
    ["libcuda.so.1"],
    DRIVER_FOLDERS.map((folder) => join(folder, "libcuda.so.1")),
  );
}

/** Places to look for a library of the toolkit, best first: full paths that exist, then names for the system's loader. */
export interface LibraryPaths {
  readonly files: readonly string[];
  readonly names: readonly string[];
}

/**
 * Looks for the run-time compiler without loading it. `ISOFORM_NVRTC` names the library or a folder with it (such as
 * `nvidia/cuda_nvrtc/lib` of the wheel nvidia-cuda-nvrtc-cu12) and is then the only place looked at; else the toolkit's folders and
 * the loader's own path.
 */
export const findNvrtc = (environment: NodeJS.ProcessEnv = process.env): LibraryPaths =>
  findLibrary(NVRTC, environment.ISOFORM_NVRTC, environment);

/** The same for the library of matrix products, in the folder `ISOFORM_CUDA_LIBRARIES` if that is set. */
export const findCublas = (environment: NodeJS.ProcessEnv = process.env): LibraryPaths =>
  findLibrary(CUBLAS, environment.ISOFORM_CUDA_LIBRARIES, environment);

/** Names of a library's files, the folders of its wheels under a Python site folder, and names for the loader. */
interface ToolkitLibrary {
  readonly file: RegExp;
  readonly wheels: readonly string[];
  readonly names: readonly string[];
}

const NVRTC: ToolkitLibrary = {
  file: /^libnvrtc\.so(\.\d+)*$/,
  wheels: ["nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"],
  names: ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
};
const CUBLAS: ToolkitLibrary = {
  file: /^libcublas\.so(\.\d+)*$/,
  wheels: ["nvidia/cublas/lib", "nvidia/cu13/lib"],
  names: ["libcublas.so", "libcublas.so.13", "libcublas.so.12"],
};

function findLibrary(library: ToolkitLibrary, asked: string | undefined, environment: NodeJS.ProcessEnv): LibraryPaths {
  if (asked) return { files: filesAt(asked, library), names: [] };
  const toolkits = [environment.CUDA_PATH, environment.CUDA_HOME, "/usr/local/cuda", ...versionedToolkits()].filter(
    (path) => path !== undefined,
  );
  const folders = [...toolkits.map((path) => join(path, "lib64")), ...DRIVER_FOLDERS];
  return { files: folders.flatMap((folder) => filesAt(folder, library)), names: library.names };
}

export const openNvrtcLibrary = (koffi: Koffi, { files, names }: LibraryPaths): Library | undefined =>
  openLibrary(koffi, [], files) ?? openLibrary(koffi, names, []);

/** The version in a library's file name, such as 13.0 of `libnvrtc.so.13.0.88`; links are followed. */
export function versionInName(file: string): string | undefined {
  return /\.so\.(\d+\.\d+)/.exec(realpathSync(file))?.[1];
}

/** Library files at `path`, newest version first; also in the folders that the wheels put under a Python site folder. */
function filesAt(path: string, { file, wheels }: ToolkitLibrary): string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return [path, join(path, "lib"), ...wheels.map((wheel) => join(path, wheel))].flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => file.test(name))
          .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
          .map((name) => join(folder, name))
      : [],
  );
}

function versionedToolkits(): string[] {
  const root = dirname("/usr/local/cuda");
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^cuda-\d/.test(name))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => join(root, name));
}
