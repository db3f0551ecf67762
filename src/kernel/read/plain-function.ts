/** Remedy for a function that `whyNotPlain` refuses. */
export const PLAIN_FUNCTION = "pass a plain function or arrow function";

/** Why a function cannot be compiled whatever it does: it has no source text, is async or a generator. Undefined for plain functions. */
export function whyNotPlain(fn: Function): string | undefined {
  const name = fn.name || "a function";
  const kind = Object.prototype.toString.call(fn);
  if (kind.includes("Generator")) return `${name} is a generator`;
  if (kind.includes("Async")) return `${name} is async`;
  if (!/\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(fn))) return undefined;
  if (fn.name.startsWith("bound ")) return `${fn.name.slice("bound ".length) || "a function"} is bound, and has no source text`;
  return `${name} is built into the engine and has no source text`;
}
