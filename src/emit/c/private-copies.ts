import { BYTES } from "../../ir/scalars.js";
import type { ScatterParam } from "../../ir/types.js";

/*
 * C functions for private copies of a scatter target. Sixteen threads move what they add from core to core, line by line, which takes longer than the
 * additions: each clears its own copy, so that nobody else writes to it, and folds whole lines, with sums in registers.
 */

const CACHE_LINE = 64;

/** Elements of a cache line. */
const lineOf = ({ element }: ScatterParam): number => CACHE_LINE / BYTES[element];

const functionOf = (what: "clear" | "fold_copies", { op, element }: ScatterParam): string => `${what}_${op}_${element}`;

/** Statements that make `name` the thread's own copy of a target, cleared; T is its type. Thread 0 has the target itself. */
export const ownCopy = (param: ScatterParam, T: string, name: string): string[] => [
  `${T} *${name} = worker == 0 ? args->${name} : (${T} *)(args->${name}_copies + (worker - 1) * args->${name}_copy_bytes);`,
  `if (worker > 0) ${functionOf("clear", param)}(${name}, args->${name}_span);`,
];

/** A statement by which a thread folds its part of all copies, after a barrier. */
export const foldPrivateCopies = (param: ScatterParam, name: string): string =>
  `${functionOf("fold_copies", param)}(args->${name}, args->${name}_copies, args->${name}_copy_bytes, args->${name}_span, worker, workers);`;

/** The functions that these call; `fold` is the expression that folds two values. */
export function copyFunctions(param: ScatterParam, T: string, identity: string, fold: (a: string, b: string) => string): string {
  const line = lineOf(param);
  return [
    `static void ${functionOf("clear", param)}(${T} *copy, int64_t span) {`,
    `  for (int64_t n = 0; n < span; n++) copy[n] = ${identity};`,
    `}`,
    ``,
    `// Folds this worker's lines of the other workers' copies into the target, in the order of the workers.`,
    `static void ${functionOf("fold_copies", param)}(${T} *restrict target, const char *copies, int64_t copy_bytes, int64_t span, int64_t worker, int64_t workers) {`,
    `  int64_t begin = 0, last = span;`,
    `  share(&begin, &last, ${line}, worker, workers);`,
    `  for (; begin + ${line} <= last; begin += ${line}) {`,
    `    ${T} sums[${line}];`,
    `    for (int n = 0; n < ${line}; n++) sums[n] = target[begin + n];`,
    `    for (int64_t other = 0; other < workers - 1; other++) {`,
    `      const ${T} *copy = (const ${T} *)(copies + other * copy_bytes) + begin;`,
    `      for (int n = 0; n < ${line}; n++) sums[n] = ${fold("sums[n]", "copy[n]")};`,
    `    }`,
    `    for (int n = 0; n < ${line}; n++) target[begin + n] = sums[n];`,
    `  }`,
    `  for (int64_t other = 0; other < workers - 1; other++) {`,
    `    const ${T} *copy = (const ${T} *)(copies + other * copy_bytes);`,
    `    for (int64_t n = begin; n < last; n++) target[n] = ${fold("target[n]", "copy[n]")};`,
    `  }`,
    `}`,
    ``,
  ].join("\n");
}
