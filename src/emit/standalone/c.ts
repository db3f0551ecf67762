import { sumClause, writeLoops } from "./loops.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

/** Flags without which the code means something else: integers wrap, and strict code rounds each operation. */
export function cFlags(precision: EmitRequest["precision"]): string {
  const strict = precision === "strict" ? " -ffp-contract=off -fno-tree-slp-vectorize" : " -ffp-contract=fast";
  return `-std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math${strict}`;
}

/** C11 with OpenMP. */
export function emitC(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const text = writeLoops(request, {
    head: [`// ${originText(ir)} as C with OpenMP, ${precision}.`, `// gcc ${cFlags(precision)} -march=native -fopenmp -c ${stem}.c`],
    around: [[], []],
    offloads: false,
    parallel: (depth, _used, sum, simd) => [
      `#pragma omp parallel for${simd ? " simd" : ""}${depth > 1 ? ` collapse(${depth})` : ""}${sumClause(sum)}`,
    ],
    serial: () => [],
  });
  return [{ name: `${stem}.c`, text }];
}
