import { DeviceError } from "../../base/errors.js";

/* Backends that emit JavaScript need an engine that runs text. */

const MISSING = {
  reason:
    "code made from text is not allowed here: the page's Content-Security-Policy lacks 'unsafe-eval', or node runs with --disallow-code-generation-from-strings",
  remedy: "use the device wasm, for which 'wasm-unsafe-eval' is enough, or allow it",
};

/** Why no JavaScript can be made from text here, and what to do; undefined if it can. */
export function noCodeFromText(): typeof MISSING | undefined {
  try {
    new Function("");
    return undefined;
  } catch {
    return MISSING;
  }
}

/** Throws DeviceError if no JavaScript can be made from text. */
export function requireCodeFromText(device: string): void {
  const missing = noCodeFromText();
  if (missing) throw new DeviceError(device, missing.reason, missing.remedy);
}
