/**
 * Functions of checked code. They throw an error whose message starts with the place in the kernel's source; `$element` holds the
 * indices of the element that runs.
 */
export const CHECKS: Record<string, string> = {
  $fail: `const $fail = (where, problem) => {
  throw new RangeError(where + ": " + problem + " (element [" + $element.join(", ") + "])");
};`,
  $at: `const $at = (index, extent, name, axis, where, lower, bounds) => {
  if (index >= 0 && index < extent) return index;
  const axisOf = " is outside axis " + axis + " of \\"" + name + "\\", which ";
  if (lower === undefined) $fail(where, "index " + index + axisOf + "has extent " + extent);
  const values = lower + " to " + (lower + extent - 1);
  $fail(where, "index " + (index + lower) + axisOf + "goes from " + (bounds && bounds !== values ? bounds + " (" + values + ")" : values));
};`,
  // A bigint is undefined for a quotient by zero, and null for a shift by another count than 0 to 63.
  $fits: `const $fits = (exact, type, where) => {
  if (exact === undefined) $fail(where, "a bigint is divided by zero, which gives 0n on the other devices");
  if (exact === null) $fail(where, "a bigint is shifted by a count that is not 0n to 63n: the other devices take it modulo 64");
  if (typeof exact === "bigint") {
    const cut = type === "i64" ? BigInt.asIntN(64, exact) : BigInt.asUintN(64, exact);
    return cut === exact ? cut : $fail(where, "integer overflow, " + exact + "n does not fit " + type);
  }
  const wrapped = type === "i32" ? exact | 0 : exact >>> 0;
  if (wrapped === exact) return wrapped;
  $fail(where, Number.isFinite(exact) ? "integer overflow, " + exact + " does not fit " + type : "an integer is divided by zero, which gives 0");
};`,
  $finite: `const $finite = (value, bits, name, where) => {
  if ((bits & 0x7fff) === 0x7c00 && Number.isFinite(value)) $fail(where, "\\"" + name + "\\" is f16 and is given " + value + ", which it holds as Infinity");
  return bits;
};`,
  $set: `const $set = (value, name, where) => (value === undefined ? $fail(where, "\\"" + name + "\\" is read before it has a value") : value);`,
};
