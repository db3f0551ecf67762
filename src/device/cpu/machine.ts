import { engineVersions, processorName, systemMemory } from "#engine";
import type { Capabilities } from "../device.js";

/** Hardware in words, and versions of the engine, for backends that run inside it. */
export function describeMachine(threads: number): { label: string; versions: Record<string, string> } {
  return { label: `${processorName()}, ${threads} ${threads === 1 ? "thread" : "threads"}`, versions: engineVersions() };
}

/** The largest buffer that engines are known to give, in bytes. */
const MAX_BUFFER = 2 ** 33;

/** Capabilities of a CPU backend; `reach` is the size of the one memory that its views must lie in, where they must. */
export function cpuCapabilities(threads: number, simdBytes: number, reach?: number): Capabilities {
  const { total } = systemMemory();
  const memory = Math.min(total, reach ?? Infinity);
  return { f64: true, parallelism: threads, simdBytes, memory, maxAllocation: Math.min(memory, reach ?? MAX_BUFFER) };
}
