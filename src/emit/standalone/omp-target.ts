import { C_LOOPS } from "./c.js";
import { sumClause, writeLoops, type Used } from "./loops.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

/** C11 with OpenMP's target constructs, which run on a GPU where the compiler can offload, else on the host. */
export function emitOmpTarget(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const text = writeLoops(request, {
    ...C_LOOPS,
    head: [
      `// ${originText(ir)} as C with OpenMP offloading, ${precision}.`,
      `// On the host: gcc ${COMPILER_OPTIONS["omp-target"](precision)} -foffload=disable -c ${stem}.target.c`,
      `// On a GPU:    clang ${COMPILER_OPTIONS["omp-target"](precision)} --offload-arch=sm_80 -c ${stem}.target.c`,
    ],
    around: [["#pragma omp declare target"], ["#pragma omp end declare target"]],
    offloads: true,
    parallel: (depth, used, sum) => [
      ...continued([
        `#pragma omp target teams distribute parallel for${depth > 1 ? ` collapse(${depth})` : ""}`,
        ...(sum.length > 0 ? [` ${sumClause(sum)} map(tofrom: ${sum.join(", ")})`] : []),
        ...maps(used),
      ]),
    ],
    serial: (used) => continued(["#pragma omp target", ...maps(used)]),
  });
  return [{ name: `${stem}.target.c`, text }];
}

const maps = (used: readonly Used[]): string[] => used.map(({ name, count, way }) => `  map(${way}: ${name}[0:${count}])`);

/** Lines of one directive. */
export const continued = (lines: readonly string[]): string[] => lines.map((line, n) => (n < lines.length - 1 ? `${line} \\` : line));
