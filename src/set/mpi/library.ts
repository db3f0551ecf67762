import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LibraryHandle } from "koffi";
import type { Koffi } from "../../device/ffi.js";
import { IsoformError } from "../../base/errors.js";
import { launched } from "../launched.js";
import type { AbiName } from "./abi.js";
import { findLauncher } from "./launcher.js";

/** Names of MPI's library, for each kind of launcher. */
const NAMES = {
  openmpi: ["libmpi.so.40", "libmpi.so.80"],
  mpich: ["libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"],
} as const;

/** Variables that name an installation, whose library is in `lib`. */
const PREFIXES = ["OPAL_PREFIX", "VIRTUAL_ENV", "CONDA_PREFIX", "MPI_HOME"] as const;

/** Remedy for a missing library. */
export const NO_LIBRARY_REMEDY = "install openmpi-bin or mpich, load the cluster's module of MPI, or set ISOFORM_MPI to the library's path";

/** A library of MPI that is loaded. */
export interface MpiLibrary {
  /** The global scope, where preloaded profilers come first. */
  readonly scope: LibraryHandle;
  readonly abi: AbiName;
  /** Path, with the reason for it: `/usr/lib/libmpi.so.40 (the loader's path)`. */
  readonly from: string;
  /** Name and version, as the library tells them. */
  readonly version: string;
}

/** A path or name to try, and why. */
interface Candidate {
  readonly path: string;
  readonly why: string;
}

/** Paths and names to try, in order. `ISOFORM_MPI`, where it is set, is the only one. */
export function candidates(env: NodeJS.ProcessEnv = process.env, launcher = findLauncher()): Candidate[] {
  if (env.ISOFORM_MPI) return [{ path: env.ISOFORM_MPI, why: "ISOFORM_MPI" }];
  const kind = launched(env)?.kind;
  const names = kind ? NAMES[kind] : [...NAMES.openmpi, ...NAMES.mpich];
  const folders: Candidate[] = PREFIXES.flatMap((name) => (env[name] ? [{ path: join(env[name], "lib"), why: name }] : []));
  if (launcher !== undefined) folders.unshift({ path: join(dirname(realpathSync(launcher)), "../lib"), why: `beside ${launcher}` });
  return [
    ...folders.flatMap(({ path, why }) => names.map((name) => ({ path: join(path, name), why }))).filter(({ path }) => existsSync(path)),
    ...names.map((path) => ({ path, why: "the loader's path" })),
  ];
}

/**
 * Keeps UCX, which MPICH brings, from rewriting `mmap` while V8's threads run (3 % of starts crashed) and from taking V8's signals. What the
 * user has set stays.
 */
export function restrainUcx(): void {
  process.env.UCX_MEM_EVENTS ??= "no";
  process.env.UCX_ERROR_SIGNALS ??= "";
}

/**
 * Loads MPI into the global scope, unless it is there already.
 * @throws IsoformError with everything that was tried, where none loads
 */
export function loadMpi(koffi: Koffi): MpiLibrary {
  restrainUcx();
  const scope = koffi.load(null);
  const there = abiIn(scope);
  if (there) return { scope, abi: there, from: "the library loaded already", version: versionOf(scope) };
  const tried: string[] = [];
  for (const { path, why } of candidates()) {
    try {
      const abi = abiIn(koffi.load(path, { global: true }));
      if (abi) return { scope, abi, from: `${path} (${why})`, version: versionOf(scope) };
      tried.push(`${path} (${why}): it is not a library of MPI`);
    } catch (error) {
      tried.push(`${path} (${why}): ${firstLineOf(error)}`);
    }
  }
  throw new IsoformError(`no MPI library: tried ${tried.join("; ")}. Remedy: ${NO_LIBRARY_REMEDY}`);
}

/** The binary interface of a library; undefined where it is not MPI. `MPI_` symbols alone may be a profiler's. */
export function abiIn(library: LibraryHandle): AbiName | undefined {
  if (has(library, "ompi_mpi_comm_self")) return "openmpi";
  if (!has(library, "PMPI_Init_thread")) return undefined;
  // May be called before MPI is initialised. MPICH 5's own interface answers -1.
  if (!has(library, "MPI_Abi_get_version")) return "mpich";
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  library.func("MPI_Abi_get_version", "int", ["int *", "int *"])(major, minor);
  return major[0] >= 1 ? "standard" : "mpich";
}

/** Bytes that the longest version takes: MPI_MAX_LIBRARY_VERSION_STRING of MPICH. */
const VERSION_BYTES = 8192;

/** Name and version of the library, as it tells them; may be asked before MPI is initialised. */
export function versionOf(library: LibraryHandle): string {
  const [text, length] = [new Uint8Array(VERSION_BYTES), new Int32Array(1)];
  library.func("MPI_Get_library_version", "int", ["void *", "int *"])(text, length);
  const [first] = Buffer.from(text.subarray(0, Math.max(0, length[0])))
    .toString()
    .split(/[,\n\0]/);
  return first.replace(/\s+/g, " ").trim();
}

/** First line of a loader's message. */
export const firstLineOf = (error: unknown): string => (error as Error).message.split("\n")[0];

function has(library: LibraryHandle, name: string): boolean {
  try {
    library.symbol(name);
    return true;
  } catch {
    return false;
  }
}
