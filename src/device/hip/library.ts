import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openLibrary, type Koffi, type Library } from "../ffi.js";

const FOLDERS = ["/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"];
const VERSIONS = ["", ".7", ".6", ".5"];

/**
 * HIP's library, which comes with ROCm. `ISOFORM_HIP` names the library or a folder with it and is then the only place looked at; else
 * the loader's own path and the usual folders.
 */
export const openHipLibrary = (koffi: Koffi): Library | undefined => open(koffi, "libamdhip64.so");

/** The run-time compiler's library, beside HIP's; before ROCm 5.3 its functions were in HIP's own. */
export const openHiprtcLibrary = (koffi: Koffi): Library | undefined => open(koffi, "libhiprtc.so") ?? openHipLibrary(koffi);

function open(koffi: Koffi, name: string, named = process.env.ISOFORM_HIP): Library | undefined {
  if (named) return openLibrary(koffi, [], filesIn(isFolder(named) ? named : dirname(named), name));
  const names = VERSIONS.map((version) => name + version);
  return openLibrary(
    koffi,
    names,
    FOLDERS.flatMap((folder) => filesIn(folder, name)),
  );
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** The library's files, newest version first. */
function filesIn(folder: string, name: string): string[] {
  if (!isFolder(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file === name || file.startsWith(`${name}.`))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((file) => join(folder, file));
}
