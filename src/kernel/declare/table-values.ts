import { isWide, type NumericType } from "../../ir/scalars.js";

type Values = number | bigint | readonly Values[];

/** The first value that is a bigint where there should be numbers, or the other way round. */
export function mistyped(type: NumericType, values: Values): number | bigint | undefined {
  if (typeof values === "number" || typeof values === "bigint") return (typeof values === "bigint") === isWide(type) ? undefined : values;
  for (const value of values) {
    const wrong = mistyped(type, value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
