import type { NumberType } from "../../src/ir/types.js";

/** The types of values in random programs: integers of 64 bits have programs of their own. */
export type RandomScalar = NumberType | "bool";
