/** What a value is, in words for messages: `nothing`, `3`, `a string`, `a Float64Array`. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  const name = typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}
