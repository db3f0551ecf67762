import type { Tuning } from "../../ir/tuning.js";

/** Values by the kernel's or container's name, and these by the name of the device, or of its backend. */
export type TuningFile = Readonly<Record<string, Readonly<Record<string, Tuning>>>>;

/** Measurements of launches of one kind. */
export interface Measured {
  readonly values: Tuning;
  /** Seconds of a launch with these values, and of one without. */
  readonly seconds: number;
  readonly baseline: number;
}

/** The values of a launch, and where they come from. */
export type Chosen =
  | { readonly from: "default" | "launch" | "device" | "file"; readonly values: Tuning }
  | ({ readonly from: "measured" } & Measured);
