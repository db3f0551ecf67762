import type { Capabilities } from "../device.js";
import { systemMemory } from "./storage.js";

/** Hardware in words, and versions of the engine, for backends that run inside it. */
export function describeMachine(threads: number): { label: string; versions: Record<string, string> } {
  const os = globalThis.process?.getBuiltinModule?.("node:os");
  const count = `${threads} ${threads === 1 ? "thread" : "threads"}`;
  if (!os) return { label: `this browser's CPU, ${count}`, versions: { engine: globalThis.navigator?.userAgent ?? "unknown" } };
  const { node, v8 } = process.versions;
  return { label: `${os.cpus()[0]?.model.trim() || os.arch()}, ${count}`, versions: { node, v8 } };
}

/** The largest buffer that engines are known to give, in bytes. */
const MAX_BUFFER = 2 ** 33;

/** Capabilities of a CPU backend; `reach` is the size of the one memory that its views must lie in, where they must. */
export function cpuCapabilities(threads: number, simdBytes: number, reach?: number): Capabilities {
  const { total } = systemMemory();
  const memory = Math.min(total, reach ?? Infinity);
  return { f64: true, parallelism: threads, simdBytes, memory, maxAllocation: Math.min(memory, reach ?? MAX_BUFFER) };
}
