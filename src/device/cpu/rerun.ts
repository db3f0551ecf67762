import type { Binding } from "../launch/binding.js";
import type { Runnable } from "./runnable.js";

/**
 * Bytes of temporary memory that are kept with a launch at most; a sum of doubles over 16 million elements takes half of it. Launches with more
 * take milliseconds, beside which preparing them does not matter.
 */
export const KEPT_BYTES = 1 << 20;

/** Numbers in which a launch may differ from one before. */
export interface Numbers extends Pick<Binding, "scalars" | "policy" | "sizes"> {}

/** Code and memory of a launch that has run, bound to the places of its views; it holds none of these. */
export interface Rerun extends Runnable {
  /** Its code takes the range from its arguments. */
  readonly anyRange: boolean;
  /** Puts the numbers of the next run in place. False where they need other code. */
  begin(numbers: Numbers): boolean;
  free(): void;
}
