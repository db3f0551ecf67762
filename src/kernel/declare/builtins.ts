import { LaunchError } from "../../base/errors.js";
import { array } from "./private-arrays.js";
import { copysign, exactPowi as power } from "../../ir/exact.js";

/**
 * The upper 32 bits of the 64-bit product of two unsigned numbers. Hand it to a kernel as a parameter: `kernel("k", { mulhi, ... }, ...)`;
 * the compiler knows it and emits the device's own instruction.
 */
export function mulhi(a: number, b: number): number {
  // In halves of 16 bits, so that every sum is exact.
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle % 65536);
  return aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(carry / 65536);
}

/**
 * x to the whole power n, an i32: by squaring, from the lowest bit of n, and 1 / x^-n where n is negative (the order of products of libgcc's
 * `__powidf2`). Each product is rounded, so the bits are the same on every backend, while `x ** n` may differ by 2 ulp. For large n
 * the roundings add up. Pass it to a kernel like `mulhi`. Called as a plain function it computes in f64.
 */
export const powi = (x: number, n: number): number => power(x, n);

/** |a| with the sign of b: -0 is negative, and NaN counts as positive. Hand it to a kernel as `mulhi`. */
export { copysign };

/**
 * Prints a line of its arguments, with spaces between: texts that are written out, numbers and truth values. In a kernel it is for debugging: hand it
 * over as `mulhi`. Each element prints lines of its own, in no certain order among elements, when the host next waits for the device; a launch keeps
 * 8192 of them, and says how many are lost. They go where `open(name, { print })` says. Called as a plain function it prints at once.
 */
export function print(...items: (string | number | boolean)[]): void {
  printer(items.map((item) => (Object.is(item, -0) ? "-0" : String(item))).join(" "));
}

const toConsole = (line: string): void => console.log(line);
let printer = toConsole;

/** Runs a kernel's own function, whose lines go to `to`. */
export function withPrinter<T>(to: (line: string) => void, run: () => T): T {
  printer = to;
  try {
    return run();
  } finally {
    printer = toConsole;
  }
}

/**
 * Whole numbers from `begin` to before `end`, for `for (const k of span(0, n))`. In a kernel it is a counted loop: hand it over as `mulhi`.
 *
 * @param step Default 1; a whole number other than 0, in a kernel a constant. A negative one counts down
 * @throws LaunchError for another step
 */
export function span(begin: number, end: number, step = 1): Iterable<number> {
  if (!Number.isInteger(step) || step === 0) throw new LaunchError(`span is given the step ${step}; use a whole number other than 0`);
  return {
    *[Symbol.iterator]() {
      for (let k = begin; step > 0 ? k < end : k > end; k += step) yield k;
    },
  };
}

const BUILTINS: Readonly<Record<string, unknown>> = { mulhi, powi, copysign, print, span, array };

/** True for the name of a function of Isoform's own that the compiler knows. */
export const isBuiltin = (name: string): boolean => Object.hasOwn(BUILTINS, name);

/** The name of a function of Isoform's own that the compiler knows; undefined for all else. */
export const builtinName = (value: unknown): string | undefined => Object.keys(BUILTINS).find((name) => BUILTINS[name] === value);
