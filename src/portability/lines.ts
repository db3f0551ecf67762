import type { Port } from "./ports/names.js";

/* Lines of code: neither blank nor a comment. */

/** Lines of one source: all, inside kernels, and those that hold or move data; the rest calls and declares. */
export interface LineCount {
  readonly total: number;
  readonly kernels: number;
  readonly data: number;
}

/** Text without comments; strings of generated code hold none. */
const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\/\/.*$/gm, "");

/** The lines that count. */
const linesOf = (text: string): string[] =>
  withoutComments(text)
    .split("\n")
    .filter((line) => line.trim() !== "");

/** Number of lines of a text that are neither blank nor a comment. */
export const codeLines = (text: string): number => linesOf(text).length;

/** Beginnings of what runs in parallel or on a device: its block, and all inside, are a kernel. */
const KERNELS: Readonly<Record<Port, RegExp>> = {
  c: /^\s*(for \(|static inline)/,
  "omp-target": /^\s*(for \(|static inline)/,
  openacc: /^\s*(for \(|static inline)/,
  stdpar: /std::(for_each|transform_reduce)\(|static inline/,
  kokkos: /Kokkos::parallel_\w+\(|KOKKOS_INLINE_FUNCTION/,
  sycl: /queue\.(parallel_for|single_task)\(|static inline/,
  cuda: /__global__|__device__/,
  hip: /__global__|__device__/,
};

/** Lines that hold or move data. */
const DATA: Readonly<Record<Port, RegExp>> = {
  c: /\b(malloc|free)\(/,
  "omp-target": /\b(malloc|free)\(|\bmap\(/,
  openacc: /\b(malloc|free)\(|#pragma acc (enter|exit) data|\bpresent\(|declare copyin/,
  stdpar: /\b(malloc|free)\(/,
  kokkos: /Kokkos::View<|Kokkos::create_mirror|const array</,
  sycl: /sycl::(malloc_device|free)\b|std::vector<|queue\.copy\(/,
  cuda: /\bcuda(Malloc|Free|Memcpy|Memset)\w*\(/,
  hip: /\bhip(Malloc|Free|Memcpy|Memset)\w*\(/,
};

/** Directives before a loop belong to its kernel. */
const DIRECTIVE = /^\s*#pragma (omp|acc)\b/;

/** Counts the lines of an emitted file. */
export function emittedLines(port: Port, text: string): LineCount {
  const count = { total: 0, kernels: 0, data: 0 };
  /** Braces open since a kernel began. */
  let depth = 0;
  let inKernel = false;
  for (const line of linesOf(text)) {
    count.total++;
    if (!inKernel && DATA[port].test(line)) {
      count.data++;
      continue;
    }
    const begins = KERNELS[port].test(line);
    if (inKernel || begins || (DIRECTIVE.test(line) && !/declare|enter|exit/.test(line))) count.kernels++;
    if (!inKernel && !begins) continue;
    depth += line.split("{").length - line.split("}").length;
    // A definition's parameters may fill lines before its block.
    inKernel = depth > 0 || (!line.includes("}") && !line.trimEnd().endsWith(";"));
  }
  return count;
}
