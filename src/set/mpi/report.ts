import { loadKoffi } from "../../device/ffi.js";
import { launched } from "../launched.js";
import type { AbiName } from "./abi.js";
import { MPI_NEEDS_KOFFI } from "./job.js";
import { findLauncher } from "./launcher.js";
import { abiIn, candidates, NO_LIBRARY_REMEDY, firstLineOf, restrainUcx, versionOf } from "./library.js";

/** A library of MPI on this machine. */
export interface FoundLibrary {
  readonly path: string;
  readonly why: string;
  readonly abi: AbiName;
  readonly version: string;
}

/** Launcher and libraries that `devices("mpi:...")` would find. */
export interface MpiReport {
  /** Program that has started this process, and the number of processes that it has started. */
  readonly launcher?: string;
  readonly processes?: number;
  /** The first is the one that would be loaded. */
  readonly libraries: readonly FoundLibrary[];
  /** Why there is none, and what to do. */
  readonly missing?: { readonly reason: string; readonly remedy: string };
}

/** Looks for libraries of MPI, without initialising one. */
export async function reportMpi(): Promise<MpiReport> {
  const found = { launcher: findLauncher(), processes: launched()?.count };
  const koffi = await loadKoffi();
  if (!koffi) return { ...found, libraries: [], missing: MPI_NEEDS_KOFFI };
  restrainUcx();
  const [libraries, tried]: [FoundLibrary[], string[]] = [[], []];
  for (const { path, why } of candidates())
    try {
      // Symbols stay apart, so that libraries of several kinds can be loaded.
      const library = koffi.load(path);
      const abi = abiIn(library);
      const version = abi && versionOf(library);
      if (abi && !libraries.some((other) => other.version === version && other.abi === abi))
        libraries.push({ path, why, abi, version: version! });
      if (!abi) tried.push(`${path} (not MPI)`);
    } catch (error) {
      tried.push(`${path} (${firstLineOf(error)})`);
    }
  if (libraries.length > 0) return { ...found, libraries };
  return { ...found, libraries, missing: { reason: `no MPI library: tried ${tried.join("; ")}`, remedy: NO_LIBRARY_REMEDY } };
}
