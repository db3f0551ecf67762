import { TILE_HASH, TILE_HEAD, TILE_LINE, tileShift, WORKER_TILE_LINES } from "../../ir/scatter-cache.js";
import type { ScatterParam } from "../../ir/types.js";

const functionOf = (what: string, { op, element }: ScatterParam): string => `${what}_${op}_${element}`;

/** A pointer to an element of `target`, by its offset, in a worker's tile. */
export const slotInTile = (param: ScatterParam, tile: string, target: string, offset: string): string =>
  `${functionOf("tile", param)}(${tile}, ${target}, ${offset})`;

/** A statement that brings all that is in a tile to `target`. */
export const spillTile = (param: ScatterParam, tile: string, target: string): string =>
  `${functionOf("spill_tile", param)}(${tile}, ${target});`;

/**
 * The functions for the tiles of workers (see ir/scatter-cache.ts). T is the target's type; `fold` folds a value into an element whatever other
 * threads do there.
 */
export function tileFunctions(param: ScatterParam, T: string, identity: string, fold: (target: string, value: string) => string[]): string {
  const [place, spill, spillAll] = ["tile", "spill", "spill_tile"].map((what) => functionOf(what, param));
  return [
    `// Brings the sums of a line to the target.`,
    `static void ${spill}(${T} *target, ${T} *values, int64_t line) {`,
    `  // Which values there are is found without branches, as a processor cannot foresee it.`,
    `  unsigned there = 0;`,
    `  for (int n = 0; n < ${TILE_LINE}; n++) there |= (unsigned)(values[n] != ${identity}) << n;`,
    `  for (; there; there &= there - 1) {`,
    `    const int n = __builtin_ctz(there);`,
    ...fold(`target[${TILE_LINE} * line + n]`, "values[n]").map((line) => `    ${line}`),
    `    values[n] = ${identity};`,
    `  }`,
    `}`,
    ``,
    `// The place of an element in a tile; another line that has its place goes to the target.`,
    `static inline ${T} *${place}(char *tile, ${T} *target, uint64_t offset) {`,
    `  const int32_t line = (int32_t)(offset / ${TILE_LINE});`,
    `  const uint32_t place = (uint32_t)line * ${TILE_HASH}u >> ${tileShift(WORKER_TILE_LINES)};`,
    `  int32_t *held = (int32_t *)tile + place;`,
    `  ${T} *values = (${T} *)(tile + ${TILE_HEAD}) + ${TILE_LINE} * place;`,
    `  if (__builtin_expect(*held != line, 0)) {`,
    `    ${spill}(target, values, *held);`,
    `    *held = line;`,
    `    // Its elements will be in the cache when it is spilt.`,
    `    __builtin_prefetch(target + ${TILE_LINE} * (int64_t)line, 1);`,
    `  }`,
    `  return values + offset % ${TILE_LINE};`,
    `}`,
    ``,
    `static void ${spillAll}(char *tile, ${T} *target) {`,
    `  for (int place = 0; place < ${WORKER_TILE_LINES}; place++)`,
    `    ${spill}(target, (${T} *)(tile + ${TILE_HEAD}) + ${TILE_LINE} * place, ((int32_t *)tile)[place]);`,
    `}`,
    ``,
  ].join("\n");
}
