import { unreachable } from "../../base/unreachable.js";
import type { AtomicFn, AtomicType } from "../../ir/types.js";
import type { Dialect, Fetch } from "./dialect.js";

/** The problem and the remedy for a language without such operations. */
export const noFetch = (array: string): readonly [problem: string, remedy: string] => [
  `it has no atomic operation that gives the old value, as ${array} wants`,
  "choose the target c, cuda, hip, opencl, wgsl, kokkos, sycl, wat or js",
];

/** By the builtins of GCC and Clang. Every other language has functions of its own for these. */
export const fetchByBuiltins: Fetch = (fn, type, pointer, operands, use) => {
  const given = [pointer, ...operands].join(", ");
  switch (fn) {
    case "add":
    case "and":
    case "or":
    case "xor":
      return `__atomic_fetch_${fn}(${given}, __ATOMIC_RELAXED)`;
    case "exchange":
      return `__atomic_exchange_n(${given}, __ATOMIC_RELAXED)`;
    case "load":
      return `__atomic_load_n(${given}, __ATOMIC_RELAXED)`;
    case "min":
    case "max":
      return `${use(`fetch_${fn}_${type}`)}(${given})`;
    case "compareExchange":
      return `${use(`exchange_if_${type}`)}(${given})`;
    default:
      return unreachable(fn);
  }
};

/** The helpers of `fetchByBuiltins`. */
export const exchangeIf = (type: AtomicType, { types }: Dialect): string =>
  [
    `${types[type]} exchange_if_${type}(${types[type]} *place, ${types[type]} expected, ${types[type]} value) {`,
    `  __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);`,
    `  return expected;`,
    `}`,
  ].join("\n");
export const fetchExtremum = (op: "min" | "max", type: AtomicType, { types }: Dialect): string =>
  [
    `${types[type]} fetch_${op}_${type}(${types[type]} *place, ${types[type]} value) {`,
    `  ${types[type]} old = __atomic_load_n(place, __ATOMIC_RELAXED);`,
    `  while (value ${op === "min" ? "<" : ">"} old && !__atomic_compare_exchange_n(place, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}`,
    `  return old;`,
    `}`,
  ].join("\n");

type Call = (pointer: string, operands: readonly string[], type: AtomicType) => string;

/** How a language calls its functions: by the operation, with a pointer and the operands. */
export const fetchByCalls =
  (calls: Readonly<Record<AtomicFn, Call>>): Fetch =>
  (fn, type, pointer, operands) =>
    calls[fn](pointer, operands, type);

/** Calls of functions that take a pointer and the operands, by their names. */
export const namedCalls = <F extends AtomicFn>(names: Readonly<Record<F, string>>): Readonly<Record<F, Call>> =>
  Object.fromEntries(
    Object.entries<string>(names).map(([fn, name]): [string, Call] => [
      fn,
      (pointer, operands) => `${name}(${[pointer, ...operands].join(", ")})`,
    ]),
  ) as Record<F, Call>;
