import { existsSync } from "node:fs";
import { arch, availableParallelism, cpus, freemem, totalmem } from "node:os";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/* Services that the CPU backends need from the engine that runs them, here Node. `#engine` means browser/engine.ts in pages. */

/** Processors that threads may run on at a time. */
export const processors = availableParallelism;

/** The processor in words. */
export const processorName = (): string => cpus()[0]?.model.trim() || arch();

export const engineVersions = (): Record<string, string> => ({ node: process.versions.node, v8: process.versions.v8 });

/** Memory of the system (or of its container) in bytes; without an operating system to ask, as in a browser, what a memory can address. */
export function systemMemory(): { total: number; available: number } {
  const constrained = process.constrainedMemory?.() || Infinity;
  const total = Math.min(totalmem(), constrained);
  return { total, available: Math.min(total, process.availableMemory?.() ?? freemem()) };
}

/** Turns on a feature that older versions of Node hide by default and enable with a flag. */
export function allowRelaxedSimd(): void {
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/** False for a thread that was torn down, by the number that Linux gave it; true where nobody tells. */
export const lives = (thread: number): boolean => thread === 0 || existsSync(`/proc/self/task/${thread}`);

export interface EngineWorker {
  postMessage(message: unknown): void;
  terminate(): unknown;
  /** Keeps the process alive until its next message. Undefined if nothing has to. */
  ref?(): void;
}

/** Starts a thread that runs pool-worker.ts. `spoke` is called at each of its messages, `ended` with the reason if it ends by itself. */
export function startWorker(spoke: () => void, ended: (reason: string) => void): EngineWorker {
  const worker = new Worker(new URL("./pool-worker.js", import.meta.url), { execArgv: [] });
  worker.on("message", () => {
    worker.unref();
    spoke();
  });
  worker.once("error", (error: Error) => ended(error.message));
  worker.once("exit", (code) => ended(`exit code ${code}`));
  return worker;
}
