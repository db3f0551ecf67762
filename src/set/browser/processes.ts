import { DeviceError } from "../../base/errors.js";
import { SPANNING } from "../../device/spanning.js";
import type { Joined } from "../joined.js";

/** Refuses `mpi:` in pages, which are one process: what `#processes` means there. Throws DeviceError. */
export async function joinJobOf(spec: unknown): Promise<Joined | undefined> {
  const text = String(spec);
  if (text.startsWith(SPANNING)) throw new DeviceError(text, "a page is one process", `write "${text.slice(SPANNING.length)}"`);
  return undefined;
}
