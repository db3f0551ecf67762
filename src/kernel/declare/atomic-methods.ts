import type { AtomicFn } from "../../ir/types.js";

/** A method of an atomic array: its operation, and the values that it takes after the indices. */
interface AtomicMethod {
  readonly fn: AtomicFn;
  readonly values: readonly string[];
  /** The value is taken with the other sign. */
  readonly negates?: true;
  /** It gives nothing. */
  readonly silent?: true;
}

/** By name. */
export const ATOMIC_METHODS: Readonly<Record<string, AtomicMethod>> = {
  add: { fn: "add", values: ["value"] },
  sub: { fn: "add", values: ["value"], negates: true },
  min: { fn: "min", values: ["value"] },
  max: { fn: "max", values: ["value"] },
  and: { fn: "and", values: ["value"] },
  or: { fn: "or", values: ["value"] },
  xor: { fn: "xor", values: ["value"] },
  exchange: { fn: "exchange", values: ["value"] },
  compareExchange: { fn: "compareExchange", values: ["expected", "value"] },
  load: { fn: "load", values: [] },
  store: { fn: "exchange", values: ["value"], silent: true },
};
