import { openmpDialect } from "../c/openmp-dialect.js";
import { atomicFunction } from "../c/openmp-prelude.js";
import { sumClause, writeLoops, type LoopLanguage } from "./loops.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

/** Common part of the languages that put C loops to work by directives. */
export const C_LOOPS = {
  dialect: openmpDialect,
  headers: ["math.h", "stdbool.h", "stdint.h", "stdlib.h"],
  printHeader: "stdio.h",
  result: "int",
  restrict: "restrict ",
  more: [],
  notes: (partials) => [partials ? "Returns 0, or 1 if there is no memory for partial results." : "Returns 0."],
  atomics: {
    add: (place, _T, value) => ({ before: "#pragma omp atomic", statement: `${place} += ${value};` }),
    define: atomicFunction,
  },
  hints: true,
  addsUp: true,
} satisfies Partial<LoopLanguage>;

/** C11 with OpenMP. */
export function emitC(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const text = writeLoops(request, {
    ...C_LOOPS,
    head: [`// ${originText(ir)} as C with OpenMP, ${precision}.`, `// gcc ${COMPILER_OPTIONS.c(precision)} -c ${stem}.c`],
    offloads: false,
    parallel: (depth, _used, sum, simd) => [
      `#pragma omp parallel for${simd ? " simd" : ""}${depth > 1 ? ` collapse(${depth})` : ""}${sumClause(sum)}`,
    ],
    serial: () => [],
  });
  return [{ name: `${stem}.c`, text }];
}
