import { ELEMENTS, type ElementType } from "../../ir/scalars.js";

/** The classes of typed arrays over memory, by the type of its elements. */
export const ARRAY = Object.fromEntries(Object.entries(ELEMENTS).map(([type, { storage }]) => [type, storage.name])) as Readonly<
  Record<ElementType, string>
>;
