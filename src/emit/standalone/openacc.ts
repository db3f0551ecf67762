import { C_LOOPS } from "./c.js";
import { cppDialect } from "./cpp.js";
import { sumClause, writeLoops, type Used } from "./loops.js";
import { continued } from "./omp-target.js";
import { NVIDIA_OPTIONS, COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

const ROUTINE = "#pragma acc routine seq\n";

/** C++ with OpenACC's directives, which run on a GPU where the compiler can offload, else on one thread of the host. */
export function emitOpenacc(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const text = writeLoops(request, {
    ...C_LOOPS,
    dialect: { ...cppDialect, helperPrefix: `${ROUTINE}${cppDialect.helperPrefix}` },
    head: [
      `// ${originText(ir)} as C++ with OpenACC, ${precision}.`,
      `// On the host: g++ ${COMPILER_OPTIONS.openacc(precision)} -c ${stem}.acc.cpp`,
      `// On a GPU:    nvc++ ${NVIDIA_OPTIONS.openacc(precision)} -c ${stem}.acc.cpp`,
    ],
    result: 'extern "C" int',
    restrict: "__restrict__ ",
    afterTable: (name) => [`#pragma acc declare copyin(${name})`],
    atomics: {
      add: (place, _T, value) => ({ before: "#pragma acc atomic update", statement: `${place} += ${value};` }),
      define: (name, T, fold) => `${ROUTINE}${C_LOOPS.atomics.define(name, T, fold)}`,
    },
    hints: false,
    offloads: true,
    parallel: (depth, used, sum) =>
      continued([`#pragma acc parallel loop gang vector${depth > 1 ? ` collapse(${depth})` : ""}${sumClause(sum)}`, ...present(used)]),
    serial: (used) => continued(["#pragma acc serial", ...present(used)]),
    data: {
      enter: (used) => data("enter", [clause("copyin", used, ["to", "tofrom"]), clause("create", used, ["from"])]),
      exit: (used) => data("exit", [clause("copyout", used, ["from", "tofrom"]), clause("delete", used, ["to"])]),
    },
  });
  return [{ name: `${stem}.acc.cpp`, text }];
}

const sections = (used: readonly Used[]): string => used.map(({ name, count }) => `${name}[0:${count}]`).join(", ");

const present = (used: readonly Used[]): string[] => (used.length > 0 ? [`  present(${sections(used)})`] : []);

/** The arrays that go these ways; empty where none does. */
function clause(name: string, used: readonly Used[], ways: readonly Used["way"][]): string {
  const some = used.filter(({ way }) => ways.includes(way));
  return some.length > 0 ? ` ${name}(${sections(some)})` : "";
}

function data(direction: "enter" | "exit", clauses: readonly string[]): string[] {
  const text = clauses.join("");
  return text === "" ? [] : [`#pragma acc ${direction} data${text}`];
}
