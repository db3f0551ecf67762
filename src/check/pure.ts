import type { TypeScript } from "./typescript.js";

/* Parts of JavaScript that compute from their operands alone. */

/** Globals that declarations name. */
export const PURE_GLOBALS: Readonly<Record<string, unknown>> = {
  Math,
  Number,
  Array,
  Object,
  NaN,
  Infinity,
  undefined,
  Float64Array,
  Float32Array,
  Int32Array,
  Uint32Array,
  Uint8Array,
};

const LIST_METHODS =
  "map flatMap filter reduce flat slice concat fill keys values entries at indexOf includes join some every find findIndex toReversed toSorted with";
const METHODS: readonly (readonly [is: (value: unknown) => boolean, names: ReadonlySet<string>])[] = [
  [(value) => Array.isArray(value) || ArrayBuffer.isView(value), new Set(LIST_METHODS.split(" "))],
  [(value) => typeof value === "string", new Set(["split", "slice", "repeat", "charCodeAt", "at", "includes", "indexOf", "padStart"])],
  [(value) => typeof value === "number", new Set(["toString", "toFixed"])],
  [(value) => value === Array, new Set(["from", "of", "isArray"])],
  [(value) => value === Object, new Set(["keys", "values", "entries", "fromEntries", "freeze"])],
  [(value) => value === Math, new Set(Object.getOwnPropertyNames(Math).filter((name) => name !== "random"))],
  [(value) => value === Number, new Set(["isInteger", "isFinite", "isNaN", "parseFloat"])],
];

/** True for a method of JavaScript's own that computes from its arguments alone. */
export const isPureMethod = (object: unknown, name: string): boolean => METHODS.some(([is, names]) => is(object) && names.has(name));

type Operation = (a: never, b: never) => unknown;
const OPERATORS: Readonly<Record<string, Operation>> = {
  "+": (a, b) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
  "**": (a: number, b: number) => a ** b,
  "<<": (a: number, b: number) => a << b,
  ">>": (a: number, b: number) => a >> b,
  ">>>": (a: number, b: number) => a >>> b,
  "&": (a: number, b: number) => a & b,
  "|": (a: number, b: number) => a | b,
  "^": (a: number, b: number) => a ^ b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "===": (a, b) => a === b,
  "!==": (a, b) => a !== b,
};
const PREFIXES: Readonly<Record<string, (a: never) => unknown>> = {
  "+": (a: number) => +a,
  "-": (a: number) => -a,
  "~": (a: number) => ~a,
  "!": (a) => !a,
};

/** Result of an operator of one operand or two; undefined of other operators. */
export function applyOperator(api: TypeScript, kind: number, operands: readonly unknown[]): unknown {
  const text = api.tokenToString(kind) ?? "";
  const table: Readonly<Record<string, (...args: never[]) => unknown>> = operands.length === 1 ? PREFIXES : OPERATORS;
  return Object.hasOwn(table, text) ? table[text](...(operands as never[])) : undefined;
}
