import type { StructType } from "../../kernel/declare/struct.js";
import { PEEK, type CheckedArray } from "./checked-view.js";

/** Arrays of a record's fields, each as a kernel's function sees it. */
type FieldArrays = Readonly<Record<string, CheckedArray>>;

/** An array of records over the arrays of its fields, with `rank` axes. */
export function checkedRecords(struct: StructType, fields: FieldArrays, rank: number): CheckedArray {
  const [first] = Object.values(fields);
  const at = (key: number): unknown => {
    const inner = Object.fromEntries(Object.entries(fields).map(([field, array]) => [field, array[key] as CheckedArray]));
    return rank > 1 ? checkedRecords(struct, inner, rank - 1) : elementOf(struct, fields, key);
  };
  function* entries(): Generator<[number, unknown]> {
    for (let k = 0; k < first.length; k++) yield [k, at(k)];
  }
  function* elements(): Generator {
    for (const [, element] of entries()) yield element;
  }
  return new Proxy({} as CheckedArray, {
    get(_, key) {
      if (key === Symbol.iterator) return elements;
      if (typeof key === "symbol") return undefined;
      if (key === "length") return first.length;
      return key === "entries" ? entries : at(Number(key));
    },
    set(_, key, value) {
      // All fields are read before the first is written.
      const parts = Object.keys(fields).map((field) => [field, (value as Record<string, unknown>)[field]] as const);
      for (const [field, part] of parts) fields[field][Number(key)] = part;
      return true;
    },
  });
}

/** An element as it is now; a number that is not looked at counts as not read. */
function elementOf({ fields: types }: StructType, fields: FieldArrays, key: number): object {
  const described = Object.entries(fields).map(([field, array]) => {
    const isNumber = types[field].kind === "scalar";
    const now = isNumber ? array[PEEK]!(key) : array[key];
    const get = (): unknown => {
      if (isNumber) void array[key];
      return now;
    };
    return [field, { get, set: (value: unknown) => (array[key] = value), enumerable: true }] as const;
  });
  return Object.create(null, Object.fromEntries(described)) as object;
}
