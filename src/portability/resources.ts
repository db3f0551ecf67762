import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { EntryResources } from "../device/gpu/machine.js";

/** Registers and memory of a kernel in a library that nvcc made. */
interface LibraryKernel extends EntryResources {
  readonly name: string;
}

const FUNCTION = /^\s*Function (\S+):\s*$/;

/** Reads what `cuobjdump -res-usage` prints: a line with the function's name, then one with `REG:32 STACK:0 SHARED:0 LOCAL:0`. */
export function readResourceUsage(text: string): LibraryKernel[] {
  const kernels: LibraryKernel[] = [];
  let name: string | undefined;
  for (const line of text.split("\n")) {
    const begins = FUNCTION.exec(line);
    if (begins) name = begins[1];
    const numbers = new Map([...line.matchAll(/\b([A-Z]+(?:\[\d+\])?):(\d+)/g)].map(([, key, value]) => [key, Number(value)]));
    const registers = numbers.get("REG");
    if (begins || name === undefined || registers === undefined) continue;
    // The stack lies in local memory, too.
    kernels.push({
      name,
      registers,
      localBytes: (numbers.get("LOCAL") ?? 0) + (numbers.get("STACK") ?? 0),
      sharedBytes: numbers.get("SHARED"),
    });
    name = undefined;
  }
  return kernels;
}

/** Kernels of a library, by cuobjdump beside nvcc or on the path; undefined where there is none. */
export function resourceUsage(library: string, nvcc: string): LibraryKernel[] | undefined {
  for (const command of [join(dirname(nvcc), "cuobjdump"), "cuobjdump"]) {
    const answer = spawnSync(command, ["-res-usage", library], { encoding: "utf8" });
    if (answer.status === 0) return readResourceUsage(answer.stdout);
  }
  return undefined;
}
