import type { AtomicFn, AtomicType } from "../../ir/types.js";
import { LIBRARY, type Dialect, type Fetch } from "../c/dialect.js";
import { openmpDialect } from "../c/openmp-dialect.js";
import { writeLambdas, type LambdaLanguage } from "./lambdas.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { originText } from "../text.js";

const reference = (T: string): string => `sycl::atomic_ref<${T}, sycl::memory_order::relaxed, sycl::memory_scope::device>`;

const exchangeIf = (type: AtomicType): string => {
  const T = openmpDialect.types[type];
  return `${T} exchange_if_${type}(${T} *place, ${T} expected, ${T} value) { ${reference(T)}(*place).compare_exchange_strong(expected, value); return expected; }`;
};

const METHODS = {
  add: "fetch_add",
  min: "fetch_min",
  max: "fetch_max",
  and: "fetch_and",
  or: "fetch_or",
  xor: "fetch_xor",
  exchange: "exchange",
  load: "load",
} as const satisfies Partial<Record<AtomicFn, string>>;

const fetch: Fetch = (fn, type, pointer, operands, use) =>
  fn === "compareExchange"
    ? `${use(`exchange_if_${type}`)}(${[pointer, ...operands].join(", ")})`
    : `${reference(openmpDialect.types[type])}(*${pointer}).${METHODS[fn]}(${operands.join(", ")})`;

/** C++17 with SYCL's functions, which devices compile without -fwrapv. */
const dialect: Dialect = {
  ...openmpDialect,
  name: "SYCL",
  tablePrefix: "static constexpr",
  signedWraps: false,
  printf: undefined,
  infinity: "std::numeric_limits<double>::infinity()",
  nan: "std::numeric_limits<double>::quiet_NaN()",
  math: (fn) => `sycl::${LIBRARY[fn]}`,
  fetch,
  helpers: {
    exchange_if_i32: exchangeIf("i32"),
    exchange_if_u32: exchangeIf("u32"),
    clz_u32: "int32_t clz_u32(uint32_t a) { return (int32_t)sycl::clz(a); }",
    mulhi_u32: "uint32_t mulhi_u32(uint32_t a, uint32_t b) { return sycl::mul_hi(a, b); }",
  },
};

/** A loop over `count` units, one after the other, or a work-item each. */
const units: LambdaLanguage["units"] = (code, unit, count, ordered, _atomic, inside) => {
  if (ordered) {
    const loop = `for (int64_t ${unit} = 0; ${unit} < ${count}; ${unit}++)`;
    return void code.block("done = queue.single_task([=]()", () => code.block(loop, inside), ");");
  }
  code.block(
    `done = queue.parallel_for(sycl::range<1>((size_t)${count}), [=](sycl::id<1> at)`,
    () => {
      code.line(`const int64_t ${unit} = (int64_t)at[0];`);
      inside();
    },
    ");",
  );
};

/** Ranges have three dimensions at most: the first two of four axes share one. */
const elements: LambdaLanguage["elements"] = (code, axes, _atomic, inside) => {
  const counts = axes.map(({ begin, end }) => `(size_t)(${end} - ${begin})`);
  const sizes = counts.length > 3 ? [`${counts[0]} * ${counts[1]}`, ...counts.slice(2)] : counts;
  code.line(`if (${axes.map(({ begin, end }) => `${end} <= ${begin}`).join(" || ")}) return {};`);
  code.block(
    `return queue.parallel_for(sycl::range<${sizes.length}>(${sizes.join(", ")}), [=](sycl::id<${sizes.length}> at)`,
    () => {
      const places =
        counts.length > 3 ? [`at[0] / ${counts[1]}`, `at[0] % ${counts[1]}`, "at[1]", "at[2]"] : counts.map((_, axis) => `at[${axis}]`);
      axes.forEach(({ index, begin }, axis) => code.line(`const int64_t ${index} = ${begin} + (int64_t)(${places[axis]});`));
      inside();
    },
    ");",
  );
};

const partials: LambdaLanguage["partials"] = (code, count, places, fill, fresh) => {
  const all = places.map((each) => ({ ...each, host: fresh(`${each.result}_host`) }));
  for (const { place, T } of all) code.line(`${T} *${place} = sycl::malloc_device<${T}>(${count} + 1, queue);`);
  for (const { T, host } of all) code.line(`std::vector<${T}> ${host}(${count} + 1);`);
  code.line("sycl::event done;");
  code.block(`if (${count} > 0)`, () => {
    fill();
    for (const { place, host } of all) code.line(`queue.copy(${place}, ${host}.data(), (size_t)${count}, done).wait();`);
  });
  for (const { place, host, result } of all)
    code.line(`*${result} = ${result}_fold(${host}.data(), ${count});`).line(`sycl::free(${place}, queue);`);
  code.line("return done;");
};

const LANGUAGE: Omit<LambdaLanguage, "head"> = {
  dialect,
  headers: ["cstdint", "limits", "sycl/sycl.hpp", "vector"],
  result: "sycl::event",
  restrict: "",
  more: ["sycl::queue &queue"],
  notes: (folds) => [
    "Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.",
    folds ? "Waits for the results. Passes on SYCL's exceptions." : "Gives the kernel's event. Passes on SYCL's exceptions.",
  ],
  atomics: {
    add: (place, T, value) => ({ statement: `${reference(T)}(${place}).fetch_add(${value});` }),
    define: (name, T) => {
      const method = name.startsWith("atomic_min") ? "fetch_min" : "fetch_max";
      return `static inline void ${name}(${T} *target, ${T} value) { ${reference(T)}(*target).${method}(value); }\n`;
    },
  },
  hints: false,
  addsUp: false,
  elements,
  units,
  once: (code, inside) => void code.block("return queue.single_task([=]()", inside, ");"),
  partials,
  ending: undefined,
};

/**
 * SYCL 2020, on memory shared by address: a work-item an element; where there are reductions one a chunk of a line, and one a team, whose
 * members it takes one after the other.
 */
export function emitSyclFile(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const strict = precision === "strict";
  const head = [
    `// ${originText(ir)} as SYCL 2020, ${precision}.`,
    `// icpx -fsycl -O3${strict ? " -fp-model=precise -ffp-contract=off" : ""} -c ${stem}.sycl.cpp`,
    `// acpp ${COMPILER_OPTIONS.sycl(precision)} -c ${stem}.sycl.cpp`,
  ];
  return [{ name: `${stem}.sycl.cpp`, text: writeLambdas(request, { ...LANGUAGE, head }) }];
}
