import { LIBRARY, type Dialect } from "../c/dialect.js";
import { fetchByCalls, namedCalls } from "../c/fetch.js";
import type { Code } from "../c/code.js";
import { cppDialect } from "./cpp.js";
import { writeLambdas, type LambdaLanguage } from "./lambdas.js";
import type { BoxAxis } from "./launch-writer.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

const dialect: Dialect = {
  ...cppDialect,
  name: "Kokkos",
  helperPrefix: "static KOKKOS_INLINE_FUNCTION",
  fetch: fetchByCalls(
    namedCalls({
      add: "Kokkos::atomic_fetch_add",
      min: "Kokkos::atomic_fetch_min",
      max: "Kokkos::atomic_fetch_max",
      and: "Kokkos::atomic_fetch_and",
      or: "Kokkos::atomic_fetch_or",
      xor: "Kokkos::atomic_fetch_xor",
      exchange: "Kokkos::atomic_exchange",
      compareExchange: "Kokkos::atomic_compare_exchange",
      load: "Kokkos::atomic_load",
    }),
  ),
  printf: undefined,
  math: (fn) => `Kokkos::${LIBRARY[fn]}`,
};

/** Policy and parameters of a loop over a box. */
function boxOf(axes: readonly BoxAxis[]): { policy: string; parameters: string } {
  const list = (of: (axis: BoxAxis) => string) => axes.map(of).join(", ");
  const parameters = list(({ index }) => `const int64_t ${index}`);
  if (axes.length === 1) return { policy: rangePolicy(axes[0].begin, axes[0].end), parameters };
  const kind = `Kokkos::MDRangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::Rank<${axes.length}, Kokkos::Iterate::Right, Kokkos::Iterate::Right>, Kokkos::IndexType<int64_t>>`;
  return { policy: `${kind}(space, {${list(({ begin }) => begin)}}, {${list(({ end }) => end)}})`, parameters };
}

const rangePolicy = (begin: string, end: string): string =>
  `Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::IndexType<int64_t>>(space, ${begin}, ${end})`;

/** Runs the lambda on one thread of the device: a loop with one turn. */
const once = (code: Code, inside: () => void): void =>
  void code.block(`Kokkos::parallel_for(${rangePolicy("0", "1")}, KOKKOS_LAMBDA(const int64_t)`, inside, ");");

const partials: LambdaLanguage["partials"] = (code, count, places, fill, fresh) => {
  for (const { place, T } of places)
    code.line(`const Kokkos::View<${T} *> ${place}(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "${place}"), ${count});`);
  fill();
  for (const { place, result } of places) {
    const host = fresh(`${result}_host`);
    code.line(`const auto ${host} = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ${place});`);
    code.line(`*${result} = ${result}_fold(${host}.data(), ${count});`);
  }
};

const LANGUAGE: Omit<LambdaLanguage, "head"> = {
  dialect,
  headers: ["Kokkos_Core.hpp", "stdint.h"],
  result: "void",
  restrict: "",
  more: ["const Kokkos::DefaultExecutionSpace &space"],
  notes: (_partials, results) => [
    "Arrays are in memory of the execution space, results in the host's.",
    results ? "Waits for the results. Passes on Kokkos' exceptions." : "Does not wait for the kernel's end. Passes on Kokkos' exceptions.",
  ],
  atomics: {
    add: (place, _T, value) => ({ statement: `Kokkos::atomic_add(&${place}, ${value});` }),
    define: (name, T, fold) =>
      [
        `static KOKKOS_INLINE_FUNCTION void ${name}(${T} *target, ${T} value) {`,
        `  using bits = ${T === "double" ? "uint64_t" : "uint32_t"};`,
        `  ${T} old = Kokkos::atomic_load(target);`,
        `  for (;;) {`,
        `    const ${T} found = Kokkos::atomic_compare_exchange(target, old, ${fold}(old, value));`,
        `    if (Kokkos::bit_cast<bits>(found) == Kokkos::bit_cast<bits>(old)) return;`,
        `    old = found;`,
        `  }`,
        `}`,
        ``,
      ].join("\n"),
  },
  hints: false,
  addsUp: true,
  elements(code, axes, _atomic, inside) {
    const { policy, parameters } = boxOf(axes);
    code.block(`Kokkos::parallel_for(${policy}, KOKKOS_LAMBDA(${parameters})`, inside, ");");
  },
  units(code, unit, count, ordered, _atomic, inside) {
    if (ordered) return once(code, () => code.block(`for (int64_t ${unit} = 0; ${unit} < ${count}; ${unit}++)`, inside));
    code.block(`Kokkos::parallel_for(${rangePolicy("0", count)}, KOKKOS_LAMBDA(const int64_t ${unit})`, inside, ");");
  },
  once,
  sums(code, axes, _atomic, sums, inside) {
    const { policy, parameters } = boxOf(axes);
    const totals = sums.map(({ T, variable }) => `, ${T} &${variable}`).join("");
    const results = sums.map(({ result }) => `*${result}`).join(", ");
    code.block(`Kokkos::parallel_reduce(${policy}, KOKKOS_LAMBDA(${parameters}${totals})`, () => inside(false), `, ${results});`);
  },
  partials,
  ending: undefined,
  wrap: (code, name, { pointer, T, written, count }) =>
    code.line(`const array<${written ? "" : "const "}${T}> ${name}(${pointer}, ${count});`),
  prelude: [
    "// Memory of the caller's that nothing else points to.",
    "template <typename T>",
    "using array = Kokkos::View<T *, Kokkos::DefaultExecutionSpace::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::Restrict>>;",
    "",
  ],
};

/** C++ with Kokkos: a kernel in its default execution space. */
export function emitKokkos(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const head = [
    `// ${originText(ir)} as C++ with Kokkos, ${precision}.`,
    `// On the host: g++ ${COMPILER_OPTIONS.kokkos(precision)} -c ${stem}.kokkos.cpp, linked with -lkokkoscore`,
    `// On a GPU:    nvcc_wrapper -std=c++20 -O3${precision === "strict" ? " -fmad=false" : ""} --expt-extended-lambda -c ${stem}.kokkos.cpp`,
  ];
  return [{ name: `${stem}.kokkos.cpp`, text: writeLambdas(request, { ...LANGUAGE, head }) }];
}
