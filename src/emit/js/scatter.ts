import { unreachable } from "../../base/unreachable.js";
import { isInteger, isWide } from "../../ir/scalars.js";
import { identityOf } from "../../ir/identity.js";
import { hashShift, HEAD_BYTES, LINE_ELEMENTS, LINE_HASH, scatterCacheBytes, WORKER_LINES } from "../../ir/cache-lines.js";
import type { AtomicFn, NumericType, ScatterParam } from "../../ir/types.js";
import { ARRAY } from "./arrays.js";
import { numberText } from "./expr.js";
import { braced, indent, type Lines } from "./lines.js";

/* Updates of scatter targets, for what several workers add to at a time. */

/** Functions that atomic updates call, by name. */
export const ATOMIC_HELPERS = {
  $add: "const $add = (a, b) => a + b;",
  $fetch: `const $fetch = (fold, array, at, operand) => {
  for (;;) {
    const before = Atomics.load(array, at);
    if (Atomics.compareExchange(array, at, before, fold(before, operand)) === before) return before;
  }
};`,
  ...Object.fromEntries(
    (
      [
        ["f64", "BigInt64Array"],
        ["f32", "Int32Array"],
        ["i32", "Int32Array"],
        ["u32", "Uint32Array"],
      ] as const
    ).map(([type, bits]) => [
      `$update_${type}`,
      `const $update_${type} = (() => {
  const bits = new ${bits}(1), value = new ${ARRAY[type]}(bits.buffer);
  return (array, at, fold, operand) => {
    for (;;) {
      const before = (bits[0] = Atomics.load(array, at));
      value[0] = fold(value[0], operand);
      if (Atomics.compareExchange(array, at, before, bits[0]) === before) return;
    }
  };
})();`,
    ]),
  ),
};

type Folded = Pick<ScatterParam, "op" | "element">;

const isCounted = ({ op, element }: Folded): boolean => op === "sum" && isInteger(element);

/** The class of an array that atomic updates work on. */
export const atomicArray = (param: Folded): string => (isCounted(param) ? ARRAY[param.element] : ATOMIC_BITS[param.element]);

const ATOMIC_BITS: Readonly<Record<NumericType, string>> = {
  f64: "BigInt64Array",
  f32: "Int32Array",
  i32: "Int32Array",
  u32: "Uint32Array",
  i64: "BigInt64Array",
  u64: "BigUint64Array",
};

/** The function that keeps the lesser or greater of two values. */
const extremumOf = ({ op, element }: Folded): string => (isWide(element) ? (op === "min" ? "$least" : "$greatest") : `Math.${op}`);

/** A statement that folds `value` into element `at` of such an array, whatever other workers do there. */
export function atomicUpdate(param: Folded, array: string, at: string, value: string): string {
  if (isCounted(param)) return `Atomics.add(${array}, ${at}, ${value});`;
  if (isWide(param.element)) return `$fetch(${extremumOf(param)}, ${array}, ${at}, ${value});`;
  return `$update_${param.element}(${array}, ${at}, ${param.op === "sum" ? "$add" : `Math.${param.op}`}, ${value});`;
}

/** An expression that changes element `at` of an array of whole numbers, and gives what was there. */
export function fetchText(fn: AtomicFn, array: string, at: string, operands: readonly string[]): string {
  const given = [array, at, ...operands].join(", ");
  switch (fn) {
    case "min":
    case "max":
      return `$fetch(Math.${fn}, ${given})`;
    case "add":
    case "and":
    case "or":
    case "xor":
    case "exchange":
    case "compareExchange":
    case "load":
      return `Atomics.${fn}(${given})`;
    default:
      return unreachable(fn);
  }
}

/** The same for an array that is the worker's own. */
export function plainUpdate({ op, element }: Folded, array: string, at: string, value: string): string {
  if (op === "sum") return `${array}[${at}] += ${value};`;
  return `{ const $place = ${at}; ${array}[$place] = ${extremumOf({ op, element })}(${array}[$place], ${value}); }`;
}

/* Scatter caches (see ir/cache-lines.ts): each worker has an array with the numbers of its lines, and one with their values. */

/** The scatter caches of all workers, and the functions that work on one. */
export function cachesText(param: ScatterParam, name: string, memory: string, address: number, workers: number): Lines {
  const stride = scatterCacheBytes(param.element);
  const identity = numberText(identityOf(param.op, param.element));
  const caches = [...Array(workers).keys()].map((worker) => {
    const at = address + worker * stride;
    return `[new Int32Array(${memory}, ${at}, ${WORKER_LINES}), new ${ARRAY[param.element]}(${memory}, ${at + HEAD_BYTES}, ${LINE_ELEMENTS * WORKER_LINES})]`;
  });
  return [
    `const $caches_${name} = [${caches.join(", ")}];`,
    `const $spill_${name} = ($lines, $values, $place) => {`,
    ...indent([
      `for (let $n = 0; $n < ${LINE_ELEMENTS}; $n++) {`,
      ...indent([
        `const $value = $values[${LINE_ELEMENTS} * $place + $n];`,
        `if ($value === ${identity}) continue;`,
        atomicUpdate(param, name, `${LINE_ELEMENTS} * $lines[$place] + $n`, "$value"),
        `$values[${LINE_ELEMENTS} * $place + $n] = ${identity};`,
      ]),
      "}",
    ]),
    "};",
    `const $place_${name} = ($lines, $values, $at) => {`,
    ...indent([
      `const $line = $at / ${LINE_ELEMENTS} | 0, $place = Math.imul($line, ${LINE_HASH}) >>> ${hashShift(WORKER_LINES)};`,
      ...braced("if ($lines[$place] !== $line) ", [`$spill_${name}($lines, $values, $place);`, "$lines[$place] = $line;"]),
      `return ${LINE_ELEMENTS} * $place + ($at & ${LINE_ELEMENTS - 1});`,
    ]),
    "};",
  ];
}

/** Declares the scatter cache of a worker. */
export const cacheOf = (name: string, worker: string): string => `const [$lines_${name}, $values_${name}] = $caches_${name}[${worker}];`;

/** Folds `value` into the element at offset `at` of the target, in the worker's scatter cache. */
export const cachedUpdate = (param: Folded, name: string, at: string, value: string): string =>
  `{ const $at = $place_${name}($lines_${name}, $values_${name}, ${at}); ${plainUpdate(param, `$values_${name}`, "$at", value)} }`;

/** Brings what is in the worker's scatter cache to the target. */
export const spillWorkerCache = (name: string): string =>
  `for (let $n = 0; $n < ${WORKER_LINES}; $n++) $spill_${name}($lines_${name}, $values_${name}, $n);`;
