import { loadKoffi, noKoffi } from "../../device/ffi.js";
import { NcclCalls } from "./calls.js";
import { isNcclOff, NO_NCCL_REMEDY, openNccl } from "./library.js";

/** The library of NCCL on this machine, or why there is none. */
export type NcclReport =
  | { readonly path: string; readonly version: string }
  | { readonly missing: { readonly reason: string; readonly remedy: string } };

/** Looks for NCCL, without a GPU. */
export async function reportNccl(): Promise<NcclReport> {
  if (isNcclOff()) return { missing: { reason: "ISOFORM_NCCL is off", remedy: "unset it" } };
  const koffi = await loadKoffi();
  if (!koffi) return { missing: noKoffi("NCCL") };
  try {
    const library = openNccl(koffi);
    if (!library) return { missing: { reason: "no libnccl.so.2 was found", remedy: NO_NCCL_REMEDY } };
    return { path: library.path, version: new NcclCalls(koffi, library).version };
  } catch (error) {
    return { missing: { reason: (error as Error).message.split("\n")[0], remedy: NO_NCCL_REMEDY } };
  }
}
