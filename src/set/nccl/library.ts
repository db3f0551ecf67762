import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { openLibrary, type Koffi, type Library } from "../../device/ffi.js";

const NAME = "libnccl.so.2";
/** Value of `ISOFORM_NCCL` that says that no NCCL is to be used. */
const OFF = "off";

/** Flags of dlopen on Linux: RTLD_NOW, RTLD_NODELETE. */
const NOW = 2;
const NODELETE = 0x1000;

/** Remedy for a missing library. */
export const NO_NCCL_REMEDY = "install nvidia-nccl-cu13 or libnccl2, or set ISOFORM_NCCL to the library or a folder with it";

/** Whether NCCL is switched off. */
export const isNcclOff = (env: NodeJS.ProcessEnv = process.env): boolean => env.ISOFORM_NCCL === OFF;

/**
 * Files that may be NCCL's library, best first: `ISOFORM_NCCL`, a file or a folder, is the only place where it is set; else the folders of Python packages, of
 * the environment that is active first.
 */
export function ncclFiles(env: NodeJS.ProcessEnv = process.env): string[] {
  const { ISOFORM_NCCL: told } = env;
  if (told !== undefined && told !== "")
    return [told, join(told, NAME), join(told, "lib", NAME), join(told, "nvidia/nccl/lib", NAME)].filter(isFile);
  return packageFolders(env)
    .map((folder) => join(folder, "nvidia/nccl/lib", NAME))
    .filter(isFile);
}

/** Opens NCCL by the loader's path, or from a file; undefined where there is none. */
export function openNccl(koffi: Koffi, env: NodeJS.ProcessEnv = process.env): Library | undefined {
  if (isNcclOff(env)) return undefined;
  const library = openLibrary(koffi, env.ISOFORM_NCCL ? [] : [NAME], ncclFiles(env));
  // Its threads may run until the process has ended.
  if (library) koffi.load(null).func("dlopen", "void *", ["str", "int"])(library.path, NOW | NODELETE);
  return library;
}

/** Folders of Python packages: of PYTHONPATH, of environments, of the interpreter on the path, and of the system. */
function packageFolders(env: NodeJS.ProcessEnv): string[] {
  const lists = (list: string | undefined): string[] => (list ?? "").split(delimiter).filter((path) => path !== "");
  const interpreter = lists(env.PATH)
    .map((folder) => join(folder, "python3"))
    .find(isFile);
  const prefixes = [
    env.VIRTUAL_ENV,
    env.CONDA_PREFIX,
    interpreter && dirname(dirname(interpreter)),
    interpreter && dirname(dirname(realpathSync(interpreter))),
  ];
  const roots = [...new Set([...prefixes.filter((prefix) => prefix !== undefined && prefix !== ""), "/usr/local", "/usr"])] as string[];
  const inLib = roots.map((root) => join(root, "lib")).flatMap((lib) => pythons(lib).map((name) => join(lib, name)));
  return [...lists(env.PYTHONPATH), ...inLib.flatMap((folder) => [join(folder, "site-packages"), join(folder, "dist-packages")])];
}

/** Folders such as python3.12. */
function pythons(lib: string): string[] {
  try {
    return readdirSync(lib).filter((name) => name.startsWith("python3"));
  } catch {
    return [];
  }
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
