import { otherCopies } from "./copies.js";

/** Describes a value in words for messages: `nothing`, `3`, `a string`, `a Float64Array`. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  const name = typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
  const words = `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
  const mayBeOurs = typeof value === "object" && (name === "Object" || !Object.hasOwn(globalThis, name));
  return mayBeOurs ? words + otherCopies() : words;
}
