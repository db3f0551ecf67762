import { jsonText } from "../base/json.js";

/*
 * Plain data as one text: equal data gives the same text, and other data another one. (The text of `v8.serialize` depends on how the engine keeps a
 * number.)
 */

/** The text of strings, numbers, bigints, truth values, null, and lists and records of these. Throws TypeError for others. */
export function canonicalText(data: unknown): string {
  const odd: string[] = [];
  let count = 0;
  // Two passes: what JSON would lose, then JSON.
  const visit = (value: unknown): void => {
    if (typeof value === "object" && value !== null) {
      if (Array.isArray(value)) for (const each of value) visit(each);
      else {
        if (Object.getPrototypeOf(value) !== Object.prototype) throw new TypeError(`${value.constructor?.name} is not plain data`);
        for (const name in value) {
          const each = (value as Record<string, unknown>)[name];
          if (each !== undefined) visit(each);
        }
      }
      return;
    }
    count++;
    if (typeof value === "bigint") odd.push(`${count}:${value}n`);
    else if (isOdd(value)) odd.push(`${count}:${Object.is(value, -0) ? "-0" : String(value)}`);
    else if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`a ${typeof value} is not plain data`);
  };
  visit(data);
  return `${odd.join()} ${jsonText(data)}`;
}

/** Values that JSON turns into null or 0. */
const isOdd = (value: unknown): boolean =>
  typeof value === "number" ? !Number.isFinite(value) || Object.is(value, -0) : value === undefined;
