import type { Binding } from "../launch/binding.js";

/** Numbers in which a launch may differ from one before. */
export interface Numbers extends Pick<Binding, "scalars" | "policy" | "sizes"> {}

/** Code and memory of a launch that has run, bound to the places of its views; it holds none of these. */
export interface Rerun {
  /** Its code takes the range from its arguments. */
  readonly anyRange: boolean;
  /** Runs with other numbers. Undefined where they need other code. */
  run(numbers: Numbers): Record<string, number> | undefined;
  free(): void;
}
