/** Functions of checked code. They throw an error whose message starts with the place in the kernel's source. */
export const CHECKS: Record<string, string> = {
  $at: `const $at = (index, extent, name, axis, where) => {
  if (index >= 0 && index < extent) return index;
  throw new RangeError(where + ": index " + index + " is outside axis " + axis + " of \\"" + name + "\\", which has extent " + extent);
};`,
  $fits: `const $fits = (exact, type, where) => {
  const wrapped = type === "i32" ? exact | 0 : exact >>> 0;
  if (wrapped === exact || Object.is(exact, -0)) return wrapped;
  if (!Number.isFinite(exact)) throw new RangeError(where + ": division of an integer by zero");
  throw new RangeError(where + ": integer overflow, " + exact + " does not fit " + type);
};`,
  $set: `const $set = (value, name, where) => {
  if (value === undefined) throw new RangeError(where + ": \\"" + name + "\\" is read before it has a value");
  return value;
};`,
};
