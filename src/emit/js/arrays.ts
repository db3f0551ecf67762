import { ELEMENTS, type ElementType } from "../../ir/scalars.js";

/** The classes of typed arrays, by the type of their elements. */
export const ARRAY = Object.fromEntries(Object.entries(ELEMENTS).map(([type, { array }]) => [type, array.name])) as Readonly<
  Record<ElementType, string>
>;
