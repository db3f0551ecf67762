import { IsoformError } from "../../src/base/errors.js";

/** Milliseconds that one input may take. */
const SLOW = 20_000;

/**
 * Runs what is given bad input: true where it came through, false where it was refused as it should be. Any other error is a defect, and so is
 * an answer that does not come.
 */
export async function accepted(what: () => string, run: () => unknown): Promise<boolean> {
  const begin = performance.now();
  const passed = await attempt(what, run);
  const taken = performance.now() - begin;
  if (taken > SLOW) throw new Error(`it took ${(taken / 1e3).toFixed(1)} s\nfor ${what()}`);
  return passed;
}

async function attempt(what: () => string, run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof IsoformError && error.message.length < 20_000) return false;
    throw new Error(`${(error as Error).stack ?? String(error)}\nfor ${what()}`, { cause: error });
  }
}
