import { existsSync } from "node:fs";
import type { LibraryHandle } from "koffi";

export type Koffi = typeof import("koffi");

/** koffi is an optional dependency: undefined if it is not installed. */
export async function loadKoffi(): Promise<Koffi | undefined> {
  try {
    const module = await import("koffi");
    return ((module as unknown as { default?: Koffi }).default ?? module) as Koffi;
  } catch {
    return undefined;
  }
}

/** Reason and remedy where koffi is missing, which would call `library`. */
export const noKoffi = (library: string): { readonly reason: string; readonly remedy: string } => ({
  reason: `the package koffi, which calls ${library}, is not installed`,
  remedy: "npm install koffi",
});

export interface Library {
  readonly handle: LibraryHandle;
  /** As it was opened: a full path, or a name that the system's loader knows. */
  readonly path: string;
}

/** The first of `names` that the system's loader finds, then the first file of `files` that loads. */
export function openLibrary(koffi: Koffi, names: readonly string[], files: readonly string[]): Library | undefined {
  for (const path of [...names, ...files.filter((file) => existsSync(file))]) {
    try {
      return { handle: koffi.load(path), path };
    } catch {
      continue;
    }
  }
  return undefined;
}
