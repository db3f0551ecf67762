import { ELEMENTS, isWide, type NumericType } from "../../ir/scalars.js";
import type { WideType } from "../../ir/types.js";

type Values = number | bigint | readonly Values[];

/** Whether a type of 64 bits has the value. */
export const isBigintOf = (type: WideType, value: unknown): boolean =>
  typeof value === "bigint" && value >= ELEMENTS[type].least && value <= ELEMENTS[type].greatest;

/** The bigints that a type of 64 bits has, in words. */
export const bigintsOf = (type: WideType): string => `bigints, from ${ELEMENTS[type].least}n to ${ELEMENTS[type].greatest}n`;

/** The first value that is a bigint where there should be numbers, or the other way round, or a bigint that the type does not hold. */
export function mistyped(type: NumericType, values: Values): number | bigint | undefined {
  if (typeof values === "number" || typeof values === "bigint")
    return (isWide(type) ? isBigintOf(type, values) : typeof values === "number") ? undefined : values;
  for (const value of values) {
    const wrong = mistyped(type, value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
