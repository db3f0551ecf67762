import { hashShift, HEAD_BYTES, LINE_ELEMENTS, LINE_HASH, WORKER_LINES } from "../../ir/cache-lines.js";
import type { ScatterParam } from "../../ir/types.js";

const functionOf = (what: string, { op, element }: ScatterParam): string => `${what}_${op}_${element}`;

/** A pointer to an element of `target`, by its offset, in a worker's scatter cache. */
export const slotInCache = (param: ScatterParam, cache: string, target: string, offset: string): string =>
  `${functionOf("cached", param)}(${cache}, ${target}, ${offset})`;

/** A statement that brings all that is in a scatter cache to `target`. */
export const spillCache = (param: ScatterParam, cache: string, target: string): string =>
  `${functionOf("spill_cache", param)}(${cache}, ${target});`;

/**
 * The functions for the scatter caches of workers (see ir/cache-lines.ts). T is the target's type; `fold` folds a value into an element whatever other
 * threads do there.
 */
export function cacheFunctions(
  param: ScatterParam,
  T: string,
  identity: string,
  fold: (target: string, value: string) => string[],
): string {
  const [place, spill, spillAll] = ["cached", "spill", "spill_cache"].map((what) => functionOf(what, param));
  return [
    `// Adds the sums of a line to the target.`,
    `static void ${spill}(${T} *target, ${T} *values, int64_t line) {`,
    `  // Finds the changed values without branches, which would be mispredicted.`,
    `  unsigned there = 0;`,
    `  for (int n = 0; n < ${LINE_ELEMENTS}; n++) there |= (unsigned)(values[n] != ${identity}) << n;`,
    `  for (; there; there &= there - 1) {`,
    `    const int n = __builtin_ctz(there);`,
    ...fold(`target[${LINE_ELEMENTS} * line + n]`, "values[n]").map((line) => `    ${line}`),
    `    values[n] = ${identity};`,
    `  }`,
    `}`,
    ``,
    `// Returns the place of an element in the scatter cache; first spills the line that occupies it.`,
    `static inline ${T} *${place}(char *cache, ${T} *target, uint64_t offset) {`,
    `  const int32_t line = (int32_t)(offset / ${LINE_ELEMENTS});`,
    `  const uint32_t place = (uint32_t)line * ${LINE_HASH}u >> ${hashShift(WORKER_LINES)};`,
    `  int32_t *held = (int32_t *)cache + place;`,
    `  ${T} *values = (${T} *)(cache + ${HEAD_BYTES}) + ${LINE_ELEMENTS} * place;`,
    `  if (__builtin_expect(*held != line, 0)) {`,
    `    ${spill}(target, values, *held);`,
    `    *held = line;`,
    `    // Prefetches its elements for the later spill.`,
    `    __builtin_prefetch(target + ${LINE_ELEMENTS} * (int64_t)line, 1);`,
    `  }`,
    `  return values + offset % ${LINE_ELEMENTS};`,
    `}`,
    ``,
    `static void ${spillAll}(char *cache, ${T} *target) {`,
    `  for (int place = 0; place < ${WORKER_LINES}; place++)`,
    `    ${spill}(target, (${T} *)(cache + ${HEAD_BYTES}) + ${LINE_ELEMENTS} * place, ((int32_t *)cache)[place]);`,
    `}`,
    ``,
  ].join("\n");
}
