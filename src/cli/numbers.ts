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

/** A whole number greater than 0. */
export function count(text: string): number {
  const value = countOrNone(text);
  if (value === 0) throw new InvalidArgumentError("It needs a whole number greater than 0.");
  return value;
}

/** A whole number from 0 on; larger ones than 2^53 would not be told apart. */
export function countOrNone(text: string): number {
  const value = numberOf(text);
  if (!(Number.isSafeInteger(value) && value >= 0)) throw new InvalidArgumentError("It needs a whole number from 0 to 9007199254740991.");
  return value;
}

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));
