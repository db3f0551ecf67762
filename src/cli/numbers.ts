import { InvalidArgumentError } from "commander";

/*
 * Numbers of the commands' options.
 */

/** A number greater than 0. */
export function positive(text: string): number {
  const value = numberOf(text);
  if (!(value > 0 && value < Infinity)) throw new InvalidArgumentError("It needs a number greater than 0.");
  return value;
}

/** A whole number from 1 on. */
export const count = (text: string): number => wholeFrom(1, text);

/** A whole number from 0 on. */
export const countOrNone = (text: string): number => wholeFrom(0, text);

/** Whole numbers above 2^53 could not be told apart. */
function wholeFrom(least: number, text: string): number {
  const value = numberOf(text);
  if (!(Number.isSafeInteger(value) && value >= least))
    throw new InvalidArgumentError(`It needs a whole number from ${least} to 9007199254740991.`);
  return value;
}

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));
