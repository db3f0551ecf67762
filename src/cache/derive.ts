import { canonicalText } from "./canonical.js";

/** Results of one pass for one object that are kept. */
const KEPT = 256;

type Pass = (of: never, input: never) => unknown;

/** Results by what they are of, the pass, and the text of the input. Passes of a device go with it. */
const derived = new WeakMap<object, WeakMap<Pass, Map<string, unknown>>>();

/** Result of a pass over an object, made now or earlier: the same one each time. Nobody may change it. */
export function derive<Of extends object, Result>(of: Of, pass: (of: Of) => Result): Result;
/**
 * Result of a pass over an object with an input, made now or earlier: the same one each time, unless 256 others were made since. Nobody may change it.
 *
 * @param pass one function for all calls, as results are known by it
 * @param text tells inputs apart. Default: of plain data, the input as text
 */
export function derive<Of extends object, Input, Result>(
  of: Of,
  pass: (of: Of, input: Input) => Result,
  input: Input,
  text?: string,
): Result;
export function derive<Of extends object, Input, Result>(
  of: Of,
  pass: (of: Of, input: Input) => Result,
  input?: Input,
  text = input === undefined ? "" : canonicalText(input),
): Result {
  let passes = derived.get(of);
  if (!passes) derived.set(of, (passes = new WeakMap()));
  let results = passes.get(pass) as Map<string, Result> | undefined;
  if (!results) passes.set(pass, (results = new Map<string, Result>()));
  const known = results.get(text);
  if (known !== undefined) return known;
  const made = pass(of, input as Input);
  results.set(text, made);
  if (results.size > KEPT) results.delete(results.keys().next().value!);
  return made;
}
