import type { EngineWorker } from "../cpu/engine.js";

/* Implementation of `#engine` in a browser. */

/** Bytes that a WebAssembly memory with 32-bit addresses can have. */
const ADDRESSED = 65535 * 65536;

export const processors = (): number => navigator.hardwareConcurrency ?? 1;

export const processorName = (): string => "this browser's CPU";

export const engineVersions = (): Record<string, string> => ({ engine: navigator.userAgent });

export const systemMemory = (): { total: number; available: number } => ({ total: ADDRESSED, available: ADDRESSED });

/** Browsers have no flags to set. */
export function allowRelaxedSimd(): void {}

export const lives = (): boolean => true;

export function startWorker(spoke: () => void, ended: (reason: string) => void): EngineWorker {
  const worker = new Worker(new URL("../cpu/pool-worker.js", import.meta.url), { type: "module" });
  worker.onmessage = spoke;
  worker.onerror = (event) => ended(event.message || "its script was not loaded");
  return worker;
}
