import { isHalf, type PackedType } from "../../ir/scalars.js";
import type { Dialect } from "./dialect.js";
import type { Helpers } from "./helpers.js";
import { at, Precedence, type Text } from "./operators.js";

/** The value of an element that is narrower in memory, read from its place. */
export function unpacked(element: PackedType, place: string, { types }: Pick<Dialect, "types">, helpers: Helpers): Text {
  if (isHalf(element)) return [`${helpers.use(`f32_from_${element}`)}(${place})`, Precedence.Term];
  return [`(${types.i32})${place}`, Precedence.Prefix];
}

/** The text of a value as it is stored in such an element. */
export function packed(element: PackedType, value: Text, { types }: Pick<Dialect, "types">, helpers: Helpers): string {
  if (isHalf(element)) return `${helpers.use(`${element}_from_f32`)}(${value[0]})`;
  return `(${types[element]})${at(value, Precedence.Term)}`;
}
