import type { Device } from "../device/device.js";
import { f32, f64 } from "../kernel/declare/params.js";
import { leniently } from "./expect.js";
import type { RealToken, Rounding } from "./real.js";

/** One case of the conformance suite. */
export interface ConformanceCase {
  /** Cases are run in this order; tens are subjects. */
  readonly number: number;
  readonly title: string;
  /** The type of its floats, where there is the same case for the other. */
  readonly real?: RealToken["type"];
  /** Why the device need not pass it: what it is about is a capability that the device says it lacks. */
  skipReason(device: Device): string | undefined;
  /** Throws where the device does not do what it must. */
  run(device: Device): Promise<void>;
}

/** A case whose subject is not one type of floats. */
export const conformanceCase = (number: number, title: string, run: ConformanceCase["run"]): ConformanceCase => ({
  number,
  title,
  skipReason: () => undefined,
  run: (device) => leniently(device, undefined, () => run(device)),
});

/**
 * A case for each type of floats: `run` is given the type, and what rounds to it. Expected values are rounded after each operation.
 *
 * @param lacking what else of the type a device may lack
 */
export const reals = (
  number: number,
  title: string,
  run: (device: Device, real: RealToken, r: Rounding) => Promise<void>,
  lacking: (device: Device, real: RealToken) => string | undefined = () => undefined,
): ConformanceCase[] =>
  [f64, f32].map((real) => ({
    number,
    title: `${title}, in ${real.type}`,
    real: real.type,
    skipReason: (device) => (real === f64 && !device.capabilities.f64 ? "it has no f64" : lacking(device, real)),
    run: (device) => leniently(device, real, () => run(device, real, real === f64 ? (x) => x : Math.fround)),
  }));
