import { loadKoffi, openLibrary } from "../ffi.js";

/** The C library, under the names that Linux and macOS have for it. */
const LIBC = ["libc.so.6", "/usr/lib/libSystem.B.dylib"];

const STDERR = 2;

/**
 * Keeps native code from writing to stderr while `work` runs, to its first await: Dawn reports there every driver that it cannot use. It
 * needs koffi; without it, and with ISOFORM_DEBUG set, nothing is suppressed.
 */
export async function silencer(): Promise<<T>(work: () => T) => T> {
  const koffi = process.env.ISOFORM_DEBUG ? undefined : await loadKoffi();
  const libc = koffi && process.platform !== "win32" ? openLibrary(koffi, LIBC, []) : undefined;
  if (!libc) return (work) => work();
  const { closeSync, openSync } = await import("node:fs");
  const dup = libc.handle.func("int dup(int)") as (fd: number) => number;
  const dup2 = libc.handle.func("int dup2(int, int)") as (from: number, to: number) => number;
  return (work) => {
    const kept = dup(STDERR);
    if (kept < 0) return work();
    const nowhere = openSync("/dev/null", "w");
    dup2(nowhere, STDERR);
    closeSync(nowhere);
    try {
      return work();
    } finally {
      dup2(kept, STDERR);
      closeSync(kept);
    }
  };
}
