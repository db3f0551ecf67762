import type { Code } from "../c/code.js";
import { cppDialect } from "./cpp.js";
import { writeLambdas, type LambdaLanguage, type Sum } from "./lambdas.js";
import type { BoxAxis } from "./launch-writer.js";
import { NVIDIA_OPTIONS, COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

const COUNTER = `namespace {

// As the iterators of std::views::iota, which libstdc++ takes for input iterators and so runs on one thread.
struct counter {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int64_t;
  using difference_type = int64_t;
  using pointer = const int64_t *;
  using reference = int64_t;
  int64_t n = 0;
  int64_t operator*() const { return n; }
  int64_t operator[](int64_t k) const { return n + k; }
  counter &operator++() { n++; return *this; }
  counter &operator--() { n--; return *this; }
  counter operator++(int) { return {n++}; }
  counter operator--(int) { return {n--}; }
  counter &operator+=(int64_t k) { n += k; return *this; }
  counter &operator-=(int64_t k) { n -= k; return *this; }
  friend counter operator+(counter a, int64_t k) { return {a.n + k}; }
  friend counter operator+(int64_t k, counter a) { return {a.n + k}; }
  friend counter operator-(counter a, int64_t k) { return {a.n - k}; }
  friend int64_t operator-(counter a, counter b) { return a.n - b.n; }
  auto operator<=>(const counter &) const = default;
};

}
`;

/** Atomic updates may wait for each other, which the unsequenced policy forbids. */
const policy = (atomic: boolean): string => `std::execution::${atomic ? "par" : "par_unseq"}`;

/** Declares the number of elements of a box, and of all but its first axis. */
function declareCounts(code: Code, axes: readonly BoxAxis[]): void {
  for (const { index, begin, end } of axes) code.line(`const int64_t ${index}_count = ${end} > ${begin} ? ${end} - ${begin} : 0;`);
  code.line(`const int64_t elements = ${axes.map(({ index }) => `${index}_count`).join(" * ")};`);
}

/** Declares an element's indices by its number. */
function declareIndices(code: Code, axes: readonly BoxAxis[]): void {
  axes.forEach(({ index, begin }, axis) => {
    const after = axes.slice(axis + 1).map((inner) => `${inner.index}_count`);
    const quotient = after.length === 0 ? "element" : `element / ${after.length > 1 ? `(${after.join(" * ")})` : after[0]}`;
    code.line(`const int64_t ${index} = ${begin} + ${axis === 0 ? quotient : `${quotient} % ${index}_count`};`);
  });
}

function loop(code: Code, variable: string, count: string, atomic: boolean, inside: () => void): void {
  code.block(`std::for_each(${policy(atomic)}, counter{0}, counter{${count}}, [=](const int64_t ${variable})`, inside, ");");
}

/** Several sums travel as one value. */
function sums(code: Code, axes: readonly BoxAxis[], atomic: boolean, all: readonly Sum[], inside: (declared: boolean) => void): void {
  declareCounts(code, axes);
  const one = all.length === 1;
  const T = one ? all[0].T : "totals";
  if (!one) {
    const added = all.map(({ variable }) => `a.${variable} + b.${variable}`).join(", ");
    code.block(
      "struct totals",
      () => {
        for (const sum of all) code.line(`${sum.T} ${sum.variable};`);
        code.line(`totals operator+(const totals &b) const { const totals &a = *this; return {${added}}; }`);
      },
      ";",
    );
  }
  code.block(
    `const ${T} sum = std::transform_reduce(${policy(atomic)}, counter{0}, counter{elements}, ${T}{}, std::plus<${T}>(), [=](const int64_t element)`,
    () => {
      declareIndices(code, axes);
      inside(true);
      code.line(`return ${one ? all[0].variable : `totals{${all.map(({ variable }) => variable).join(", ")}}`};`);
    },
    ");",
  );
  for (const { result, variable } of all) code.line(`*${result} = sum${one ? "" : `.${variable}`};`);
}

const partials: LambdaLanguage["partials"] = (code, count, places, fill) => {
  for (const { place, T } of places) code.line(`${T} *${place} = (${T} *)malloc((${count} + 1) * sizeof(${T}));`);
  const free = places.map(({ place }) => `free(${place});`).join(" ");
  if (places.length > 0) code.line(`if (${places.map(({ place }) => `!${place}`).join(" || ")}) { ${free} return 1; }`);
  fill();
  for (const { place, result } of places) code.line(`*${result} = ${result}_fold(${place}, ${count});`);
  if (free !== "") code.line(free);
};

const LANGUAGE: Omit<LambdaLanguage, "head"> = {
  dialect: cppDialect,
  headers: ["algorithm", "atomic", "compare", "execution", "functional", "iterator", "math.h", "numeric", "stdint.h", "stdlib.h"],
  printHeader: "stdio.h",
  prelude: COUNTER.split("\n"),
  result: 'extern "C" int',
  restrict: "__restrict__ ",
  more: [],
  notes: (folds) => [folds ? "Returns 0, or 1 if there is no memory for partial results." : "Returns 0."],
  atomics: {
    add: (place, T, value) => ({ statement: `std::atomic_ref<${T}>(${place}).fetch_add(${value}, std::memory_order_relaxed);` }),
    define: (name, T, fold) =>
      [
        `static inline void ${name}(${T} *target, ${T} value) {`,
        `  const std::atomic_ref<${T}> cell(*target);`,
        `  ${T} old = cell.load(std::memory_order_relaxed);`,
        `  while (!cell.compare_exchange_weak(old, ${fold}(old, value), std::memory_order_relaxed)) {}`,
        `}`,
        ``,
      ].join("\n"),
  },
  hints: false,
  addsUp: true,
  elements(code, axes, atomic, inside) {
    declareCounts(code, axes);
    loop(code, "element", "elements", atomic, () => {
      declareIndices(code, axes);
      inside();
    });
  },
  units(code, unit, count, ordered, atomic, inside) {
    if (ordered) code.block(`for (int64_t ${unit} = 0; ${unit} < ${count}; ${unit}++)`, inside);
    else loop(code, unit, count, atomic, inside);
  },
  once: (_code, inside) => inside(),
  sums,
  partials,
  ending: "return 0;",
};

/** C++20 with the parallel algorithms of its library. */
export function emitStdpar(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const head = [
    `// ${originText(ir)} as C++20 with parallel algorithms, ${precision}.`,
    `// On the host: g++ ${COMPILER_OPTIONS.stdpar(precision)} -c ${stem}.stdpar.cpp, linked with -ltbb`,
    `// On a GPU:    nvc++ ${NVIDIA_OPTIONS.stdpar(precision)} -c ${stem}.stdpar.cpp`,
  ];
  return [{ name: `${stem}.stdpar.cpp`, text: writeLambdas(request, { ...LANGUAGE, head }) }];
}
